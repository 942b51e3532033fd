"""`lab --install`, `--uninstall` and `--where`: the lab's own environment, from the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from prompt_debugger.core.base.interpreter import find_environment, lab_home
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.lab.environment import (
    Installation,
    InstallProgress,
    folder_bytes,
    link_home,
    plan_install,
    remove_environment,
)
from prompt_debugger.ui.cli.front import stopped_by
from prompt_debugger.ui.cli.output import print_json, print_text
from prompt_debugger.ui.cli.progress import log, working

_STEP = 0.02  # of the whole; smaller changes are not reported


def add_environment_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what concerns the lab's own environment."""
    group = parser.add_argument_group("the lab's own environment (docs/lab.md)").add_mutually_exclusive_group()
    group.add_argument(
        "--install",
        action="store_true",
        help=(
            "install vLLM and PyTorch, builds for CPU, into a separate environment; run it again to continue "
            "an interrupted installation"
        ),
    )
    group.add_argument("--uninstall", action="store_true", help="remove that environment")
    group.add_argument("--where", action="store_true", help="print its folder, and whether it exists")
    parser.add_argument("--into", type=Path, metavar="DIR", help="its folder, instead of the default one")


def is_about_environment(options: argparse.Namespace) -> bool:
    """Return whether the options concern the environment and not a server."""
    return bool(options.install or options.uninstall or options.where)


def run_environment(options: argparse.Namespace) -> int:
    """Do what the options ask for; returns the exit status.

    Raises:
        LabError: It cannot be done.
    """
    home = lab_home() if options.into is None else options.into.expanduser().absolute()
    if options.install:
        return _install(home, is_named=options.into is not None, as_json=options.json)
    if options.uninstall:
        return _uninstall(home, as_json=options.json)
    return _show_folder(home, as_json=options.json)


def _install(home: Path, *, is_named: bool, as_json: bool) -> int:
    plan = plan_install(home)
    log(plan.sentence)
    installation = Installation(plan)
    with working("Installing vLLM"), stopped_by(lambda _: installation.cancel()):
        environment = installation.run(_progress_writer())
    if is_named:
        link_home(home)
    document = _document(home)
    if as_json:
        print_json(document)
    else:
        print_text(f"vLLM {environment.vllm} is in {home}; `prompt-debugger lab --uninstall` removes it.\n")
    return 0


def _uninstall(home: Path, *, as_json: bool) -> int:
    was_there = home.exists()
    freed = remove_environment(home)
    if as_json:
        print_json(asdict(LabRemoved(home=str(home), removed=was_there, freed_bytes=freed)))
    else:
        sentence = f"Removed {home}, {freed / 1e6:,.0f} MB." if was_there else f"There is nothing at {home}."
        print_text(f"{sentence}\n")
    return 0


def _show_folder(home: Path, *, as_json: bool) -> int:
    document = _document(home)
    if as_json:
        print_json(document)
        return 0
    environment = find_environment(home)
    if environment is not None:
        log(f"vLLM {environment.vllm}, installed on {environment.made_on}, {folder_bytes(home) / 1e6:,.0f} MB")
    else:
        log("An installation was started: `lab --install` continues it." if home.exists() else "Not installed.")
    print_text(f"{home}\n")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRemoved:
    """What `lab --uninstall --json` prints.

    Attributes:
        home: Folder of the lab's own environment.
        removed: Whether it was there.
        freed_bytes: What it took on the disk.
    """

    home: str
    removed: bool
    freed_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabHomeDocument:
    """What `lab --install --json` and `lab --where --json` print.

    Attributes:
        home: Folder of the lab's own environment.
        installed: Whether vLLM is there.
        python: Its interpreter.
        vllm: Its version of vLLM.
        bytes: What it takes on the disk.
    """

    home: str
    installed: bool
    python: str | None
    vllm: str | None
    bytes: int


def _document(home: Path) -> JSONObject:
    environment = find_environment(home)
    document = LabHomeDocument(
        home=str(home),
        installed=environment is not None,
        python=None if environment is None else str(environment.python),
        vllm=None if environment is None else environment.vllm,
        bytes=folder_bytes(home) if home.exists() else 0,
    )
    return asdict(document)


def _progress_writer() -> Callable[[InstallProgress], None]:
    """Return a listener that writes a line when there is something new."""
    shown, at = "", -1.0

    def write(progress: InstallProgress) -> None:
        nonlocal shown, at
        if progress.sentence == shown and progress.fraction < at + _STEP:
            return
        shown, at = progress.sentence, progress.fraction
        log(f"[{progress.elapsed_s:6.1f} s, {progress.fraction:4.0%}] {progress.sentence}")

    return write
