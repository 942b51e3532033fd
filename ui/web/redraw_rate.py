"""How often what waits draws: where many do, less often, for all of them draw in the page's one process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TICK_S = 0.5  # a closed tab is noticed at the next tick
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
