"""Start of the grammar helper: loads XGrammar, then forks a helper whenever the client asks for one."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
import types
from pathlib import Path


def main() -> None:
    """Fork helpers for orders from standard input, until it is closed and the last of them has gone."""
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the client's to handle
    _reach_own_package()
    importlib.import_module("prompt_debugger.core.base.egress").forbid_network()
    serve = importlib.import_module("prompt_debugger.core.tools.grammar.worker.service").load()

    def begin() -> None:
        questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # whatever prints, prints to standard error
        serve(questions, answers)

    importlib.import_module("prompt_debugger.core.sandbox.fork_loop").ForkLoop(orders, begin).run()


def _reach_own_package() -> None:
    """Make this folder importable by its full name; the packages around it are not run."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != folder]
    core = folder.parents[2]
    for name, path in (
        ("prompt_debugger", core.parent),
        ("prompt_debugger.core", core),
        ("prompt_debugger.core.tools", folder.parents[1]),
        ("prompt_debugger.core.tools.grammar", folder.parents[0]),
        ("prompt_debugger.core.sandbox", core / "sandbox"),
    ):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


main()
