"""Start of the worker: blocks the network, imports the engine, then forks a helper on each order.

The engine is vLLM, or the one that the first argument names, which `wheel_worker` imports from its wheel.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
import types
from pathlib import Path


def main() -> None:
    """Fork helpers for orders from standard input, until it is closed and the last of them has ended."""
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the client's to handle
    _run_alone()
    importlib.import_module("prompt_debugger.core.base.egress").forbid_network()
    fork_loop = importlib.import_module("prompt_debugger.core.sandbox.fork_loop")
    engines = "prompt_debugger.core.parse.engines"
    with fork_loop.ending_with_client(orders):
        if len(sys.argv) > 1:
            serve = importlib.import_module(f"{engines}.wheel_worker.service").load(sys.argv[1])
        else:
            serve = importlib.import_module(f"{engines}.vllm_worker.service").load()

    def begin() -> None:
        source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # whatever prints, prints to standard error
        serve(source, sink)

    fork_loop.ForkLoop(orders, begin).run()


def _run_alone() -> None:
    """Make this package importable by its full name without running the packages around it."""
    folder = Path(__file__).resolve().parent
    for name, path in (
        ("prompt_debugger", folder.parents[3]),
        ("prompt_debugger.core", folder.parents[2]),
        ("prompt_debugger.core.parse", folder.parents[1]),
        ("prompt_debugger.core.parse.engines", folder.parents[0]),
        ("prompt_debugger.core.sandbox", folder.parents[2] / "sandbox"),
    ):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    sys.path = [entry for entry in sys.path if entry != str(folder)]


main()
