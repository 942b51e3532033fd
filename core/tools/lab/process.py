"""One supervised command, seen from our side: its output lines, its end, and how to bring it about.

The other side is `supervisor.py`. Threads and no event loop, because a lab is shared by sessions whose loops
come and go, and because nothing may keep the output from being read: a full pipe would halt the server.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from prompt_debugger.core.base.scratch import drop_scratch
from prompt_debugger.core.tools.lab import supervisor

_STOP_TIMEOUT_S = supervisor.GRACE_S + 4.0


class SupervisedProcess:
    """A command that does not outlive this program.

    Attributes:
        pid: Process id of the command and of its group; `None` until it runs.
        exit_status: As `subprocess` gives it; `None` until it ended, or if the supervisor was killed.
        ended: Set when the command, its descendants and its output are at their end.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], scratch: Path, on_line: Callable[[str], None]
    ) -> None:
        """Start it.

        Args:
            command: Program and arguments.
            environment: All of its environment.
            scratch: Its working folder, removed when it ends.
            on_line: Called with each line of output that is not empty, without its end, from a thread of ours.
        """
        self.pid: int | None = None
        self.exit_status: int | None = None
        self.ended = threading.Event()
        self._scratch = scratch
        self._on_line = on_line
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__, str(scratch), *command],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is for us alone
        )
        self._reader = threading.Thread(target=self._read_lines, name="lab-log", daemon=True)
        self._reader.start()
        threading.Thread(target=self._await_end, name="lab-end", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._supervisor.poll() is None and not self.ended.is_set()

    def request_end(self) -> None:
        """Cut the leash: the supervisor ends the command and everything it started. Returns at once."""
        if self._supervisor.stdin is not None:
            with suppress(OSError):
                self._supervisor.stdin.close()

    def end(self) -> None:
        """Cut the leash and wait for the end; kill what does not go."""
        self.request_end()
        if not self.ended.wait(_STOP_TIMEOUT_S):
            self._supervisor.kill()
            self.ended.wait(_STOP_TIMEOUT_S)

    def _read_lines(self) -> None:
        assert self._supervisor.stdout is not None
        with self._supervisor.stdout as output:
            for raw in output:
                # A progress bar overwrites its line; what it wrote last counts.
                line = raw.decode("utf-8", "replace").rstrip("\r\n").rpartition("\r")[2]
                if line.startswith(supervisor.PID_MARK):
                    self.pid = int(line.removeprefix(supervisor.PID_MARK))
                elif line.startswith(supervisor.EXIT_MARK):
                    self.exit_status = int(line.removeprefix(supervisor.EXIT_MARK))
                elif line:
                    self._on_line(line)

    def _await_end(self) -> None:
        self._supervisor.wait()
        self.request_end()
        self._reader.join(1.0)
        if self.exit_status is None and self.pid is not None:
            # The supervisor was killed. The kernel took the command along, but not the command's children.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._reader.join()
        drop_scratch(self._scratch)
        self.ended.set()
