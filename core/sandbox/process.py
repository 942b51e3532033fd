"""The client's end of one process of a sandbox: its start, one job at a time, its end.

Blocking; a thread waits here for a pipe. `kill` may be called from any other
thread: anyone who waits then gets a `SandboxError` at once.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox.forkserver import Forkserver
from prompt_debugger.core.sandbox.frames import HEADER, frame_size, pack, unpack
from prompt_debugger.core.sandbox.jobs import Limits
from prompt_debugger.core.sandbox.values import UnknownValueError

_START_S = 120.0  # imports on a busy machine
_CHUNK_BYTES = 1 << 20
_TAIL_BYTES = 2_000
_DEATH_S = 2.0
_OUT_OF_MEMORY = (b"memory allocation", b"MemoryError", b"bad_alloc", b"Cannot allocate memory")


class SandboxProcess:
    """One process; a slow one gives way to everything else on this machine.

    Raises:
        SandboxError: The forkserver is gone.
    """

    def __init__(self, forkserver: Forkserver, *, is_slow: bool = False) -> None:
        self.modules = forkserver.modules
        self._forkserver = forkserver
        self._data = bytearray()
        self._tail = b""
        self._is_ready = False
        self._is_mute = False
        self._is_killed = False
        try:
            self._process = forkserver.fork(is_slow=is_slow)
        except OSError as error:
            raise cannot_start(error, forkserver) from error
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        for pipe in (self._stdin, self._stderr):
            os.set_blocking(pipe.fileno(), False)

    @property
    def pid(self) -> int | None:
        """Its process id, `None` until it is forked."""
        self._process.poll()
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it is alive, or about to be."""
        return not self._is_killed and self._process.poll() is None

    @property
    def cpu_s(self) -> float:
        """Processor time that it used so far; 0 while it lives where the system does not report it."""
        return self._process.cpu_s

    def exchange(
        self, activity: str, limits: Limits, question: tuple[str, tuple[object, ...], dict[str, object]], hint: str = ""
    ) -> Iterator[tuple[object, ...]]:
        """Ask one job and yield its answers, the last one its end.

        Raises:
            SandboxError: It hit a limit or died; the process is gone then.
        """
        try:
            frame = pack((*question, limits.cpu_s, limits.memory_mb))
        except UnknownValueError as error:
            raise SandboxError(f"{activity} could not start: {error}", limit="value") from None
        try:
            self._wait_until_ready()
            unsent = memoryview(frame)
            answer, unsent = self._next(unsent, limits)
            while answer[0] == "step":
                yield answer
                answer, unsent = self._next(unsent, limits)
        except _ProcessEndedError as problem:
            self.kill()
            raise SandboxError(f"{activity} {problem}", hint, limit=problem.limit) from None
        except GeneratorExit:  # the caller has had enough
            self.kill()
            raise
        yield answer

    def give_way(self) -> bool:
        """Let it give way to everything else on this machine, for good; return whether it does."""
        return not self._is_killed and self._process.give_way()

    def kill(self) -> None:
        """End it, whatever it does, without waiting; safe from any thread, and more than once."""
        self._is_killed = True
        self._process.kill()

    def close(self) -> None:
        """End it and free its pipes; by the thread that had it, or when no one has."""
        self._is_killed = True
        self._process.close()

    def _wait_until_ready(self) -> None:
        if self._is_ready:
            return
        try:
            self._next(memoryview(b""), Limits(wall_s=_START_S, answer_mb=1))
        except _ProcessEndedError as problem:
            self.kill()
            if problem.limit == "stopped":
                raise SandboxError("The work was stopped.", limit="stopped") from None
            output = (self._forkserver.last_words() + self._tail).decode("utf-8", "replace").strip().splitlines()
            last = f": {output[-1]}" if output else ""
            raise SandboxError(
                f"The sandbox process did not start, it {problem}{last}", _CANNOT_START, limit="start"
            ) from None
        self._is_ready = True

    def _next(self, unsent: memoryview, limits: Limits) -> tuple[tuple[object, ...], memoryview]:
        """Send on, and return the next answer and what is still to be sent."""
        deadline = time.monotonic() + limits.wall_s
        most = limits.answer_mb << 20
        while (size := frame_size(self._data)) is None or len(self._data) < size:
            if size is not None and size > most:
                raise _ProcessEndedError(f"wrote an answer of more than {limits.answer_mb:,} MB", "answer")
            unsent = self._wait(unsent, deadline, limits)
        body = bytes(memoryview(self._data)[HEADER:size])
        del self._data[:size]
        try:
            answer = unpack(body)
        except UnknownValueError as error:
            raise _ProcessEndedError(f"returned a malformed answer ({error})", "answer") from None
        assert isinstance(answer, tuple)
        return answer, unsent

    def _wait(self, unsent: memoryview, deadline: float, limits: Limits) -> memoryview:
        """Wait for the pipes once, read and write what they take; returns what is still to be sent."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise _ProcessEndedError(f"gave no answer within {limits.wall_s:g} s", "wall")
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        if not self._is_mute:
            poll.register(self._stderr, select.POLLIN)
        if unsent:
            poll.register(self._stdin, select.POLLOUT)
        updates = {number for number, _ in poll.poll(left * 1000)}
        if self._stderr.fileno() in updates:
            self._keep_tail()
        if self._stdout.fileno() in updates:
            chunk = os.read(self._stdout.fileno(), _CHUNK_BYTES)
            if not chunk:
                raise self._death(limits)
            self._data += chunk
        elif self._stdin.fileno() in updates:
            with suppress(BlockingIOError):
                try:
                    unsent = unsent[os.write(self._stdin.fileno(), unsent[:_CHUNK_BYTES]) :]
                except BrokenPipeError:
                    raise self._death(limits) from None
        return unsent

    def _keep_tail(self) -> None:
        """Keep the end of what it said; libraries write their last words in many small pieces."""
        with suppress(BlockingIOError):
            while not self._is_mute:
                data = os.read(self._stderr.fileno(), _CHUNK_BYTES)
                self._is_mute = not data
                self._tail = (self._tail + data)[-_TAIL_BYTES:]

    def _death(self, limits: Limits) -> _ProcessEndedError:
        """Return how it died, as the limit that it hit."""
        status = self._process.wait(_DEATH_S)
        if self._is_killed:
            return _ProcessEndedError("was stopped", "stopped")
        self._keep_tail()
        if status == -signal.SIGPROF:
            return _ProcessEndedError(f"took more than {limits.cpu_s:g} s of processor time", "cpu")
        if any(word in self._tail for word in _OUT_OF_MEMORY):
            return _ProcessEndedError(f"needed more than {limits.memory_mb:,} MB of memory", "memory")
        return _ProcessEndedError(f"crashed its process (status {status})", "crash")


_CANNOT_START = (
    "Untrusted text is processed only in a separate process. Check whether this Python can start other processes."
)


def cannot_start(error: OSError, forkserver: Forkserver | None = None) -> SandboxError:
    """Return the error of a process that cannot be started at all."""
    output = b"" if forkserver is None else forkserver.last_words()
    reason = output.decode("utf-8", "replace").strip().rpartition("\n")[2] or error.strerror or type(error).__name__
    return SandboxError(f"No sandbox process can be started: {reason}", _CANNOT_START, limit="start")


class _ProcessEndedError(Exception):
    """What a process did that ends it; `limit` names which one it hit."""

    def __init__(self, problem: str, limit: str) -> None:
        super().__init__(problem)
        self.limit = limit
