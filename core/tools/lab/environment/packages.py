"""`assets/lab.lock` read: which packages, which versions, how big; and which of them are there already."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.errors import LabError

_LINE = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[^\s;#]+)"
    r"(?: ; python_version > \"3\.(?P<after>\d+)\")?(?:  # (?P<size>\d+) MB)?"
)
_SMALLEST_MB = 0.3  # what a package without a size is taken to be
_BATCH_MB = 150.0


@dataclass(frozen=True, slots=True)
class Package:
    """A line of the lock."""

    name: str
    version: str
    size_mb: float = _SMALLEST_MB

    @property
    def requirement(self) -> str:
        """The requirement as pip takes it."""
        return f"{self.name}=={self.version}"

    @property
    def key(self) -> str:
        """Name and version as the folder of the installed package spells them."""
        return f"{_plain(self.name)}-{self.version}"


def lock_file() -> Path:
    """Return the file that lists what the lab's environment holds."""
    return assets_dir() / "lab.lock"


def read_lock(path: Path | None = None) -> tuple[Package, ...]:
    """Return the packages of a lock that this Python wants.

    Raises:
        LabError: A line does not name a package.
    """
    packages = []
    for number, line in enumerate((path or lock_file()).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise LabError(f"Line {number} of the list of the lab's packages cannot be read: {line!r}.")
        if sys.version_info[1] > int(match["after"] or 0):
            packages.append(Package(match["name"], match["version"], float(match["size"] or _SMALLEST_MB)))
    return tuple(packages)


def digest_of(packages: Sequence[Package]) -> str:
    """Return a digest of names and versions: an environment made from another list is brought up to date."""
    text = "\n".join(sorted(package.requirement for package in packages))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def installed_keys(home: Path) -> frozenset[str]:
    """Return the packages that an environment holds whole, as `Package.key`.

    pip writes `REQUESTED` after all files of a package that was asked for by name.
    """
    return frozenset(_key_of(folder) for folder in _records(home) if (folder / "REQUESTED").is_file())


def drop_halves(home: Path) -> None:
    """Forget packages that pip was killed over, so that it installs them again instead of believing them there."""
    for folder in _records(home):
        if not (folder / "REQUESTED").is_file() and not (folder / "INSTALLER").is_file():
            shutil.rmtree(folder, ignore_errors=True)


def batches(packages: Sequence[Package]) -> Iterator[tuple[Package, ...]]:
    """Yield packages, large ones first, in batches for one pip each: a kill costs at most one batch."""
    batch: list[Package] = []
    for package in sorted(packages, key=lambda one: -one.size_mb):
        if batch and sum(one.size_mb for one in batch) + package.size_mb > _BATCH_MB:
            yield tuple(batch)
            batch = []
        batch.append(package)
    if batch:
        yield tuple(batch)


def is_supported() -> bool:
    """Return whether vLLM's CPU build and its locked companions exist for this machine."""
    return platform.system() == "Linux" and platform.machine() == "x86_64"


def _records(home: Path) -> Iterator[Path]:
    yield from home.glob("lib/python3.*/site-packages/*.dist-info")


def _key_of(folder: Path) -> str:
    name, _, version = folder.name.removesuffix(".dist-info").partition("-")
    return f"{_plain(name)}-{version}"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
