"""How often waiting work redraws: less often when much of it waits, as it all draws in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

TICK_S = 0.5  # a closed tab is noticed at the next tick
T = TypeVar("T")
_DRAWING_AT_ONCE = 4  # that draw as often as one alone


class RedrawRate:
    """Counts what draws; for one event loop."""

    def __init__(self) -> None:
        self._drawing = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count one more that draws, for as long as the block."""
        self._drawing += 1
        try:
            yield
        finally:
            self._drawing -= 1

    def factor(self) -> float:
        """Return how much less often than alone each draws what has not changed."""
        return max(1.0, self._drawing / _DRAWING_AT_ONCE)

    async def tick(self, task: asyncio.Future[Any]) -> bool:
        """Wait for a task, for a tick at most; longer where many wait. Returns whether it has ended."""
        ended, _ = await asyncio.wait({task}, timeout=TICK_S * self.factor())
        return bool(ended)


async def ticks_until(task: asyncio.Future[Any], redraw_rate: RedrawRate) -> AsyncGenerator[None, None]:
    """Yield at every tick until a task has ended; closing it ends the task."""
    try:
        with redraw_rate.counted():
            while not await redraw_rate.tick(task):
                yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


async def ticking(steps: AsyncIterator[T], redraw_rate: RedrawRate) -> AsyncGenerator[T | None, None]:
    """Yield what comes, and `None` at every tick until then; closing it ends what is running.

    Where many wait it ticks less often.
    """
    step = asyncio.ensure_future(next_or_none(steps))
    try:
        with redraw_rate.counted():
            while True:
                if not await redraw_rate.tick(step):
                    yield None
                    continue
                if not (come := step.result()):
                    return
                yield come[0]
                step = asyncio.ensure_future(next_or_none(steps))
    finally:
        step.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await step
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()


async def next_or_none(steps: AsyncIterator[T]) -> tuple[T] | None:
    """Return what comes next; `None` at the end."""
    try:
        return (await anext(steps),)
    except StopAsyncIteration:
        return None
