"""Returns memory that visitors' work has freed to the system: Python and the C library would keep it.

What was held in cycles waits for a collection that an idle page never comes to, and what threads have freed stays in
pools of the C library, up to 64 MB in each of many. Measured: after pages that each sent texts of megabytes had gone,
a page of 193 MB stayed at 533 MB for good, although it held nothing of theirs.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import time
from collections.abc import Callable, Hashable
from contextlib import suppress

BUSY_S = 60.0  # at most this often where something is always running
_POOLS = 2
_LARGE_BYTES = 262_144
# Numbers of glibc's <malloc.h>; another C library has no `mallopt`, or one that does not know them.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8


def keep_little() -> None:
    """Let threads share few pools, and give each large text memory of its own, which goes back when it is freed."""
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, _POOLS)
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)


def give_back() -> None:
    """Collect what is held in cycles, and give what is free back to the system."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


class MemoryRelease:
    """When memory is given back: once nothing is running, after something did."""

    def __init__(self, give: Callable[[], object] = give_back, clock: Callable[[], float] = time.monotonic) -> None:
        self._give = give
        self._clock = clock
        self._seen: Hashable = None
        self._given_s = clock()

    async def look(self, stamp: Hashable, *, is_busy: bool) -> None:
        """Give back what is free, unless an event is running, or none came since: each event changes the stamp."""
        if stamp == self._seen or (is_busy and self._clock() - self._given_s < BUSY_S):
            return
        self._seen = None if is_busy else stamp  # what is running now is to be cleaned up after, too
        self._given_s = self._clock()
        await asyncio.to_thread(self._give)
