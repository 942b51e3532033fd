"""A visitor's turn: work in a thread that asks the sandbox now and then, ended as a whole.

Python cannot end a thread. But a thread whose question is stopped, and that gets
no further answers, ends on its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from typing import ParamSpec, Protocol, TypeVar

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox.inside import is_inside
from prompt_debugger.core.sandbox.threads import begin
from prompt_debugger.core.sandbox.worker import Worker, WorkerProcess
from prompt_debugger.core.sandbox.workers import AnyProcess, Workers

P = ParamSpec("P")
T = TypeVar("T")

_STOPPED = "The work was stopped."


class _Waiting(Protocol):
    """What someone waits for."""

    def cancel(self) -> bool:
        """Wait no longer."""
        ...


class Turn:
    """The questions of one visitor's event or thread; ended from another thread."""

    def __init__(self) -> None:
        self._waiting: set[_Waiting] = set()
        self._held: dict[Worker[WorkerProcess], int] = {}
        self._others: list[Callable[[], None]] = []
        self._is_over = False
        self._changing = threading.Lock()

    def wait_for_worker(self, workers: Workers[AnyProcess]) -> Worker[AnyProcess]:
        """Return a worker once it is there.

        Raises:
            SandboxError: The turn is over.
        """
        future = workers.take()
        with self._changing:
            self._waiting.add(future)
            is_over = self._is_over
        if is_over:
            self._waiting.discard(future)
            workers.give_up(future)
            raise SandboxError(_STOPPED, limit="stopped")
        try:
            worker = future.result()
        except CancelledError:
            raise SandboxError(_STOPPED, limit="stopped") from None
        finally:
            with self._changing:
                self._waiting.discard(future)
        with self._changing:
            self._held[worker] = worker.job_number
            is_over = self._is_over
        if is_over:
            worker.stop(worker.job_number)
        return worker

    def leave(self, worker: Worker[WorkerProcess]) -> None:
        """Say that a question was answered."""
        with self._changing:
            self._held.pop(worker, None)

    @contextmanager
    def also_ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Within the block, end something else with the turn: a question to a helper that is not of a sandbox."""
        with self._changing:
            self._others.append(end)
            is_over = self._is_over
        try:
            if is_over:
                end()
            yield
        finally:
            with self._changing:
                self._others.remove(end)

    def end(self) -> None:
        """Stop the questions under way, and refuse those to come."""
        with self._changing:
            self._is_over = True
            waiting, held, others = tuple(self._waiting), tuple(self._held.items()), tuple(self._others)
        for future in waiting:
            future.cancel()
        for worker, job_number in held:
            worker.stop(job_number)
        for end in others:
            end()


TURN: ContextVar[Turn | None] = ContextVar("turn of the work under way", default=None)


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Await a function that runs in a thread and asks the sandbox; cancelling ends its question, and so the thread.

    The end of the turn under way here ends it, too. Inside a sandbox, which has no other threads, it runs in place.
    """
    if is_inside():
        return function(*args, **kwargs)
    turn, context, outer = Turn(), copy_context(), TURN.get()
    context.run(TURN.set, turn)
    with nullcontext() if outer is None else outer.also_ending(turn.end):
        work = begin(lambda: context.run(function, *args, **kwargs), "turn")
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            turn.end()
            raise
