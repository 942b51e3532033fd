"""Connections to servers: looks a name up, and connects to the addresses it means, one after the other.

Everything that httpx sends comes through here, also what goes to a proxy of the environment. The egress
(`core.base.egress`) is open while a connection is made, to that address alone, and closed while it is used.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence

import httpcore
import httpx

from prompt_debugger.core.base.egress import open_egress

SERVER_EGRESS = "server"


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, as the machine's resolver gives them.

    Raises:
        OSError: There is no such host.
    """
    with open_egress(SERVER_EGRESS, host):  # a thread of `to_thread` sees the same egress
        found = await asyncio.to_thread(
            socket.getaddrinfo, host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def use_egress(transport: httpx.AsyncBaseTransport | None) -> None:
    """Let a transport of httpx make its connections through the egress; without it they are refused."""
    if isinstance(transport, httpx.AsyncHTTPTransport):
        # httpx has no argument for it, though the pool inside has; were it renamed, every connection would fail.
        transport._pool._network_backend = EgressBackend()


class EgressBackend(httpcore.AsyncNetworkBackend):
    """Makes the connections of one pool."""

    def __init__(self) -> None:
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of a host that answers within its share of the time."""
        clock = asyncio.get_running_loop()
        end_s = None if timeout is None else clock.time() + timeout
        addresses = await addresses_of(host, port, timeout)
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            share = None if end_s is None else max(end_s - clock.time(), 0.0) / left
            try:
                with open_egress(SERVER_EGRESS, address, port=port):
                    return await self._inner.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refuse: servers are reached by address."""
        raise httpcore.ConnectError("connections through a socket file are not supported")

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore does between attempts."""
        await asyncio.sleep(seconds)


async def addresses_of(host: str, port: int, timeout: float | None) -> Sequence[str]:
    """Return the addresses of a host, itself if it is one.

    Raises:
        httpcore.ConnectTimeout: Looking it up took too long.
        httpcore.ConnectError: There is none.
    """
    try:
        return (str(ipaddress.ip_address(host)),)
    except ValueError:
        pass
    try:
        async with asyncio.timeout(timeout):
            return await resolve_name(host, port)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(str(error)) from error
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
