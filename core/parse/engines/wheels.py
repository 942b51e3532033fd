"""Engines besides vLLM whose parsers run from their wheels alone. Nothing of them is installed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError, shorten
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.parse.engines.client import EngineLimits, VllmEngine
from prompt_debugger.core.parse.engines.fetch import cache_dir, fetch_release, fetch_wheel
from prompt_debugger.core.parse.engines.names import check_version, refuse_engine_not_asked


@dataclass(frozen=True, slots=True)
class Wheel:
    """An engine whose parsers are imported from its wheel.

    Attributes:
        title: Its name as people write it.
        requirement: Its name for pip.
        package: The package in the wheel, and the module of `wheel_worker` that imports it.
        example: A version that was tried.
        options: For pip: which platform's wheel to take. Only its Python part is used.
        splits_reasoning: Whether it takes reasoning out without a parser being named.
        comes_with_vllm: Whether it is installed wherever vLLM is, so that none need be fetched.
        is_by_name: Whether a parser can be chosen; else its server chooses by the model's files, and `check`, which
            recommends what to choose, asks none.
    """

    title: str
    requirement: str
    package: str
    example: str
    options: tuple[str, ...] = ()
    splits_reasoning: bool = False
    comes_with_vllm: bool = False
    is_by_name: bool = True


# Every release is built against another glibc, and pip takes a tag for itself alone.
_PLATFORMS = (*(f"manylinux_2_{minor}_x86_64" for minor in range(39, 16, -1)), "manylinux2014_x86_64", "any")
_ONE_PLATFORM = (
    *(option for platform in _PLATFORMS for option in ("--platform", platform)),
    "--implementation", "cp", "--python-version", "3.11", "--abi", "cp311", "--abi", "abi3", "--abi", "none",
)  # fmt: skip

WHEELS = {
    "sglang": Wheel("SGLang", "sglang", "sglang", "0.5.23", _ONE_PLATFORM),
    "mlx-lm": Wheel("mlx-lm", "mlx-lm", "mlx_lm", "0.32.2", splits_reasoning=True),
    "lmdeploy": Wheel("LMDeploy", "lmdeploy", "lmdeploy", "0.18.0", _ONE_PLATFORM),
    "transformers": Wheel(
        "transformers",
        "transformers",
        "transformers",
        "5.19.0",
        splits_reasoning=True,
        comes_with_vllm=True,
        is_by_name=False,
    ),
}
CHECKED = tuple(engine for engine, wheel in WHEELS.items() if wheel.is_by_name)


class WheelEngine(VllmEngine):
    """The parsers of an engine's release, in warm helpers; asked as a `VllmEngine` is.

    Args:
        engine: A key of `WHEELS`.
        folder: Where its wheel is unpacked.
        limits: How far the helper is trusted.
    """

    def __init__(self, engine: str, folder: Path, *, limits: EngineLimits | None = None) -> None:
        self.engine, self.title = engine, WHEELS[engine].title
        self._worker_arguments = (WHEELS[engine].package,)
        super().__init__(overlay=(folder,), limits=limits)

    def _cannot_start(self, hello: JSONObject) -> EngineError:
        if hello.get("missing"):
            missing = hello["missing"]
            return EngineError(f"The folder of {self.title} has no {missing}.", "Delete it and fetch it again.")
        return EngineError(
            f"The parsers of {self.title} cannot be imported: {hello.get('error')}",
            "They need the packages that the lab's environment has: `prompt-debugger lab --install`, or `make setup`.",
        )


def find_wheel(engine: str, version: str | None) -> Path | None:
    """Return the folder of an engine's release: without a version the newest that was fetched, or the installed one.

    Raises:
        EngineError: The version is malformed.
    """
    home = cache_dir(engine=engine)
    package = WHEELS[engine].package
    names = [check_version(version)] if version is not None else reversed(releases_here(engine))
    fetched = next((home / name for name in names if (home / name / package / "__init__.py").is_file()), None)
    return fetched or (installed_folder(package) if WHEELS[engine].comes_with_vllm and version is None else None)


def releases_here(engine: str) -> list[str]:
    """Return the releases of an engine that were fetched, oldest first."""
    home, package = cache_dir(engine=engine), WHEELS[engine].package
    found = (one.name for one in home.glob("[0-9]*") if (one / package / "__init__.py").is_file())
    return sorted(found, key=_version_key)


def installed_folder(package: str) -> Path | None:
    """Return the folder that contains a package in the environment that has vLLM."""
    root = Path(vllm_python()).parent.parent
    return next((found.parent.parent for found in root.glob(f"lib/*/site-packages/{package}/__init__.py")), None)


def bring_wheel(engine: str, version: str | None) -> Path:
    """Return the folder of an engine's release.

    Raises:
        EngineError: It has not been fetched.
    """
    folder = find_wheel(engine, version)
    if folder is None:
        wheel = WHEELS[engine]
        raise EngineError(
            f"{wheel.title}{' ' + version if version else ''} has not been fetched.",
            f"Fetch it with `prompt-debugger parse --fetch {engine}=={version or wheel.example}`. "
            "Its wheel is unpacked into the user's cache; nothing is installed.",
        )
    return folder


def fetch(requirement: str, on_progress: Callable[[str], None] | None = None) -> tuple[Path, str | None]:
    """Get the wheel of an engine with pip, unless it is in the cache, and unpack its Python part.

    Args:
        requirement: `ENGINE==VERSION`, such as `sglang==0.5.23`; engines are vllm and those of `WHEELS`.
        on_progress: Gets one line per step.

    Returns:
        The folder, and the SHA-256 of the wheel where it is known.

    Raises:
        EngineError: The requirement is malformed, or pip cannot get it.
    """
    engine, _, version = requirement.partition("==")
    if engine == "vllm":
        return fetch_release(version, on_progress=on_progress), None
    if engine not in WHEELS:
        hint = f"Write ENGINE==VERSION with one of {', '.join(['vllm', *WHEELS])}, such as `sglang==0.5.23`."
        refuse_engine_not_asked(engine, hint)
        raise EngineError(f"{shorten(engine)} is not an engine whose parsers can be fetched.", hint)
    wheel = WHEELS[engine]
    folder = find_wheel(engine, check_version(version)) or fetch_wheel(
        f"{wheel.requirement}=={version}",
        wheel.package,
        cache_dir(engine=engine) / version,
        on_progress,
        options=wheel.options,
    )
    return folder, digest_of(folder)


def digest_of(folder: Path) -> str | None:
    """Return the SHA-256 of the wheel that a folder was unpacked from, `None` where it was not noted."""
    try:
        text = (folder / "WHEEL.sha256").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) == hashlib.sha256().digest_size * 2 else None


def _version_key(name: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", name)]
