"""The httpx clients of one connection: as many small pools as questions under way fill.

With each request httpx looks at every connection of a pool, and with each answer again: at 256 in one pool that
takes longer than the request. In small pools it does not grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

_AT_ONCE = 8


@dataclass(slots=True)
class _Pool:
    client: httpx.AsyncClient
    under_way: int = 0


class Clients:
    """The clients; the first with room is taken, so few questions share few connections.

    Args:
        build: Makes one.
    """

    def __init__(self, build: Callable[[], httpx.AsyncClient]) -> None:
        self._build = build
        self._pools = [_Pool(build())]

    @contextmanager
    def take(self) -> Iterator[httpx.AsyncClient]:
        """Give a client for one question, until its answer is read."""
        pool = next((pool for pool in self._pools if pool.under_way < _AT_ONCE), None)
        if pool is None:
            pool = _Pool(self._build())
            self._pools.append(pool)
        pool.under_way += 1
        try:
            yield pool.client
        finally:
            pool.under_way -= 1

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.client.aclose()
