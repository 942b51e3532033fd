"""A limit of time for the heads of requests: uvicorn waits for them forever."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:

    class _Cycle(Protocol):
        """A request of uvicorn's, from its head to the end of its answer."""

        response_complete: bool


class TimedHeads(asyncio.Protocol):
    """Closes a connection on which no request has been under way for long; the first attributes are uvicorn's own.

    Attributes:
        head_s: Seconds for the head of a request, from the connection's start or the end of the answer before.
    """

    cycle: _Cycle | None
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport

    head_s: float
    _timer: asyncio.TimerHandle | None = None
    _idle_since_s = 0.0
    _last_cycle: object = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count."""
        super().connection_made(transport)
        self._idle_since_s = self.loop.time()
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._timer = self.loop.call_later(self.head_s / 4, self._look)

    def _look(self) -> None:
        """Close the connection if no request is under way on it, and none has been for long."""
        now_s, cycle = self.loop.time(), self.cycle
        is_new = cycle is not self._last_cycle
        if is_new or (cycle is not None and not cycle.response_complete):
            self._last_cycle, self._idle_since_s = cycle, now_s
        elif now_s - self._idle_since_s >= self.head_s:
            self.transport.abort()
            return
        self._look_again()
