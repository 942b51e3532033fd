"""What an installation is going to be: where, how big, from what. Shown before anything is done."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import MARKER_NAME, VLLM_VERSION, LabEnvironment, find_environment, lab_home
from prompt_debugger.core.tools.lab.environment.packages import (
    Package,
    digest_of,
    installed_keys,
    is_supported,
    read_lock,
)

OWNER_NAME = ".made-by-prompt-debugger"  # in every folder that is ours
PYTHONS = ((3, 11), (3, 12), (3, 13))
_OVERHEAD = 1.05  # links, folders, scripts
_PACKED = 0.33  # of what packages take on disk is downloaded (PyTorch a quarter)


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """An installation before it begins; `environment` is `None` if something is left to do."""

    home: Path
    base_python: str
    packages: tuple[Package, ...]
    missing: tuple[Package, ...]
    free_mb: float
    environment: LabEnvironment | None = None

    @property
    def digest(self) -> str:
        """Digest of the list of packages."""
        return digest_of(self.packages)

    @property
    def disk_mb(self) -> float:
        """What is still going to be taken on disk."""
        return sum(package.size_mb for package in self.missing) * _OVERHEAD

    @property
    def download_mb(self) -> float:
        """About what is still to be downloaded."""
        return sum(package.size_mb for package in self.missing) * _PACKED

    @property
    def size_words(self) -> str:
        """Sizes as people read them."""
        return f"about {_size(self.download_mb)} to download, {_size(self.disk_mb)} on disk"

    @property
    def sentence(self) -> str:
        """What is going to happen, where, and how big it is."""
        if self.environment is not None:
            return f"The lab is installed: vLLM {self.environment.vllm} in {self.home}."
        begun = len(self.missing) < len(self.packages)
        verb = "Continues installing" if begun else "Installs"
        return (
            f"{verb} vLLM {VLLM_VERSION} and PyTorch, builds for CPU, into {self.home}: "
            f"{self.size_words} ({_size(self.free_mb)} free)."
        )


def plan_install(into: Path | None = None, *, packages: Sequence[Package] | None = None) -> InstallPlan:
    """Return what would be installed, by default `assets/lab.lock` into the usual folder. Changes nothing.

    Raises:
        LabError: It cannot work: another system, another Python, a folder of someone else's, too little disk space.
    """
    home = (into or lab_home()).expanduser().absolute()
    wanted = read_lock() if packages is None else tuple(packages)
    if packages is None:
        _check_machine()
    _check_folder(home)
    there = installed_keys(home)
    missing = tuple(package for package in wanted if package.key not in there)
    environment = find_environment(home)
    if environment is not None and environment.requirements != digest_of(wanted):
        environment = None
    plan = InstallPlan(home, sys.executable, wanted, missing, _free_mb(home), environment)
    if environment is None and plan.free_mb < plan.disk_mb + plan.download_mb:
        raise LabError(
            f"The disk of {home} has {_size(plan.free_mb)} free, but the lab needs {plan.size_words}.",
            "Free some disk space, or choose a folder on another disk: `lab --install --into DIR`.",
        )
    return plan


def _check_machine() -> None:
    if not is_supported():
        raise LabError(
            "The lab can be installed only on Linux with an x86-64 processor: no CPU build of vLLM was "
            "tested elsewhere.",
            "Run against a server: `--endpoint URL`.",
        )
    if sys.version_info[:2] not in PYTHONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in PYTHONS)
        raise LabError(
            f"The lab's packages are locked for Python {known}, but this is {sys.version.split()[0]}.",
            "Run Prompt Debugger with one of them.",
        )


def _check_folder(home: Path) -> None:
    """Refuse a folder that holds anything of someone else's."""
    if not home.exists():
        return
    if not home.is_dir():
        raise LabError(f"{home} is a file, not a folder.", "Give another folder.")
    if not (home / OWNER_NAME).is_file() and any(home.iterdir()):
        raise LabError(
            f"{home} contains something that Prompt Debugger did not put there.",
            f"Give an empty or new folder; a lab folder has a file {OWNER_NAME} or {MARKER_NAME}.",
        )


def _free_mb(home: Path) -> float:
    folder = home
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free / 1e6


def _size(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 950 else f"{megabytes:.0f} MB"
