"""Answers chunks of lines in several processes, in order and in bounded memory; a crash or a hang costs one line.

    file ──▶ slot (a thread) ──pipe──▶ worker (a process) ──▶ answers by number ──▶ in order
             slot (a thread) ──pipe──▶ worker (a process) ──▶

A slot takes the next chunk when it is free and when not too many answers wait
to be written. If its worker dies or takes too long, which ends it, the slot
starts another and asks line by line; a line at which that happens again gets an
`error` of its own.

Untrusted lines are read in a locked worker, as in a sandbox: limited processor time and
memory for a line, no network, no keys, no files but our own libraries. A line that asks
for parsers or a tokenizer goes to a second worker, which may start helpers and read
files; its limits of time and memory are the same.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import NamedTuple, TypeAlias

from prompt_debugger.core.base.egress import forbid_network
from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.sandbox.lock import Memory, Readable, allow_cpu, lock_in
from prompt_debugger.ui.cli.case_lines import (
    Answer,
    Answered,
    Chunk,
    NeedsMoreError,
    OpenAnswer,
    answer_chunk,
    joined,
    refuse_line,
)

# Answers that may wait for an earlier one, per worker; enough that one slow line does not stop the others.
_WAITING_PER_WORKER = 4
_ENDING_S = 30  # in which a worker that closed its pipe has ended, on a busy machine too

# Environment variables that our libraries read; everything else, such as keys and tokens, is removed.
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")

# Waits the given seconds for an answer, or for the end of the worker; says whether one came.
Wait: TypeAlias = Callable[[Connection, float], bool]


class WorkerLimits(NamedTuple):
    """What a worker may use; far more than any line needs that terminates at all.

    Attributes:
        chunk_s: Seconds for a chunk; one that takes longer is asked again, line by line.
        line_s: Seconds for a line asked alone. It may start two helpers, which have their own limits: three
            minutes to start and one for an answer.
        cpu_s: Seconds of processor time for a line, helpers not counted.
        memory_mb: Address space beyond what the imports need.
    """

    chunk_s: float = 900.0
    line_s: float = 600.0
    cpu_s: float = 20.0
    memory_mb: int = 2048


class CaseWorkers:
    """Processes that answer chunks; used once, then closed.

    `open_answer` is picklable and called once in each process; `open_locked` likewise, in locked processes, which are
    asked first and may raise `NeedsMoreError`.
    """

    def __init__(
        self,
        open_answer: OpenAnswer,
        jobs: int,
        limits: WorkerLimits | None = None,
        wait: Wait = Connection.poll,
        *,
        open_locked: OpenAnswer | None = None,
    ) -> None:
        kinds = {False: open_answer} if open_locked is None else {True: open_locked, False: open_answer}
        self._slots = tuple(_Slot(kinds, limits or WorkerLimits(), wait) for _ in range(jobs))
        self._window = threading.Semaphore(jobs * _WAITING_PER_WORKER)
        self._reading = threading.Lock()
        self._updates = threading.Condition()
        self._done: dict[int, Answered | BaseException] = {}
        self._taken = 0  # chunks
        self._is_over = False

    def answers(self, chunks: Iterator[Chunk]) -> Iterator[Answered]:
        """Yield the answer of every chunk, in order.

        Raises:
            EngineError: A worker cannot be started.
        """
        for slot in self._slots:
            threading.Thread(target=self._run, args=(slot, chunks), name="case-slot", daemon=True).start()
        index = 0
        while (answer := self._wait_for(index)) is not None:
            if isinstance(answer, BaseException):
                raise answer
            self._window.release()
            yield answer
            index += 1

    def close(self) -> None:
        """End all processes; a thread that still waits for input ends with the program."""
        self._end()
        for slot in self._slots:
            slot.close()

    def _wait_for(self, index: int) -> Answered | BaseException | None:
        """Return the answer of a chunk, `None` if there is no such chunk."""
        with self._updates:
            while index not in self._done:
                if self._is_over and index >= self._taken:
                    return None
                self._updates.wait()
            return self._done.pop(index)

    def _run(self, slot: _Slot, chunks: Iterator[Chunk]) -> None:
        """Answer chunks until there are no more."""
        while (taken := self._take(chunks)) is not None:
            index, chunk = taken
            answer: Answered | BaseException
            try:
                answer = slot.answer(chunk)
            except BaseException as error:  # noqa: BLE001 - the caller that waits for this chunk must hear of it
                answer = error
            with self._updates:
                self._done[index] = answer
                self._updates.notify_all()
        slot.close()

    def _take(self, chunks: Iterator[Chunk]) -> tuple[int, Chunk] | None:
        """Return the next chunk and its number, once not too many answers wait; `None` at the end."""
        self._window.acquire()
        with self._reading:
            chunk = None if self._is_over else next(chunks, None)
            if chunk is None:
                self._end()
                return None
            self._taken += 1
            return self._taken - 1, chunk

    def _end(self) -> None:
        with self._updates:
            self._is_over = True
            self._updates.notify_all()
        for _ in self._slots:  # those that wait for the window have nothing more to wait for
            self._window.release()


class _Slot:
    """One worker of each kind after the other; the locked one is asked first."""

    def __init__(self, kinds: dict[bool, OpenAnswer], limits: WorkerLimits, wait: Wait) -> None:
        self._kinds = kinds
        self._limits = limits
        self._wait = wait
        self._workers: dict[bool, _Worker] = {}
        self._changing = threading.Lock()
        self._is_closed = False

    def answer(self, chunk: Chunk) -> Answered:
        """Answer a chunk; line by line, if its worker dies or takes too long.

        Raises:
            EngineError: No worker can be started.
        """
        try:
            return self._ask(chunk, self._limits.chunk_s)
        except _WorkerDiedError:
            self._drop()
        parts = [self._answer_line(number, line) for number, line in enumerate(chunk.lines, chunk.first_number)]
        return joined(parts)

    def close(self) -> None:
        """End the workers; no others will be started."""
        self._is_closed = True
        self._drop()

    def _answer_line(self, number: int, line: bytes) -> Answered:
        """Answer one line; if the worker dies of it or takes too long, with an error."""
        try:
            return self._ask(Chunk(number, (line,)), self._limits.line_s)
        except _WorkerDiedError as death:
            self._drop()
            error = EngineError(f"A worker process {death} while it read line {number}.")
            return refuse_line(line, number, error)

    def _ask(self, chunk: Chunk, limit_s: float) -> Answered:
        """Return the answer of the first kind of worker that can give one."""
        for is_locked in self._kinds:
            if (answer := self._ready(is_locked=is_locked).ask(chunk, limit_s)) is not None:
                return answer
        raise AssertionError("a worker that is not locked answers everything")

    def _ready(self, *, is_locked: bool) -> _Worker:
        """Return the running worker; start one if there is none."""
        if (running := self._workers.get(is_locked)) is not None:
            return running
        with self._changing:
            if self._is_closed:
                raise EngineError("The workers were closed.")
            worker = _Worker(self._kinds[is_locked], self._limits, self._wait, is_locked=is_locked)
            self._workers[is_locked] = worker
        try:
            worker.wait_until_ready()
        except _WorkerDiedError as death:
            self._drop()
            raise EngineError(f"A worker process {death} before it could read a line.", "Try `--jobs 1`.") from None
        return worker

    def _drop(self) -> None:
        with self._changing:
            workers, self._workers = self._workers, {}
        for worker in workers.values():
            worker.kill()


class _WorkerDiedError(Exception):
    """A worker process is gone or given up; the text says how."""


class _Worker:
    """One process, and our end of its pipe."""

    def __init__(self, open_answer: OpenAnswer, limits: WorkerLimits, wait: Wait, *, is_locked: bool) -> None:
        self._wait = wait
        self._cpu_s = limits.cpu_s
        # Spawned, not forked: this process has threads, and a child must not inherit the pipes of its siblings.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_work, args=(theirs, open_answer, limits, is_locked), name="case-worker", daemon=True
        )
        self._process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        """Wait until it can answer."""
        self._receive()

    def ask(self, chunk: Chunk, limit_s: float) -> Answered | None:
        """Return its answer, `None` if it is not allowed to give one; raises if there is none within `limit_s`."""
        try:
            self._connection.send(chunk)
            has_come = self._wait(self._connection, limit_s)
        except OSError:
            raise self._died() from None
        if not has_come:
            raise _WorkerDiedError(f"gave no answer within {limit_s:g} s and was ended")
        answer = self._receive()
        assert answer is None or isinstance(answer, Answered)
        return answer

    def kill(self) -> None:
        """End it, whatever it does."""
        with suppress(OSError, ValueError):
            self._process.kill()
        self._process.join()

    def _receive(self) -> object:
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            raise self._died() from None

    def _died(self) -> _WorkerDiedError:
        self._process.join(_ENDING_S)
        status = self._process.exitcode
        if status is None:
            return _WorkerDiedError("closed its pipe and did not end")
        if status == -signal.SIGPROF:
            return _WorkerDiedError(f"took more than {self._cpu_s:g} s of processor time and was ended")
        if status < 0:
            return _WorkerDiedError(f"was killed by signal {-status}")
        return _WorkerDiedError(f"ended with status {status}")


def _work(connection: Connection, open_answer: OpenAnswer, limits: WorkerLimits, is_locked: bool) -> None:  # noqa: FBT001  # of a process
    """Answer chunks until the pipe is closed; runs in the worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent ends us
    forbid_network()
    with open_answer() as answer:
        memory = Memory()
        if is_locked:
            _lock()
        memory.allow(limits.memory_mb)
        connection.send(None)  # ready
        with suppress(EOFError, BrokenPipeError, ConnectionResetError):
            while True:
                connection.send(_answer(connection.recv(), _limit_cpu(answer, limits.cpu_s)))


def _lock() -> None:
    for name in set(os.environ) - set(_KEPT_ENVIRONMENT):
        del os.environ[name]
    lock_in(readable=Readable())


def _answer(chunk: Chunk, answer: Answer) -> Answered | None:
    try:
        return answer_chunk(chunk, answer)
    except NeedsMoreError:
        return None


def _limit_cpu(answer: Answer, cpu_s: float) -> Answer:
    """Return `answer` with a limit of processor time; exceeding it kills this process."""

    def timed(case: JSONObject) -> Answered:
        allow_cpu(cpu_s)
        try:
            return answer(case)
        finally:
            allow_cpu(0)

    return timed
