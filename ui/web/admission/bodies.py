"""A body read within bounds of length, time and memory.

A body that is begun and not continued holds a connection and memory. So a body must keep coming, and when the
places are taken, who has sent nothing for longest gives way: someone whose body comes at once is never held up by
them. Nobody gives a place up in the first moment, or fifty people of one class who press Run together would lose
bodies that have arrived and were only not read yet. Where memory is short, it is given up at once.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from prompt_debugger.ui.web.admission.payloads import PayloadError

IDLE_S = 5.0  # between two parts of a body
WHOLE_S = 60.0  # for all of it
QUIET_S = 1.0  # without a part, before a body gives its place to another
MAX_READERS = 64  # bodies that come in at the same time
MAX_READERS_PER_VISITOR = 16
MAX_BODIES_HELD = 8  # bytes of unfinished bodies, in bodies of the greatest length

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


@dataclass(eq=False, slots=True)
class _Reader:
    visitor: str
    limit: asyncio.Timeout
    heard_s: float
    size: int = 0
    gives_way_after_s: float | None = None

    def ends_after(self, quiet_s: float) -> bool:
        """Whether it has ended, or will as soon as it has been silent for so long."""
        return self.limit.expired() or (self.gives_way_after_s is not None and self.gives_way_after_s <= quiet_s)

    def give_way(self, quiet_s: float) -> None:
        """Let it end as soon as it has been silent for so long; the next part of it saves it."""
        if not self.limit.expired():
            self.gives_way_after_s = quiet_s
            self.limit.reschedule(self.heard_s + quiet_s)


class BodyMemory:
    """Reads bodies for one event loop."""

    def __init__(
        self, max_bytes: int, *, idle_s: float = IDLE_S, whole_s: float = WHOLE_S, quiet_s: float = QUIET_S
    ) -> None:
        self.max_bytes = max_bytes
        self._idle_s = idle_s
        self._whole_s = whole_s
        self._quiet_s = quiet_s
        self._readers: list[_Reader] = []

    async def read(self, receive: Receive, visitor: str) -> bytes | None:
        """Return a whole body; `None` if the visitor left before its end.

        Raises:
            PayloadError: It is too long, or did not come in time.
        """
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._idle_s) as limit:
                reader = _Reader(visitor, limit, started_s)
                self._readers.append(reader)
                try:
                    self._free_a_place(reader)
                    while True:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            return None
                        part = message.get("body", b"")
                        parts.append(part)
                        self._count(reader, len(part))
                        if not message.get("more_body", False):
                            return b"".join(parts)
                        reader.heard_s = loop.time()
                        if not limit.expired():
                            reader.gives_way_after_s = None
                            limit.reschedule(min(reader.heard_s + self._idle_s, started_s + self._whole_s))
                finally:
                    self._readers.remove(reader)
        except TimeoutError:
            raise PayloadError("The request did not arrive completely in time.", 408) from None

    def _count(self, reader: _Reader, size: int) -> None:
        reader.size += size
        if reader.size > self.max_bytes:
            raise PayloadError(too_long(self.max_bytes), 413)
        while sum(one.size for one in self._readers) > MAX_BODIES_HELD * self.max_bytes:
            if not self._end_slowest([one for one in self._readers if one.size and one is not reader], 0.0):
                return

    def _free_a_place(self, reader: _Reader) -> None:
        others = [one for one in self._readers if one is not reader and not one.limit.expired()]
        own = [one for one in others if one.visitor == reader.visitor]
        if len(own) >= MAX_READERS_PER_VISITOR:
            self._end_slowest(own, self._quiet_s)
        elif len(others) >= MAX_READERS:
            self._end_slowest(others, self._quiet_s)

    def _end_slowest(self, readers: list[_Reader], quiet_s: float) -> bool:
        waiting = [one for one in readers if not one.ends_after(quiet_s)]
        if not waiting:
            return False
        min(waiting, key=lambda one: one.heard_s).give_way(quiet_s)
        return True


def too_long(max_bytes: int) -> str:
    """Return the words for a body that is too long."""
    return f"The message is longer than the {max_bytes:,} bytes that this page accepts: shorten the text."


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
    """Counts the bytes of bodies by visitor and by their pages, of refused ones too: they had to be read.

    The pages of a visitor share the visitor's quota: once it is used up, a page that has used less than its even share
    may still continue. Which page sent a body is known only once it is read, so until then the visitor's quota counts.
    """

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
