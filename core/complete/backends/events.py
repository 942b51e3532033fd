"""The events of a stream as they come, within bounds, and never many at a time.

What a server sends is read on the event loop, which a page shares with all its tabs: after each bit of work others have
their turn. A stream without an end is cut at one of the bounds of `limits`, and what had come is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from prompt_debugger.core.complete.backends.decoding import Text
from prompt_debugger.core.complete.backends.failures import failure_of_length
from prompt_debugger.core.complete.backends.http import ByteStream
from prompt_debugger.core.complete.backends.limits import MAX_EVENT_BYTES, MAX_EVENTS, MAX_LINES, MAX_UNREADABLE
from prompt_debugger.core.complete.backends.sse import SseEvent, SseParser

_SLICE_BYTES = 4_096
_EVENTS_AT_ONCE = 64


class EventReader:
    """Reads one stream."""

    def __init__(self, stream: ByteStream) -> None:
        self._received = Text()
        self._stream = stream
        self._parser = SseParser()
        self._count = 0
        self._since_rest = 0

    @property
    def text(self) -> str:
        """All that came, as text; U+FFFD where it was not UTF-8."""
        return self._received.whole

    async def read(self, feed: Callable[[SseEvent], Awaitable[None]], is_done: Callable[[], bool]) -> None:
        """Feed events until the stream ends, or it is done.

        Raises:
            BackendError: It broke off, or went beyond a bound (kind `too-large`).
        """
        async for chunk in self._stream:
            self._received.add(chunk)
            self._check("bytes that are not UTF-8", self._received.unreadable_count, MAX_UNREADABLE)
            for piece in _slices(chunk):
                for event in self._parser.feed(piece):
                    self._check("events", self._count, MAX_EVENTS)
                    self._count += 1
                    await feed(event)
                    await self._rest_after(_SLICE_BYTES // _EVENTS_AT_ONCE)
                self._check("lines", self._parser.line_count, MAX_LINES)
                self._check("bytes in one event", self._parser.open_bytes, MAX_EVENT_BYTES)
                await self._rest_after(len(piece))
            if is_done():
                return

    async def finish(self, feed: Callable[[SseEvent], Awaitable[None]]) -> None:
        """Feed the event that the end of the stream cut off, if any."""
        for event in self._parser.finish():
            await feed(event)

    def _check(self, part: str, count: int, most: int) -> None:
        if count >= most:
            raise failure_of_length(self._stream.call, part, most, self._received.head)

    async def _rest_after(self, work: int) -> None:
        """Let others have their turn, now and then."""
        self._since_rest += work
        if self._since_rest >= _SLICE_BYTES:
            self._since_rest = 0
            await asyncio.sleep(0)


def _slices(chunk: bytes) -> Iterator[bytes]:
    for start in range(0, len(chunk), _SLICE_BYTES):
        yield chunk[start : start + _SLICE_BYTES]
