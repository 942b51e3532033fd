"""Who waits for a helper: one after the other, and whoever leaves ends their own question, nobody else's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from prompt_debugger.core.errors import EngineError
from prompt_debugger.core.room.turns import TURN

T = TypeVar("T")


class HelperLine:
    """Jobs for one helper, in one thread: it orders them, and the kernel ties a helper's life to it.

    Args:
        name: Of the thread.
        end: Ends the helper's work at once, without waiting; the job under way hears of it as an error.
    """

    def __init__(self, name: str, end: Callable[[], None]) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._end = end
        self._under_way: object = None
        self._changing = threading.Lock()

    async def run(self, job: Callable[[], T]) -> T:
        """Await a job; cancelling, or the end of the visitor's turn, takes it out of the line, or ends it."""
        future, ticket = self._submit(job)
        with self._with_turn(future, ticket):
            try:
                return await asyncio.wrap_future(future)
            except asyncio.CancelledError:
                self._leave(future, ticket)
                raise

    def call(self, job: Callable[[], T]) -> T:
        """Wait for a job in a thread; the end of the visitor's turn takes it out of the line, or ends it.

        Raises:
            EngineError: It was taken out.
        """
        future, ticket = self._submit(job)
        with self._with_turn(future, ticket):
            try:
                return future.result()
            except CancelledError:
                raise EngineError("The question was stopped.") from None

    def close(self, last: Callable[[], None]) -> None:
        """Do one last thing in the thread, and end it."""
        self._thread.submit(last)
        self._thread.shutdown(wait=True)

    def _submit(self, job: Callable[[], T]) -> tuple[Future[T], object]:
        ticket = object()

        def work() -> T:
            with self._changing:
                self._under_way = ticket
            try:
                return job()
            finally:
                with self._changing:
                    self._under_way = None

        return self._thread.submit(work), ticket

    def _with_turn(self, future: Future[T], ticket: object) -> AbstractContextManager[None]:
        turn = TURN.get()
        return nullcontext() if turn is None else turn.also_ending(lambda: self._leave(future, ticket))

    def _leave(self, future: Future[T], ticket: object) -> None:
        if future.cancel():
            return
        with self._changing:
            if self._under_way is ticket:
                self._end()
