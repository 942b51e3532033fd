"""Whether this process has time left besides asking: reading answers waits while it has none.

Asking must not wait for reading. A server takes seconds for most answers, and then
there is time for both; where it answers faster than we can do both, answers wait in the journal until all is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_LOOK_S = 0.2
_BUSY = 0.6


class Backpressure:
    """Looks now and then at how busy this process is."""

    def __init__(self, clock: Callable[[], float], worked: Callable[[], float]) -> None:
        self._clock = clock
        self._worked = worked
        self._is_there = asyncio.Event()
        self._last = clock(), worked()

    def look(self) -> None:
        """Learn from what was used since the last look."""
        now, worked = self._clock(), self._worked()
        elapsed, used = now - self._last[0], worked - self._last[1]
        self._last = now, worked
        if used < _BUSY * elapsed:
            self._is_there.set()
        else:
            self._is_there.clear()

    async def keep_looking(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self.look()

    def end(self) -> None:
        """Know that from now on there is time: all is asked."""
        self._is_there.set()

    async def wait(self) -> None:
        """Wait until there is time."""
        await self._is_there.wait()
