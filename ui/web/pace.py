"""How often what waits draws: where many do, less often, for all of them draw in the page's one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_DRAWING_AT_ONCE = 4  # that draw as often as one alone


class Pace:
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
