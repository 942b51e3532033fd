"""The httpx clients of one connection: as many small pools as questions under way fill.

With each request httpx looks at every connection of a pool, and with each answer again: at 256 in one pool that
takes longer than the request. In small pools it does not grow.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from prompt_debugger.core.complete.backends.outside import use_egress

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


def build_client(
    *,
    timeout: httpx.Timeout,
    limits: httpx.Limits,
    trust_env: bool,
    verify: ssl.SSLContext | bool,
    headers: Mapping[str, str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Return a client that follows no redirect, keeps no cookie, and opens its sockets through the egress alone."""
    client = httpx.AsyncClient(
        headers=headers,
        timeout=timeout,
        limits=limits,
        follow_redirects=False,
        transport=transport,
        trust_env=trust_env,
        verify=verify,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )
    for each in (client._transport, *client._mounts.values()):  # the latter lead to proxies
        use_egress(each)
    return client
