"""Lets the labs of a run, and whatever else imports vLLM, split off from one process that has imported it."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_debugger.core.lab import LabSpec
from prompt_debugger.core.lab.launch import build_environment

HERE = Path(__file__).parent
ADDRESS = "PROMPT_DEBUGGER_TESTS_STEM"
SPLITS_OFF = {"PROMPT_DEBUGGER_TESTS_CODE": "1"}  # environment of a test's own code that imports vLLM


@contextmanager
def warm_labs() -> Iterator[None]:
    """Servers that are started meanwhile, by whatever process of ours, take the short way.

    The import begins with the first of them.
    """
    given = os.environ.get("PYTHONPATH")
    with tempfile.TemporaryDirectory(prefix="warm-") as folder, socket.socket(socket.AF_UNIX) as listening:
        address = str(Path(folder) / "stem")
        listening.bind(address)
        listening.listen(64)
        ending, ended = socket.socketpair()
        starter = threading.Thread(target=_start_when_asked, args=(listening, ended, Path(folder)), name="warm-labs")
        starter.start()
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
            ending.close()
            starter.join()
            ended.close()


@contextmanager
def cold_labs() -> Iterator[None]:
    """Servers that are started meanwhile are started as users' are, imports and all."""
    address = os.environ.pop(ADDRESS, None)
    try:
        yield
    finally:
        if address is not None:
            os.environ[ADDRESS] = address


def _start_when_asked(listening: socket.socket, ended: socket.socket, folder: Path) -> None:
    """Start the stem as somebody asks, and end it with the run."""
    ready, _, _ = select.select([listening, ended], [], [])
    if ended in ready:
        return
    environment = build_environment(LabSpec(), os.environ, folder)
    command = [sys.executable, str(HERE / "stem.py"), str(listening.fileno())]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, pass_fds=[listening.fileno()], start_new_session=True
    ) as stem:
        select.select([ended], [], [])
        stem.kill()  # its servers have keepers of their own
