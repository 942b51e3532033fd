"""How much came in from each visitor within a minute, whatever became of it: what is refused had to be read, too.

The pages of a visitor share what the visitor may send: of one that sent it all, a page that had less than its even
share still continues. That is known once a body is read, so a long one is refused by its visitor alone.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from prompt_debugger.ui.web.admission.payloads import PayloadError

_MINUTE_S = 60.0
_GRAIN_S = 1.0  # parts that came within it are remembered as one
_MAX_VISITORS = 4_000
_MAX_PAGES = 256  # of one visitor


@dataclass(slots=True)
class _Came:
    """What came within the last minute: when, how many bytes; and which of them of which page."""

    parts: deque[list[float]] = field(default_factory=deque)
    total: float = 0
    pages: OrderedDict[str, _Came] = field(default_factory=OrderedDict)

    def forget(self, until_s: float) -> None:
        while self.parts and self.parts[0][0] <= until_s:
            self.total -= self.parts.popleft()[1]

    def add(self, now_s: float, size: int) -> None:
        if not self.parts or self.parts[-1][0] <= now_s - _GRAIN_S:
            self.parts.append([now_s, 0])
        self.parts[-1][1] += size
        self.total += size

    def page(self, name: str, until_s: float) -> _Came:
        """Return what came of a page; those of which nothing came are forgotten."""
        for other, came in [*self.pages.items()]:
            came.forget(until_s)
            if not came.parts and other != name:
                del self.pages[other]
        found = self.pages.setdefault(name, _Came())
        self.pages.move_to_end(name)
        while len(self.pages) > _MAX_PAGES:
            self.pages.popitem(last=False)
        return found


class ByteQuota:
    """Counts the bytes of bodies by visitor, and by their pages.

    Args:
        most_bytes: Of a visitor within a minute; `None` for any.
        clock: Seconds.
    """

    def __init__(self, most_bytes: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes = most_bytes
        self._clock = clock
        self._came: OrderedDict[str, _Came] = OrderedDict()

    def note(self, visitor: str, size: int) -> None:
        """Count some bytes of a visitor; anyone who reads them judges the page that they are of."""
        if self._most_bytes is not None:
            self._of(visitor).add(self._clock(), size)

    def count(self, visitor: str, size: int = 0) -> None:
        """Count some bytes of a visitor.

        Raises:
            PayloadError: There were too many within the last minute.
        """
        if self._most_bytes is None:
            return
        came = self._of(visitor)
        if came.total >= self._most_bytes:
            raise self._refusal(came, "address")
        came.add(self._clock(), size)

    def judge_page(self, visitor: str, page: str, size: int) -> None:
        """Count bytes of a visitor that were counted as theirs already as those of one of their pages.

        Raises:
            PayloadError: There were too many of the visitor within the last minute, and of the page at least as many as
                if each of the visitor's pages had sent equally many.
        """
        if self._most_bytes is None:
            return
        came, now_s = self._of(visitor), self._clock()
        own = came.page(page, now_s - _MINUTE_S)
        if came.total > self._most_bytes and own.total >= self._most_bytes / len(came.pages):
            raise self._refusal(own, "page")
        own.add(now_s, size)

    def _of(self, visitor: str) -> _Came:
        came = self._came.setdefault(visitor, _Came())
        self._came.move_to_end(visitor)
        came.forget(self._clock() - _MINUTE_S)
        while len(self._came) > _MAX_VISITORS:
            self._came.popitem(last=False)
        return came

    def _refusal(self, came: _Came, whose: str) -> PayloadError:
        wait_s = max(1, round(came.parts[0][0] + _MINUTE_S - self._clock()))
        message = f"Your {whose} has sent {came.total / 1e6:,.0f} MB within a minute: continue in {wait_s} s."
        return PayloadError(message, 429)
