"""What a connection may cost before a request on it is complete: bytes, time, and how many there are.

The layers of ASGI begin once the head of a request is read. Uvicorn reads heads of any length, waits for them forever,
and takes as many connections as the system lets it; so its protocol is guarded here, whichever of its two it uses.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import uvicorn

from prompt_debugger.core.base.request_heads import TimedHeads
from prompt_debugger.ui.web.admission.counts import leaves_enough
from prompt_debugger.ui.web.admission.visitors import Network, is_trusted, visitor_of

HEAD_S = 10.0  # for the head of a request, from the connection's start or its first byte after an answer
# A browser that sends on a connection just as it is closed reports an error, for POST without another try. It closes
# those it does not need itself, after a minute or more; 5 s, which is uvicorn's own, are as long as people look.
KEPT_S = 75
KEPT_IF_MANY_S = 5
_MANY = 0.25  # of all the connections there may be
MAX_HEAD_BYTES = 64_000
MAX_CONNECTIONS = 1_024  # of all; one visitor has at most as many as stay free


class Connections:
    """The open connections of one server, by who opened them; a proxy's are those of many. For one event loop."""

    def __init__(self, proxies: tuple[Network, ...] = (), most: int = MAX_CONNECTIONS) -> None:
        self._proxies = proxies
        self._most = most
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    def are_many(self) -> bool:
        """Return whether so many are open that those without a request go soon."""
        return len(self) >= _MANY * self._most

    def enter(self, peer: str | None) -> str | None:
        """Count one more connection; return the name it is counted under, `None` if there are too many."""
        name = visitor_of(peer, (), ())
        own = 0 if is_trusted(peer, self._proxies) else self._open[name]
        if not leaves_enough(own, len(self), self._most):
            return None
        self._open[name] += 1
        return name

    def leave(self, name: str) -> None:
        """Count one connection less."""
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]


def guard_connections(server: uvicorn.Server, connections: Connections, *, head_s: float = HEAD_S) -> None:
    """Guard the connections that a server takes from now on."""
    config: Any = server.config
    guard = {"_connections": connections, "head_s": head_s}
    config.http_protocol_class = type("GuardedProtocol", (_Guard, config.http_protocol_class), guard)


class _Guard(TimedHeads):
    """Stands before a protocol of uvicorn's; the first attribute is that one's own."""

    client: tuple[str, int] | None
    timeout_keep_alive: int

    _connections: Connections
    _name: str | None = None
    _is_in_head = False
    _head_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._name = self._connections.enter(self.client[0] if self.client else None)
        if self._name is None:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._name is not None:
            self._connections.leave(self._name)
            self._name = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        self._is_in_head = True
        self._head_bytes = 0
        super().on_message_begin()  # type: ignore[misc]  # httptools calls it; h11 has a limit of its own

    def on_response_complete(self) -> None:
        self.timeout_keep_alive = KEPT_IF_MANY_S if self._connections.are_many() else KEPT_S
        super().on_response_complete()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()  # type: ignore[misc]  # likewise
