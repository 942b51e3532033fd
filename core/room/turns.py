"""A visitor's turn: work in a thread that asks the room now and then, ended as a whole.

Python cannot end a thread. But a thread whose question is stopped, and that gets
no further answers, ends by itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from typing import ParamSpec, Protocol, TypeVar

from prompt_debugger.core.errors import RoomError
from prompt_debugger.core.room.lane import Lane, LaneProcess
from prompt_debugger.core.room.lanes import AnyProcess, Lanes
from prompt_debugger.core.room.threads import begin

P = ParamSpec("P")
T = TypeVar("T")

_STOPPED = "the work was stopped"


class _Waiting(Protocol):
    """What somebody waits for."""

    def cancel(self) -> bool:
        """Wait no longer."""
        ...


class Turn:
    """The questions of one visitor's event or thread; ended from another thread."""

    def __init__(self) -> None:
        self._waiting: set[_Waiting] = set()
        self._held: dict[Lane[LaneProcess], int] = {}
        self._others: list[Callable[[], None]] = []
        self._is_over = False
        self._changing = threading.Lock()

    def wait_for_lane(self, lanes: Lanes[AnyProcess]) -> Lane[AnyProcess]:
        """Return a lane once it is there.

        Raises:
            RoomError: The turn is over.
        """
        future = lanes.take()
        with self._changing:
            self._waiting.add(future)
            is_over = self._is_over
        if is_over:
            self._waiting.discard(future)
            lanes.give_up(future)
            raise RoomError(_STOPPED, limit="stopped")
        try:
            lane = future.result()
        except CancelledError:
            raise RoomError(_STOPPED, limit="stopped") from None
        finally:
            with self._changing:
                self._waiting.discard(future)
        with self._changing:
            self._held[lane] = lane.job_number
            is_over = self._is_over
        if is_over:
            lane.stop(lane.job_number)
        return lane

    def leave(self, lane: Lane[LaneProcess]) -> None:
        """Say that a question was answered."""
        with self._changing:
            self._held.pop(lane, None)

    @contextmanager
    def also_ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Within the block, end something else with the turn: a question to a helper that is not of a room."""
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
        for lane, job_number in held:
            lane.stop(job_number)
        for end in others:
            end()


TURN: ContextVar[Turn | None] = ContextVar("turn of the work under way", default=None)


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Await a function that runs in a thread and asks the room; cancelling ends its question, and so the thread.

    The end of a turn that goes on here ends it, too.
    """
    turn, context, outer = Turn(), copy_context(), TURN.get()
    context.run(TURN.set, turn)
    with nullcontext() if outer is None else outer.also_ending(turn.end):
        work = begin(lambda: context.run(function, *args, **kwargs), "turn")
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            turn.end()
            raise
