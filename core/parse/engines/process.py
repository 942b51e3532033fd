"""The client side of a helper process, which answers each line of JSON with a line of JSON and is not trusted.

Owns killing it and every limit: time per answer, size of an answer. Time runs out for a helper that stalls
or works too long, not for one that gets little of a busy machine. It must not know what is asked or how helpers
are created: each is forked from a process that has imported a library (`pool`).
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.sandbox.forkserver import ForkedChild

_CHUNK_BYTES = 1 << 16
_EXIT_S = 2.0
_CHECK_S = 0.2  # how often a wait for a helper that has not started yet checks whether it was cancelled


# Shares of a time limit, in processor time: less work than the first since the last check is a stall, and the limit is
# extended until the second was worked in all.
_LEAST_WORK = 0.02
_MOST_WORK = 0.75


class HelperSpentError(EngineError):
    """A helper cannot read the files that a question needs: it is already locked to those of another."""


class HelperFailedError(EngineError):
    """A helper died, was too slow, or sent a malformed answer."""


class _Deadline:
    """When to give up on a process: it was nearly idle for the length of the limit, or has used its processor time.

    Args:
        timeout_s: The time limit.
        worked_s: Returns the processor time that the process has used until now, 0 where nothing reports it.
    """

    def __init__(self, timeout_s: float, worked_s: Callable[[], float]) -> None:
        self._timeout_s, self._worked_s = timeout_s, worked_s
        self._begun = time.monotonic()
        self._until = self._begun + timeout_s
        self._begun_worked_s = self._last_worked_s = worked_s()

    def left_s(self) -> float:
        """Return the seconds left, 0 or less if it is time to give up."""
        left_s = self._until - time.monotonic()
        if left_s > 0:
            return left_s
        worked_s = self._worked_s()
        has_stalled = worked_s - self._last_worked_s < self._timeout_s * _LEAST_WORK
        if has_stalled or worked_s - self._begun_worked_s > self._timeout_s * _MOST_WORK:
            return left_s
        self._last_worked_s, self._until = worked_s, time.monotonic() + self._timeout_s
        return self._timeout_s

    def __str__(self) -> str:
        waited_s = time.monotonic() - self._begun
        return f"{self._timeout_s if waited_s < self._timeout_s * 1.5 else round(waited_s):g} s"


class HelperProcess:
    """One running helper; asked by one thread at a time, killed from any.

    Args:
        max_answer_bytes: A longer answer ends the helper.
        starting_s: Returns the processor time of the process that imports for it before it is forked.

    Attributes:
        modules: Empty: what a helper serves never changes.
    """

    modules: tuple[str, ...] = ()

    def __init__(
        self, child: ForkedChild, *, max_answer_bytes: int, starting_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        self._max_answer_bytes = max_answer_bytes
        self._starting_s = starting_s
        self._buffer = bytearray()
        self._child = child
        self._stdin, self._stdout, self._stderr = child.stdin.fileno(), child.stdout.fileno(), child.stderr
        self._has_closed_stderr = False
        self._is_killed = False
        self._hello: JSONObject | None = None
        self._used_s = 0.0
        for number in (self._stdin, self._stderr.fileno()):
            os.set_blocking(number, False)

    @property
    def pid(self) -> int | None:
        """Its process id, `None` until it is forked."""
        self._child.poll()
        return self._child.pid

    @property
    def is_running(self) -> bool:
        """Whether it is alive, or about to be."""
        return not self._is_killed and self._child.poll() is None

    @property
    def cpu_s(self) -> float:
        """Processor time used so far; 0 while it runs if the system does not report it."""
        return self._child.cpu_s

    @property
    def used_s(self) -> float:
        """Processor time of the last answer, as the helper reports it."""
        return self._used_s

    def hello(self, timeout_s: float) -> JSONObject:
        """Return what it reports about itself before any question.

        Args:
            timeout_s: Seconds that it may take; longer while it works and gets little of the machine.

        Raises:
            EngineError: As for `exchange`.
        """
        if self._hello is None:
            deadline = _Deadline(timeout_s, lambda: self._starting_s() + self.cpu_s)
            self._hello = self._receive(deadline, has_started=False)
        return self._hello

    def exchange(self, question: JSONObject, timeout_s: float) -> JSONObject:
        """Send one question and return its answer.

        Args:
            question: What is asked.
            timeout_s: Seconds that it may take; longer while it works and gets little of the machine.

        Raises:
            HelperSpentError: It is locked to another question; a new helper can answer this one.
            EngineError: The child died, took too long, wrote too much or wrote nonsense. It is killed in each case.
        """
        deadline = _Deadline(timeout_s, lambda: self.cpu_s)
        self._send(json.dumps(question).encode("ascii") + b"\n", deadline)
        answer = self._receive(deadline)
        if answer.get("spent") is True:
            self.kill()
            raise HelperSpentError("The parser helper is not allowed to read what this request needs.")
        used_s = answer.pop("used_s", 0.0)
        self._used_s = used_s if isinstance(used_s, float) else 0.0
        return answer

    def give_way(self) -> bool:
        """Make it yield to everything else on this machine, permanently; return whether it does."""
        return not self._is_killed and self._child.give_way()

    def kill(self) -> None:
        """Kill it without waiting, from any thread; a pending `exchange` raises."""
        self._is_killed = True
        self._child.kill()

    def close(self) -> None:
        """Kill it, wait until it has exited, and close its pipes."""
        self._is_killed = True
        self._child.close()

    def _send(self, data: bytes, deadline: _Deadline) -> None:
        """Write with a time limit: a child that does not read must not block us."""
        view = memoryview(data)
        while view:
            left = deadline.left_s()
            if left <= 0:
                raise self._failure(f"did not read the request within {deadline}")
            if self._stdin not in self._wait(left, self._stdin):
                continue
            try:
                view = view[os.write(self._stdin, view[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._died() from None

    def _receive(self, deadline: _Deadline, *, has_started: bool = True) -> JSONObject:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > self._max_answer_bytes:
                raise self._failure(f"wrote more than {self._max_answer_bytes:,} bytes")
            left = deadline.left_s()
            if left <= 0:
                raise self._failure(f"gave no answer within {deadline}")
            if self._stdout in self._wait(left if has_started else min(left, _CHECK_S), self._stdout):
                if not (data := os.read(self._stdout, _CHUNK_BYTES)):
                    raise self._died()
                self._buffer += data
            elif self._is_killed:
                raise self._died()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._failure("returned a malformed answer") from None
        if not isinstance(answer, dict):
            raise self._failure("returned a malformed answer")
        return answer

    def _wait(self, seconds: float, wanted: int) -> set[int]:
        """Wait for a pipe and return the ready ones; anything on standard error is discarded."""
        poll = select.poll()
        poll.register(wanted, select.POLLOUT if wanted == self._stdin else select.POLLIN)
        if not self._has_closed_stderr:
            poll.register(self._stderr, select.POLLIN)
        ready = {number for number, _ in poll.poll(seconds * 1000)}
        if self._stderr.fileno() in ready:
            with suppress(BlockingIOError):
                self._has_closed_stderr = not os.read(self._stderr.fileno(), _CHUNK_BYTES)
        return ready

    def _died(self) -> EngineError:
        if self._is_killed:
            return EngineError("The work was stopped.")
        status = self._child.wait(_EXIT_S)
        if status == -signal.SIGPROF:
            return self._failure("exceeded its limit of processor time")
        how = f"was killed by signal {-status}" if status is not None and status < 0 else f"ended with status {status}"
        return self._failure(how)

    def _failure(self, problem: str) -> EngineError:
        self.kill()
        return HelperFailedError(f"The parser helper {problem}.", "It is restarted for the next request.")
