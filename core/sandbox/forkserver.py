"""The client's end of a forkserver: a process that has imported everything, from which a sandbox's processes split off.

Imports take seconds of processor time, a split some milliseconds. So it costs next to nothing to end a process with
the work in it. A forkserver touches nobody's text; what splits off locks itself and never splits again. Its
program ends in the loop of `splitting`: that of a sandbox, or one that has imported a library (`core.parse.engines`).
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

_CHILD = Path(__file__).parent / "child.py"
# Where `prompt_debugger` lies: `core` may be found through its link in there, or beside it.
_ROOT = next(
    folder for folder in Path(__file__).absolute().parents if (folder / "prompt_debugger" / "__init__.py").is_file()
)
_TAIL_BYTES = 2_000
_END_S = 5.0
# What an interpreter needs to start, and the clock; keys and tokens stay with us.
_KEPT_ENVIRONMENT = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONHOME", "VIRTUAL_ENV",
    "SYSTEMROOT",
)  # fmt: skip
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
# What is told of an offshoot: by itself that it is `BORN`, with its process id; by the forkserver that it is `DEAD`,
# with its exit status and processor time.
UPDATES: Final = struct.Struct("<Bqd")
BORN: Final = 1
DEAD: Final = 2
# Orders to a forkserver: to split off a process as usual, or one that gives way to everything else on this machine.
USUAL: Final = b"u"
SLOW: Final = b"s"
SLOW_NICE: Final = 19
_SCHEDULED_TIME: Final = 2  # of the clocks that Linux keeps of a process: what the scheduler gave it


class Forkserver:
    """One running forkserver; `split` from one thread at a time.

    Args:
        command: Its program, which reads orders from standard input.
        environment: Its whole environment.
        modules: What its offshoots serve, of a sandbox.

    Raises:
        OSError: None can be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], modules: Sequence[str] = ()) -> None:
        self.modules = tuple(modules)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the forkserver
        self._offshoots: list[Offshoot] = []  # those that may live
        self._has_split = False  # whether one was ever born
        self._counting = threading.Lock()
        self._orders, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                env=dict(environment),
                process_group=0,  # Ctrl-C is ours to handle; a session would have a share of time of its own
            )
        except OSError:
            self._orders.close()
            self._log.close()
            raise
        finally:
            theirs.close()
        threading.Thread(target=self._await_end, name="forkserver-end", daemon=True).start()

    @property
    def is_running(self) -> bool:
        """Whether it is alive."""
        return self._process.poll() is None

    def split(self, *, is_slow: bool) -> Offshoot:
        """Return a process that will have split off; does not wait for it.

        Args:
            is_slow: Whether it is to give way to everything else on this machine.

        Raises:
            OSError: The forkserver is gone.
        """
        pipes = (os.pipe(), os.pipe(), os.pipe())
        (questions, stdin), (stdout, answers), (stderr, words) = pipes
        updates, theirs = socket.socketpair()
        try:
            socket.send_fds(self._orders, [SLOW if is_slow else USUAL], [questions, answers, words, theirs.fileno()])
        except OSError:
            updates.close()
            for number in (stdin, stdout, stderr):
                os.close(number)
            raise
        finally:
            theirs.close()
            for number in (questions, answers, words):
                os.close(number)
        offshoot = Offshoot(updates, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), os.fdopen(stderr, "rb"))
        with self._counting:
            self._forget_ended()
            self._offshoots.append(offshoot)
        return offshoot

    def last_words(self) -> bytes:
        """Return the end of what it wrote on standard error, such as an import that failed."""
        number = self._log.fileno()
        size = os.fstat(number).st_size
        return os.pread(number, _TAIL_BYTES, max(0, size - _TAIL_BYTES))

    def retire(self) -> None:
        """Let nothing more split off; it ends with the last of its offshoots."""
        self._orders.close()

    def close(self, patience_s: float = _END_S) -> None:
        """End it; its offshoots were ended before, or will be now."""
        self.retire()
        with self._counting:
            self._forget_ended()
            is_up = self._has_split
        if not is_up:  # it imports still, and would hear of its end much later
            self._process.kill()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _forget_ended(self) -> None:
        """Keep those that may live; called with the lock held."""
        self._has_split = self._has_split or any(one.is_born for one in self._offshoots)
        self._offshoots = [one for one in self._offshoots if one.poll() is None]

    def _await_end(self) -> None:
        """Leave nothing of it, however it ends: it is waited for, and its offshoots are ended with it."""
        if hasattr(os, "waitid"):  # leaves it to whoever asks how it ended
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self._process.wait()
        with self._counting:
            offshoots, self._offshoots = self._offshoots, []
        for offshoot in offshoots:
            offshoot.bury()


def sandbox_forkserver(sandbox: str, modules: Sequence[str]) -> Forkserver:
    """Return the forkserver of a sandbox whose offshoots serve the jobs of these modules.

    Raises:
        OSError: None can be started.
    """
    spec = {"root": str(_ROOT), "paths": _paths(), "sandbox": sandbox, "modules": list(modules)}
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return Forkserver([sys.executable, "-I", str(_CHILD), json.dumps(spec)], kept | _ENVIRONMENT, modules)


class Offshoot:
    """A process that split off: its pipes, its death. The forkserver alone ends it, so that no other is hit by mistake.

    Attributes:
        stdin: Of the process, to write to.
        stdout: Of the process, to read from.
        stderr: Likewise.
        pid: Its process id, `None` before it has told.
    """

    def __init__(self, updates: socket.socket, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid: int | None = None
        self._cpu_s = 0.0
        self._status: int | None = None
        self._is_lost = False
        self._updates = updates
        self._updates.settimeout(0.0)
        self._data = b""
        self._reading = threading.Lock()

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal; `None` while it lives."""
        with self._reading:
            self._read()
            return self._status

    @property
    def cpu_s(self) -> float:
        """Processor time that it used so far; while it lives 0 where the system does not tell."""
        if self.poll() is None and self.pid is not None:
            with suppress(OSError):
                return time.clock_gettime(_clock_of(self.pid))
        return self._cpu_s

    @property
    def is_born(self) -> bool:
        """Whether it has begun to run, be it that it has ended since."""
        self.poll()
        return self.pid is not None

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end, and return its exit status; `None` if it still lives then."""
        deadline = time.monotonic() + timeout_s
        while (status := self.poll()) is None and (left_s := deadline - time.monotonic()) > 0:
            waiting = select.poll()
            with suppress(OSError, ValueError):  # closed in this moment
                waiting.register(self._updates, select.POLLIN)
                waiting.poll(left_s * 1000)
        return status

    def give_way(self) -> bool:
        """Let it give way to everything else on this machine, for good; say whether it does.

        Of low priority alone it would still hold up whoever wakes on its processor until its slice of time is over, a
        few thousandths of a second, and a page wakes often.
        """
        if self.poll() is not None or self.pid is None:
            return False
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, self.pid, SLOW_NICE)
            if hasattr(os, "SCHED_IDLE"):
                os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))
        return True

    def kill(self) -> None:
        """Have it ended, whatever it does, without waiting; safe from any thread, and more than once."""
        with suppress(OSError):
            self._updates.shutdown(socket.SHUT_WR)
        self.poll()  # where the forkserver is gone it ends all the same

    def bury(self) -> None:
        """See that it ended, where its forkserver has; where that made it a child of ours, take it from the system."""
        self.poll()
        if self.pid is not None and self._is_lost:
            with suppress(ChildProcessError):  # it is another's, as usual
                os.waitpid(self.pid, 0)

    def close(self) -> None:
        """End it, wait for that unless the forkserver has not even begun with it, and free its pipes."""
        self.kill()
        if self.is_born:  # else its forkserver ends it as it is born
            self.wait(_END_S)
        self._cpu_s = self.cpu_s
        with self._reading:
            self._updates.close()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(OSError, ValueError):
                pipe.close()

    def _read(self) -> None:
        """Take what the forkserver has told meanwhile; called with the lock held."""
        while self._status is None:
            try:
                data = self._updates.recv(UPDATES.size)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._is_orphaned()
            self._data += data
            while len(self._data) >= UPDATES.size:
                self._hear(*UPDATES.unpack(self._data[: UPDATES.size]))
                self._data = self._data[UPDATES.size :]

    def _hear(self, kind: int, number: int, cpu_s: float) -> None:
        if kind == BORN:
            self.pid = number
        else:
            self._status, self._cpu_s = number, cpu_s

    def _is_orphaned(self) -> None:
        """Count it as dead where the forkserver tells nothing any more, and see that it is."""
        self._is_lost = True
        self._status = -signal.SIGKILL
        if self.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)


def _clock_of(pid: int) -> int:
    """Return the clock of a process's processor time, as `clock_getcpuclockid` does on Linux."""
    return (~pid << 3) | _SCHEDULED_TIME


def _paths() -> list[str]:
    """Return where our own imports come from, the working directory left out: it is the user's, not ours."""
    here = Path.cwd()
    return [path for path in sys.path if Path(path).is_absolute() and Path(path).resolve() != here.resolve()]
