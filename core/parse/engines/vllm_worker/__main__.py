"""Start of the worker: streams, leash, then the service."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
import types
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve requests from standard input until it is closed."""
    parent = int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid()
    _die_with(parent)
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # whatever prints, prints to standard error
    _stand_alone()
    importlib.import_module("prompt_debugger.core.egress").forbid_network()
    service = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.service")
    service.serve(source, sink)


def _die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, in whatever way (Linux; elsewhere stdin's end must do)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


def _stand_alone() -> None:
    """Make this package importable by its full name without running the packages around it."""
    folder = Path(__file__).resolve().parent
    for name, path in (
        ("prompt_debugger", folder.parents[3]),
        ("prompt_debugger.core", folder.parents[2]),
        ("prompt_debugger.core.parse", folder.parents[1]),
        ("prompt_debugger.core.parse.engines", folder.parents[0]),
        ("prompt_debugger.core.room", folder.parents[2] / "room"),
    ):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    sys.path = [entry for entry in sys.path if entry != str(folder)]


main()
