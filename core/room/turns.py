"""A visitor's turn: work in a thread that asks the room now and then, ended as a whole.

Python cannot end a thread. But a thread whose question is stopped, and that gets
no further answers, ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

from prompt_debugger.core.errors import RoomError
from prompt_debugger.core.room.lanes import Lane, Lanes

P = ParamSpec("P")
T = TypeVar("T")

_STOPPED = "the work was stopped"


class Turn:
    """The questions of one thread, one after the other; ended from another one."""

    def __init__(self) -> None:
        self._waiting: Future[Lane] | None = None
        self._held: tuple[Lane, int] | None = None
        self._is_over = False

    def wait_for_lane(self, lanes: Lanes) -> Lane:
        """Return a lane once it is there.

        Raises:
            RoomError: The turn is over.
        """
        future = self._waiting = lanes.take()
        if self._is_over:
            lanes.give_up(future)
            raise RoomError(_STOPPED, limit="stopped")
        try:
            lane = future.result()
        except CancelledError:
            raise RoomError(_STOPPED, limit="stopped") from None
        self._held = lane, lane.job_number
        if self._is_over:
            lane.stop(lane.job_number)
        return lane

    def end(self) -> None:
        """Stop the question under way, and refuse those to come."""
        self._is_over = True
        waiting, held = self._waiting, self._held
        if waiting is not None and not waiting.cancel() and held is not None:
            lane, job_number = held
            lane.stop(job_number)


TURN: ContextVar[Turn | None] = ContextVar("turn of the work under way", default=None)


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Await a function that runs in a thread and asks the room; cancelling ends its question, and so the thread."""
    turn, context = Turn(), copy_context()
    context.run(TURN.set, turn)
    work = asyncio.get_running_loop().run_in_executor(None, lambda: context.run(function, *args, **kwargs))
    try:
        return await work
    except asyncio.CancelledError:
        turn.end()
        raise
