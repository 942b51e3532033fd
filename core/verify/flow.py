"""How many questions are under way at once: as many as keep a server busy, and not so many that it drowns.

The limit doubles while more questions bring more answers per second. From then on it grows by one per round of
answers, shrinks a little when answers get slower without coming more often, and by a third when the server says it
has too much, fails or times out (additive increase, multiplicative decrease). A fixed limit stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_FIRST = 8
_MOST = 256
_SHRINK = 0.67


class Flow:
    """The places for questions under way.

    Args:
        fixed: A limit that stays; `None` lets it find its own.
        clock: Seconds that only grow.
    """

    def __init__(self, fixed: int | None, clock: Callable[[], float]) -> None:
        self._fixed = fixed
        self._clock = clock
        self._limit = float(fixed or _FIRST)
        self._is_doubling = True
        self._has_room = asyncio.Condition()
        self._paused_until = 0.0
        self._shrunk_at = -1.0
        self._window_began = clock()
        self._window_count = 0
        self._window_seconds = 0.0
        self._best_rate = 0.0
        self._best_latency = float("inf")
        self.in_flight = 0

    @property
    def limit(self) -> int:
        """How many may be under way."""
        return max(1, int(self._limit))

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place; waits for one."""
        await self.take()
        try:
            yield
        finally:
            await self.give_back()

    async def take(self) -> None:
        """Wait for a place, and while the server asked to be left alone."""
        async with self._has_room:
            await self._has_room.wait_for(lambda: self.in_flight < self.limit)
            self.in_flight += 1
        try:
            await self.rest()
        except BaseException:
            await self.give_back()
            raise

    async def give_back(self) -> None:
        """Leave a place to who waits."""
        async with self._has_room:
            self.in_flight -= 1
            self._has_room.notify_all()

    async def rest(self) -> None:
        """Wait while the server asked to be left alone."""
        while (wait_s := self._paused_until - self._clock()) > 0:
            await asyncio.sleep(wait_s)

    def pause(self, seconds: float) -> None:
        """Let nobody ask for a while."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def note_answer(self, took_s: float) -> None:
        """Learn from an answer."""
        self._window_count += 1
        self._window_seconds += took_s
        if self._fixed is None and self._window_count >= self.limit:
            self._judge_window()

    def note_strain(self, asked_at: float) -> None:
        """Learn from a failure; those of one round of questions shrink the limit once.

        Args:
            asked_at: When the question went out.
        """
        if self._fixed is not None or asked_at <= self._shrunk_at:
            return
        self._shrunk_at = self._clock()
        self._is_doubling = False
        self._limit = max(1.0, self._limit * _SHRINK)
        self._best_rate = 0.0
        self._begin_window()

    def _judge_window(self) -> None:
        elapsed = max(self._clock() - self._window_began, 1e-6)
        rate, latency = self._window_count / elapsed, self._window_seconds / self._window_count
        brings_more = rate > self._best_rate * 1.1
        if self._is_doubling and brings_more:
            self._limit = min(_MOST, self._limit * 2)
        elif self._is_doubling:
            self._is_doubling = False
            self._limit = max(1.0, self._limit * 0.75)
        elif latency > 2 * self._best_latency and not brings_more and self._limit > _FIRST:
            self._limit = max(float(_FIRST), self._limit * 0.95)
        else:
            self._limit = min(_MOST, self._limit + 1)
        self._best_rate = max(rate, self._best_rate * 0.98)
        self._best_latency = min(latency, self._best_latency * 1.02)
        self._begin_window()

    def _begin_window(self) -> None:
        self._window_began, self._window_count, self._window_seconds = self._clock(), 0, 0.0
