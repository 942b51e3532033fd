"""The client side of a forkserver: a process that has imported everything, from which a sandbox forks its workers.

Imports take seconds of processor time, a fork a few milliseconds, so killing a process together with its work costs
next to nothing. A forkserver handles no user text; its children lock themselves down and never fork again. Its
program ends in the loop of `fork_loop`: for a sandbox, or after importing a library (`core.parse.engines`).
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
# Where `prompt_debugger` lies: `core` may be found through its link in there, or next to it.
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
# Updates about a child: `STARTED`, sent by the child with its process id; `EXITED`, sent by the forkserver with the
# exit status and processor time.
UPDATES: Final = struct.Struct("<Bqd")
STARTED: Final = 1
EXITED: Final = 2
# Orders to a forkserver: fork a normal process, or one that yields to everything else on this machine.
USUAL: Final = b"u"
SLOW: Final = b"s"
SLOW_NICE: Final = 19
USUAL_NICE: Final = 4  # whoever asks goes first: the page has many more to answer
_SCHEDULED_TIME: Final = 2  # of the clocks that Linux keeps of a process: what the scheduler gave it


class Forkserver:
    """One running forkserver; call `fork` from one thread at a time.

    Its children serve the jobs of the modules.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], modules: Sequence[str] = ()) -> None:
        self.modules = tuple(modules)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the forkserver
        self._children: list[ForkedChild] = []  # those that may still run
        self._has_forked = False  # whether a child ever started
        self._counting = threading.Lock()
        self._orders, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                env=dict(environment),
                process_group=0,  # Ctrl-C is ours to handle; a new session would get its own scheduling share
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
        """Whether the process is alive."""
        return self._process.poll() is None

    @property
    def cpu_s(self) -> float:
        """Processor time used so far, without its children's; 0 where the system does not report it."""
        with suppress(OSError):
            return time.clock_gettime(_clock_of(self._process.pid))
        return 0.0

    def fork(self, *, is_slow: bool) -> ForkedChild:
        """Ask for a new child and return it without waiting for it to start; a slow one yields to everything else here.

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
        child = ForkedChild(updates, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), os.fdopen(stderr, "rb"))
        with self._counting:
            self._forget_ended()
            self._children.append(child)
        return child

    def last_words(self) -> bytes:
        """Return the tail of its standard error, such as a failed import."""
        number = self._log.fileno()
        size = os.fstat(number).st_size
        return os.pread(number, _TAIL_BYTES, max(0, size - _TAIL_BYTES))

    def retire(self) -> None:
        """Fork nothing more; the forkserver ends with the last of its children."""
        self._orders.close()

    def close(self, patience_s: float = _END_S) -> None:
        """End it, and any child that is still running."""
        self.retire()
        with self._counting:
            self._forget_ended()
            is_up = self._has_forked
        if not is_up:  # it is still importing, and would notice the closed socket much later
            self._process.kill()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _forget_ended(self) -> None:
        """Drop the children that have exited; called with the lock held."""
        self._has_forked = self._has_forked or any(one.has_started for one in self._children)
        self._children = [one for one in self._children if one.poll() is None]

    def _await_end(self) -> None:
        """Clean up, however it ends: wait for it and reap its children."""
        if hasattr(os, "waitid"):  # leaves the exit status to anyone who asks for it
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self._process.wait()
        with self._counting:
            children, self._children = self._children, []
        for child in children:
            child.reap()


def sandbox_forkserver(sandbox: str, modules: Sequence[str]) -> Forkserver:
    """Start the forkserver of a sandbox whose children serve the jobs of these modules.

    Raises:
        OSError: It cannot be started.
    """
    spec = {"root": str(_ROOT), "paths": _paths(), "sandbox": sandbox, "modules": list(modules)}
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return Forkserver([sys.executable, "-I", str(_CHILD), json.dumps(spec)], kept | _ENVIRONMENT, modules)


class ForkedChild:
    """A child of a forkserver: its pipes and its end; the process id is `None` until it has reported it.

    Only the forkserver kills it, so that a reused process id is never hit by mistake.
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
        """Return its exit status, negative for a signal; `None` while it runs."""
        with self._reading:
            self._read()
            return self._status

    @property
    def cpu_s(self) -> float:
        """Processor time used so far; 0 while it runs if the system does not report it."""
        if self.poll() is None and self.pid is not None:
            with suppress(OSError):
                return time.clock_gettime(_clock_of(self.pid))
        return self._cpu_s

    @property
    def has_started(self) -> bool:
        """Whether it ever started, even if it has exited since."""
        self.poll()
        return self.pid is not None

    def wait(self, timeout_s: float) -> int | None:
        """Wait for it to exit and return its status; `None` if it is still running by then."""
        deadline = time.monotonic() + timeout_s
        while (status := self.poll()) is None and (left_s := deadline - time.monotonic()) > 0:
            waiting = select.poll()
            with suppress(OSError, ValueError):  # closed at this moment
                waiting.register(self._updates, select.POLLIN)
                waiting.poll(left_s * 1000)
        return status

    def give_way(self) -> bool:
        """Make it yield to everything else on this machine, permanently; return whether it does.

        Low priority alone is not enough: it would still delay anything that wakes on its processor until its time
        slice ends, a few milliseconds later, and a page wakes often.
        """
        if self.poll() is not None or self.pid is None:
            return False
        with suppress(OSError):  # it has exited already
            os.setpriority(os.PRIO_PROCESS, self.pid, SLOW_NICE)
            if hasattr(os, "SCHED_IDLE"):
                os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))
        return True

    def kill(self) -> None:
        """Kill it without waiting; safe from any thread, and more than once."""
        with suppress(OSError):
            self._updates.shutdown(socket.SHUT_WR)
        self.poll()  # kills it directly if the forkserver is gone

    def reap(self) -> None:
        """Make sure it exits with its forkserver, and reap it if it was reparented to us."""
        self.poll()
        if self.pid is not None and self._is_lost:
            with suppress(ChildProcessError):  # reparented elsewhere, as usual
                os.waitpid(self.pid, 0)

    def close(self) -> None:
        """Kill it, wait for it if it ever started, and close its pipes."""
        self.kill()
        if self.has_started:  # otherwise the forkserver kills it as soon as it starts
            self.wait(_END_S)
        self._cpu_s = self.cpu_s
        with self._reading:
            self._updates.close()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(OSError, ValueError):
                pipe.close()

    def _read(self) -> None:
        """Read pending updates; called with the lock held."""
        while self._status is None:
            try:
                data = self._updates.recv(UPDATES.size)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._mark_lost()
            self._data += data
            while len(self._data) >= UPDATES.size:
                self._note_update(*UPDATES.unpack(self._data[: UPDATES.size]))
                self._data = self._data[UPDATES.size :]

    def _note_update(self, kind: int, number: int, cpu_s: float) -> None:
        if kind == STARTED:
            self.pid = number
        else:
            self._status, self._cpu_s = number, cpu_s

    def _mark_lost(self) -> None:
        """Count it as killed once the forkserver sends nothing more, and kill it."""
        self._is_lost = True
        self._status = -signal.SIGKILL
        if self.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)


def _clock_of(pid: int) -> int:
    """Return the processor-time clock of a process, as `clock_getcpuclockid` does on Linux."""
    return (~pid << 3) | _SCHEDULED_TIME


def _paths() -> list[str]:
    """Return the paths of our own imports, without the working directory, which belongs to the user."""
    here = Path.cwd()
    return [path for path in sys.path if Path(path).is_absolute() and Path(path).resolve() != here.resolve()]
