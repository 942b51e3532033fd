"""Forks the labs of a run, and anything else that imports vLLM, from one process that has imported it."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.tools.lab import LabSpec
from prompt_debugger.core.tools.lab.launch import build_environment

HERE = Path(__file__).parent
ADDRESS = "PROMPT_DEBUGGER_TESTS_STEM"
FORKED = {"PROMPT_DEBUGGER_TESTS_CODE": "1"}  # environment of a test's own code that imports vLLM


@contextmanager
def warm_labs() -> Iterator[None]:
    """Servers that are started meanwhile, by whatever process of ours, take the short way.

    The import begins with the first of them. Within the tests of a run that does this already it does nothing.
    """
    if ADDRESS in os.environ:
        yield
        return
    given = os.environ.get("PYTHONPATH")
    with forkserver_when_asked("vllm", lambda folder: build_environment(LabSpec(), os.environ, folder)) as address:
        os.environ[ADDRESS] = f"{sys.prefix}:{address}"  # of another environment vLLM is another
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE / "path"), *([given] if given else [])])
        try:
            yield
        finally:
            os.environ.pop(ADDRESS, None)
            if given is None:
                os.environ.pop("PYTHONPATH", None)
            else:
                os.environ["PYTHONPATH"] = given


@contextmanager
def cold_labs() -> Iterator[None]:
    """Servers that are started meanwhile are started as users' are, imports and all."""
    address = os.environ.pop(ADDRESS, None)
    try:
        yield
    finally:
        if address is not None:
            os.environ[ADDRESS] = address


@contextmanager
def forkserver_when_asked(kind: str, environment_in: Callable[[Path], Mapping[str, str]]) -> Iterator[str]:
    """Listen at an address for anyone who asks for a process, and start a forkserver with the first of them.

    Args:
        kind: What it imports.
        environment_in: Its environment; it may use a folder.
    """
    with scratch("warm") as folder, socket.socket(socket.AF_UNIX) as listening:
        address = str(folder / "forkserver")
        listening.bind(address)
        listening.listen(64)
        ending, ended = socket.socketpair()

        def start_when_asked() -> None:
            ready, _, _ = select.select([listening, ended], [], [])
            if ended in ready:
                return
            with subprocess.Popen(
                [sys.executable, str(HERE / "forkserver.py"), str(listening.fileno()), kind],
                env=environment_in(folder), stdin=subprocess.PIPE, pass_fds=[listening.fileno()],
                start_new_session=True,
            ) as forkserver:  # fmt: skip
                select.select([ended], [], [])
                forkserver.kill()  # its servers have keepers of their own

        starter = threading.Thread(target=start_when_asked, name=f"warm-{kind}")
        starter.start()
        try:
            yield address
        finally:
            ending.close()
            starter.join()
            ended.close()
