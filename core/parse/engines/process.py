"""The client's end of a helper, which answers one line of JSON with one line of JSON, and is not trusted to.

Owns its death and every limit: time per answer, size of an answer. It must not know what is asked, nor how helpers
come into being: each has split off from a process that imported a library (`pool`).
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from contextlib import suppress

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.sandbox.forkserver import Offshoot

_CHUNK_BYTES = 1 << 16
_DEATH_S = 2.0
_LOOK_S = 0.2  # how often whoever waits for a helper that is not there yet looks whether they still want it


class HelperSpentError(EngineError):
    """A helper may not read the files of a question, since it was locked for those of another."""


class HelperFailedError(EngineError):
    """A helper ended, was too slow or answered with nonsense: the question was too much for it."""


class HelperProcess:
    """One running helper; asked by one thread at a time, killed from any.

    Args:
        offshoot: The process.
        max_answer_bytes: An answer longer than this is a flood.

    Attributes:
        modules: Nothing: what a helper serves never changes.
    """

    modules: tuple[str, ...] = ()

    def __init__(self, offshoot: Offshoot, *, max_answer_bytes: int) -> None:
        self._max_answer_bytes = max_answer_bytes
        self._buffer = bytearray()
        self._offshoot = offshoot
        self._stdin, self._stdout, self._stderr = offshoot.stdin.fileno(), offshoot.stdout.fileno(), offshoot.stderr
        self._is_mute = False
        self._is_killed = False
        self._hello: JSONObject | None = None
        self._used_s = 0.0
        for number in (self._stdin, self._stderr.fileno()):
            os.set_blocking(number, False)

    @property
    def pid(self) -> int | None:
        """Its process id, `None` before it has split off."""
        self._offshoot.poll()
        return self._offshoot.pid

    @property
    def is_running(self) -> bool:
        """Whether it is alive, or about to be."""
        return not self._is_killed and self._offshoot.poll() is None

    @property
    def cpu_s(self) -> float:
        """Processor time that it used so far; while it lives 0 where the system does not tell."""
        return self._offshoot.cpu_s

    @property
    def used_s(self) -> float:
        """Processor time that its last answer says it cost."""
        return self._used_s

    def hello(self, timeout_s: float) -> JSONObject:
        """Return what it says of itself before it is asked anything.

        Raises:
            EngineError: As for `exchange`.
        """
        if self._hello is None:
            self._hello = self._receive(time.monotonic() + timeout_s, timeout_s, is_born=False)
        return self._hello

    def exchange(self, question: JSONObject, timeout_s: float) -> JSONObject:
        """Send one question and return its answer.

        Raises:
            HelperSpentError: It is locked for good for another question; a new helper can answer this one.
            EngineError: The child died, took too long, or wrote too much or nonsense. It is gone then.
        """
        deadline = time.monotonic() + timeout_s
        self._send(json.dumps(question).encode("ascii") + b"\n", deadline, timeout_s)
        answer = self._receive(deadline, timeout_s)
        if answer.get("spent") is True:
            self.kill()
            raise HelperSpentError("The parser helper is not allowed to read what this request needs.")
        used_s = answer.pop("used_s", 0.0)
        self._used_s = used_s if isinstance(used_s, float) else 0.0
        return answer

    def give_way(self) -> bool:
        """Let it give way to everything else on this machine, for good; say whether it does."""
        return not self._is_killed and self._offshoot.give_way()

    def kill(self) -> None:
        """End it without waiting; whoever waits for its answer hears of it. From any thread."""
        self._is_killed = True
        self._offshoot.kill()

    def close(self) -> None:
        """End it, wait until it is gone, and free its pipes."""
        self._is_killed = True
        self._offshoot.close()

    def _send(self, data: bytes, deadline: float, timeout_s: float) -> None:
        """Write without blocking for good: a child that does not read must not hold us up."""
        view = memoryview(data)
        while view:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._failure(f"did not read the request within {timeout_s:g} s")
            if self._stdin not in self._wait(left, self._stdin):
                continue
            try:
                view = view[os.write(self._stdin, view[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._died() from None

    def _receive(self, deadline: float, timeout_s: float, *, is_born: bool = True) -> JSONObject:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > self._max_answer_bytes:
                raise self._failure(f"wrote more than {self._max_answer_bytes:,} bytes")
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._failure(f"gave no answer within {timeout_s:g} s")
            if self._stdout in self._wait(left if is_born else min(left, _LOOK_S), self._stdout):
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
        """Wait for a pipe, and return those that are ready; what it complains about meanwhile is thrown away."""
        poll = select.poll()
        poll.register(wanted, select.POLLOUT if wanted == self._stdin else select.POLLIN)
        if not self._is_mute:
            poll.register(self._stderr, select.POLLIN)
        ready = {number for number, _ in poll.poll(seconds * 1000)}
        if self._stderr.fileno() in ready:
            with suppress(BlockingIOError):
                self._is_mute = not os.read(self._stderr.fileno(), _CHUNK_BYTES)
        return ready

    def _died(self) -> EngineError:
        if self._is_killed:
            return EngineError("The work was stopped.")
        status = self._offshoot.wait(_DEATH_S)
        if status == -signal.SIGPROF:
            return self._failure("exceeded its limit of processor time")
        how = f"was killed by signal {-status}" if status is not None and status < 0 else f"ended with status {status}"
        return self._failure(how)

    def _failure(self, what: str) -> EngineError:
        self.kill()
        return HelperFailedError(f"The parser helper {what}.", "It is restarted for the next request.")
