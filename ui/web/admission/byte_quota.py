"""How many bytes arrived from each visitor within a minute, refused ones included: they had to be read, too.

The pages of a visitor share the visitor's quota: once it is used up, a page that has used less than its even share may
still continue. Which page sent a body is known only once it is read, so until then the visitor's quota alone counts.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from prompt_debugger.ui.web.admission.payloads import PayloadError

_MINUTE_S = 60.0
_GRAIN_S = 1.0  # parts that arrive within it are remembered as one
_MAX_VISITORS = 4_000
_MAX_PAGES = 256  # of one visitor


@dataclass(slots=True)
class _Received:
    """What arrived within the last minute: when and how many bytes, in all and for each page."""

    parts: deque[list[float]] = field(default_factory=deque)
    total: float = 0
    pages: OrderedDict[str, _Received] = field(default_factory=OrderedDict)

    def forget(self, until_s: float) -> None:
        while self.parts and self.parts[0][0] <= until_s:
            self.total -= self.parts.popleft()[1]

    def add(self, now_s: float, size: int) -> None:
        if not self.parts or self.parts[-1][0] <= now_s - _GRAIN_S:
            self.parts.append([now_s, 0])
        self.parts[-1][1] += size
        self.total += size

    def page(self, name: str, until_s: float) -> _Received:
        """Return what arrived from a page; pages from which nothing arrived are forgotten."""
        for other, received in [*self.pages.items()]:
            received.forget(until_s)
            if not received.parts and other != name:
                del self.pages[other]
        found = self.pages.setdefault(name, _Received())
        self.pages.move_to_end(name)
        while len(self.pages) > _MAX_PAGES:
            self.pages.popitem(last=False)
        return found


class ByteQuota:
    """Counts the bytes of bodies by visitor, and by their pages."""

    def __init__(self, most_bytes: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes = most_bytes
        self._clock = clock
        self._by_visitor: OrderedDict[str, _Received] = OrderedDict()

    def note(self, visitor: str, size: int) -> None:
        """Count bytes of a visitor without a check; the reader of the body calls `judge_page` later."""
        if self._most_bytes is not None:
            self._of(visitor).add(self._clock(), size)

    def count(self, visitor: str, size: int = 0) -> None:
        """Count bytes of a visitor.

        Raises:
            PayloadError: There were too many within the last minute.
        """
        if self._most_bytes is None:
            return
        received = self._of(visitor)
        if received.total >= self._most_bytes:
            raise self._refusal(received, "address")
        received.add(self._clock(), size)

    def judge_page(self, visitor: str, page: str, size: int) -> None:
        """Count bytes for a page; they were counted for its visitor already.

        Raises:
            PayloadError: There were too many of the visitor within the last minute, and of the page at least as many as
                if each of the visitor's pages had sent equally many.
        """
        if self._most_bytes is None:
            return
        received, now_s = self._of(visitor), self._clock()
        own = received.page(page, now_s - _MINUTE_S)
        if received.total > self._most_bytes and own.total >= self._most_bytes / len(received.pages):
            raise self._refusal(own, "page")
        own.add(now_s, size)

    def _of(self, visitor: str) -> _Received:
        received = self._by_visitor.setdefault(visitor, _Received())
        self._by_visitor.move_to_end(visitor)
        received.forget(self._clock() - _MINUTE_S)
        while len(self._by_visitor) > _MAX_VISITORS:
            self._by_visitor.popitem(last=False)
        return received

    def _refusal(self, received: _Received, whose: str) -> PayloadError:
        wait_s = max(1, round(received.parts[0][0] + _MINUTE_S - self._clock()))
        message = f"Your {whose} has sent {received.total / 1e6:,.0f} MB within a minute: continue in {wait_s} s."
        return PayloadError(message, 429)
