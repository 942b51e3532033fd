"""A child process that answers one line of JSON with one line of JSON, and is not trusted to.

Owns its start, its death and every limit: time per answer, size of an answer,
memory, what is kept of standard error. It must not know what is asked.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from prompt_debugger.core.errors import EngineError
from prompt_debugger.core.types import JSONObject

_CHUNK_BYTES = 1 << 16
_TAIL_BYTES = 4_000


class HelperProcess:
    """One running child.

    Args:
        command: Program and arguments; our process id is appended.
        environment: Its whole environment.
        max_answer_bytes: An answer longer than this is a flood.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, max_answer_bytes: int) -> None:
        self._max_answer_bytes = max_answer_bytes
        self._buffer = bytearray()
        self._tail: deque[bytes] = deque(maxlen=8)
        try:
            self._process = subprocess.Popen(
                [*command, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise EngineError(f"The parser helper's Python cannot be started: {reason}.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._stdout: IO[bytes] = self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the child is alive."""
        return self._process.poll() is None

    def exchange(self, question: JSONObject, timeout_s: float) -> JSONObject:
        """Send one question and return its answer.

        Raises:
            EngineError: The child died, took too long, or wrote too much or nonsense. It is gone then.
        """
        deadline = time.monotonic() + timeout_s
        self._send(json.dumps(question).encode("ascii") + b"\n", deadline, timeout_s)
        return self._receive(deadline, timeout_s)

    def receive(self, timeout_s: float) -> JSONObject:
        """Return an answer that nothing was asked for, such as the first one.

        Raises:
            EngineError: As for `exchange`.
        """
        return self._receive(time.monotonic() + timeout_s, timeout_s)

    def kill(self) -> None:
        """End the child without waiting; whoever waits for its answer hears of it. From any thread."""
        if self.is_running:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the child and wait until it is gone."""
        with suppress(OSError):
            self._stdin.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._stdout.close()

    def _send(self, data: bytes, deadline: float, timeout_s: float) -> None:
        """Write without blocking for good: a child that does not read must not hold us up."""
        view = memoryview(data)
        while view:
            left = deadline - time.monotonic()
            writable = select.select([], [self._stdin], [], max(left, 0))[1]
            if not writable:
                raise self._failure(f"did not read the request within {timeout_s:g} s")
            try:
                view = view[os.write(self._stdin.fileno(), view[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._died() from None

    def _receive(self, deadline: float, timeout_s: float) -> JSONObject:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > self._max_answer_bytes:
                raise self._failure(f"wrote more than {self._max_answer_bytes:,} bytes")
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._stdout], [], [], left)[0]:
                raise self._failure(f"gave no answer within {timeout_s:g} s")
            data = os.read(self._stdout.fileno(), _CHUNK_BYTES)
            if not data:
                raise self._died()
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._failure("wrote what is no answer") from None
        if not isinstance(answer, dict):
            raise self._failure("wrote what is no answer")
        return answer

    def _drain(self, stream: IO[bytes]) -> None:
        """Read standard error for as long as there is some, and keep its end."""
        with stream:
            while data := stream.read1(_CHUNK_BYTES) if hasattr(stream, "read1") else stream.read(_CHUNK_BYTES):
                self._tail.append(data[-_TAIL_BYTES:])

    def _died(self) -> EngineError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        status = self._process.poll()
        if status == -signal.SIGPROF:
            return self._failure("used more processor time than one question may")
        how = f"was killed by signal {-status}" if status is not None and status < 0 else f"ended with status {status}"
        return self._failure(how)

    def _failure(self, what: str) -> EngineError:
        self.stop()
        return EngineError(f"The parser helper {what}.", "It is started anew for the next request.")
