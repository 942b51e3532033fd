"""Other people's servers as child processes: started, awaited by what they print or answer, ended with us."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from prompt_debugger.core.base.scratch import new_scratch
from prompt_debugger.core.tools.lab.process import SupervisedProcess

_BOOT_S = 240.0
_SECRETS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class ServerStartError(AssertionError):
    """A server ended, or said nothing for too long, before it was ready; the message holds its last lines."""


class _Output:
    """What a server prints, and the first line that says it is ready."""

    def __init__(self, ready: re.Pattern[str]) -> None:
        self.lines: deque[str] = deque(maxlen=60)
        self.match: re.Match[str] | None = None
        self.changed = threading.Event()
        self._ready = ready

    def take(self, line: str) -> None:
        self.lines.append(line)
        if self.match is None and (match := self._ready.search(line)):
            self.match = match
            self.changed.set()


@contextmanager
def running(
    command: Sequence[str], ready: str, *, environment: Mapping[str, str] | None = None
) -> Iterator[re.Match[str]]:
    """Run a server; the block begins when it printed a line that matches `ready`.

    Args:
        command: Program and arguments.
        ready: Regular expression of the line that it prints once it answers.
        environment: Set besides what is inherited.

    Yields:
        The match.

    Raises:
        ServerStartError: It ended before, or is not ready after minutes.
    """
    output = _Output(re.compile(ready))
    inherited = {name: value for name, value in os.environ.items() if not name.endswith(_SECRETS)}
    defaults = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    scratch = new_scratch("server")
    process = SupervisedProcess(command, {**inherited, **defaults, **(environment or {})}, scratch, output.take)
    threading.Thread(target=_set_after, args=(output.changed, process.ended), daemon=True).start()
    try:
        output.changed.wait(_BOOT_S)
        if output.match is None:
            last = "\n".join(output.lines)
            raise ServerStartError(f"{command[:4]} was not ready (status {process.exit_status}):\n{last}")
        yield output.match
    finally:
        process.end()


def _set_after(event: threading.Event, first: threading.Event) -> None:
    first.wait()
    event.set()


def free_port() -> int:
    """Return a port that no one has, for a server that cannot take port 0 and say which it got."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
