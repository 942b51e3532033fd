"""A time limit for the heads of requests: uvicorn would wait for them forever."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:

    class _Cycle(Protocol):
        """A request of uvicorn's, from its head to the end of its answer."""

        response_complete: bool


class TimedHeads(asyncio.Protocol):
    """Closes a connection on which a head does not come to its end; the first attributes are uvicorn's own.

    A connection that is kept after an answer, and on which nothing came since, is uvicorn's to close.

    Attributes:
        head_s: Seconds for the head of a request, from the connection's start or the first byte after an answer.
    """

    cycle: _Cycle | None
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport

    head_s: float
    _timer: asyncio.TimerHandle | None = None
    _idle_since_s = 0.0
    _last_cycle: object = None
    _has_begun = True  # a head, or the connection itself

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count."""
        super().connection_made(transport)
        self._idle_since_s = self.loop.time()
        self._look_again()

    def data_received(self, data: bytes) -> None:
        """Count from the first byte of a head."""
        if not self._has_begun:
            self._has_begun, self._idle_since_s = True, self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Count nothing until more comes."""
        self._has_begun = False
        super().on_response_complete()  # type: ignore[misc]  # uvicorn's protocol has it

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._timer = self.loop.call_later(self.head_s / 4, self._look)

    def _look(self) -> None:
        """Close the connection if a head has begun on it long ago."""
        now_s, cycle = self.loop.time(), self.cycle
        is_new = cycle is not self._last_cycle
        if is_new or (cycle is not None and not cycle.response_complete):
            self._last_cycle, self._idle_since_s = cycle, now_s
        elif self._has_begun and now_s - self._idle_since_s >= self.head_s:
            self.transport.abort()
            return
        self._look_again()
