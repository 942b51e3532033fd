"""Start of the grammar helper: its streams, its leash, then the service."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
import types
from pathlib import Path

_PARENT_DEATH_SIGNAL = 1


def main() -> None:
    """Serve questions from standard input until it ends; whatever prints, prints to standard error."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if len(sys.argv) > 1 and os.getppid() != int(sys.argv[1]):
            sys.exit(1)
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _reach_own_package()
    importlib.import_module("prompt_debugger.core.egress").forbid_network()
    importlib.import_module("prompt_debugger.core.grammar.worker.service").serve(questions, answers)


def _reach_own_package() -> None:
    """Make this folder importable by its full name; the packages around it are not run."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != folder]
    core = folder.parents[1]
    for name, path in (
        ("prompt_debugger", folder.parents[2]),
        ("prompt_debugger.core", core),
        ("prompt_debugger.core.grammar", folder.parents[0]),
        ("prompt_debugger.core.room", core / "room"),
    ):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


main()
