"""How many questions are under way at once: as many as keep a server busy, and not so many that it drowns.

The limit doubles while more questions bring more answers per second. From then on it grows by one per round of
answers, up to twice the fewest questions that brought as many answers; shrinks a little beyond, or when answers get
slower without coming more often; and by a third when the server says it has too much, fails or times out, after
which it comes near the same number slowly (additive increase, multiplicative decrease). A fixed limit stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_FIRST = 8
_MAX_CONCURRENCY = 256
_SHRINK = 0.67
_MORE = 1.1  # a gain that is not chance
_FORGET = 0.005  # of the best latency, with each round: servers change


class Flow:
    """The places for questions under way: a fixed limit, or one that it finds."""

    def __init__(self, fixed: int | None, clock: Callable[[], float]) -> None:
        self._fixed = fixed
        self._clock = clock
        self._limit = float(fixed or _FIRST)
        self._is_doubling = True
        self._has_capacity = asyncio.Condition()
        self._paused_until = 0.0
        self._shrunk_at = -1.0
        self._window_began = clock()
        self._window_count = 0
        self._window_seconds = 0.0
        self._knee_limit = 0.0  # the fewest questions that bring
        self._knee_rate = 0.0  # as many answers a second
        self._best_latency = float("inf")
        self._too_many = float("inf")
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
        async with self._has_capacity:
            await self._has_capacity.wait_for(lambda: self.in_flight < self.limit)
            self.in_flight += 1
        try:
            await self.rest()
        except BaseException:
            await self.give_back()
            raise

    async def give_back(self) -> None:
        """Leave a place to who waits."""
        async with self._has_capacity:
            self.in_flight -= 1
            self._has_capacity.notify_all()

    async def rest(self) -> None:
        """Wait while the server asked to be left alone."""
        while (wait_s := self._paused_until - self._clock()) > 0:
            await asyncio.sleep(wait_s)

    def pause(self, seconds: float) -> None:
        """Let no one ask for a while."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def note_answer(self, took_s: float) -> None:
        """Learn from an answer; one that was requested under another limit is ignored."""
        if self._clock() - took_s < self._window_began:
            return
        self._window_count += 1
        self._window_seconds += took_s
        if self._fixed is None and self._window_count >= self.limit:
            self._judge_window()

    def note_failure(self, asked_at: float) -> None:
        """Lower the limit after a failure, once for all failures of one round, by when requests were sent."""
        if self._fixed is not None or asked_at <= self._shrunk_at:
            return
        self._shrunk_at = self._clock()
        self._is_doubling = False
        self._too_many = self._limit
        self._limit = max(1.0, self._limit * _SHRINK)
        self._knee_rate = 0.0
        self._begin_window()

    def _judge_window(self) -> None:
        latency = max(self._window_seconds / self._window_count, 1e-6)
        rate = self._limit / latency  # Little's law; answers that come in bursts do not disturb it
        brings_more = rate > self._knee_rate * _MORE
        if self._limit < self._knee_limit:
            is_new = rate * _MORE > self._knee_rate  # fewer do as well
        else:
            is_new = rate * _MORE * _MORE < self._knee_rate  # the server has changed
        if brings_more or is_new:
            self._knee_limit, self._knee_rate = self._limit, rate
        most = max(float(_FIRST), 2 * self._knee_limit)
        if self._is_doubling and brings_more:
            self._limit *= 2
        elif self._is_doubling:
            self._is_doubling = False
            self._limit = max(1.0, self._limit * 0.75)
        elif self._limit > most or (latency > 2 * self._best_latency and not brings_more and self._limit > _FIRST):
            self._limit = max(float(_FIRST), self._limit * 0.95)
        elif self._limit + 1 <= most:
            self._grow()
        self._limit = min(float(_MAX_CONCURRENCY), self._limit)
        self._best_latency = min(latency, self._best_latency * (1 + _FORGET))
        self._begin_window()

    def _grow(self) -> None:
        is_near = self._limit + 1 >= self._too_many
        self._limit += 0.2 if is_near else 1.0
        if self._limit > self._too_many:
            self._too_many = float("inf")  # it is not too many any more

    def _begin_window(self) -> None:
        self._window_began, self._window_count, self._window_seconds = self._clock(), 0, 0.0
