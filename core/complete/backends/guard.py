"""Which machines a page open to untrusted users may talk to: listed servers, at addresses that are public.

    URL ──▶ is the server listed? ──▶ resolve its name ──▶ are all addresses public? ──▶ connect to these very addresses

Judging a name is not enough, for anyone who owns it can point it at this machine or its network, also between two
look-ups. So the connection goes to the address that was judged, not to the name; the name stays in the `Host`
header and in TLS, whose certificate is still checked against it. How an address is spelled (`2130706433`, `0x7f.1`,
`[::ffff:127.0.0.1]`) makes no difference: it is judged after resolution.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import httpx

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.complete.backends.address import read_address
from prompt_debugger.core.complete.backends.certificates import public_certificates
from prompt_debugger.core.complete.backends.outside import resolve_name, use_egress

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

# Source: IANA special-purpose address registries for IPv4 and IPv6 (2025-05), and the addresses that clouds add.
_CLOSED_IPV4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers; also Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # looks public, is the host of an Azure machine
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; also Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
# Whatever lies outside has no unicast server: loopback, link-local, private, multicast, IPv4 in IPv6 clothes
# (mapped, compatible), NAT64.
_OPEN_IPV6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_IPV6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: any IPv4 address inside
        "3fff::/20",  # documentation
    )
)


def is_public_address(text: str) -> bool:
    """Return whether an IP address, as a resolver writes it, is one of the public internet."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_IPV4)
    is_open = address.scope_id is None and address in _OPEN_IPV6
    return is_open and not any(address in network for network in _CLOSED_IPV6)


@dataclass(frozen=True, slots=True)
class NetworkGuard:
    """The servers that may be talked to; `guard_of` makes one.

    Attributes:
        base_urls: Address of each, up to and including `/v1`.
        origins: Scheme, host and port of each, such as `https://api.example.com:443`.
        resolve: Finds the addresses of a host.
        is_open: Returns whether an address may be connected to.
    """

    base_urls: tuple[str, ...]
    origins: frozenset[str]
    resolve: Resolve = resolve_name
    is_open: Callable[[str], bool] = is_public_address

    def check(self, base_url: str) -> str:
        """Return the address of a listed server in the way it is listed.

        Raises:
            BackendError: It is not listed (kind `refused`), or no address of a server.
        """
        wanted = read_address(base_url).base_url
        for listed in self.base_urls:
            if _normal(listed) == _normal(wanted):
                return listed
        raise self._refusal(wanted)

    def _refusal(self, url: str) -> BackendError:
        return BackendError(
            f"This page sends nothing to {shorten(url)}.",
            f"Allowed servers: {', '.join(self.base_urls) or 'none'}. Run the program on your own machine "
            "to reach any other.",
            kind="refused",
        )

    async def addresses_of(self, url: httpx.URL) -> tuple[str, ...]:
        """Return the addresses to connect to for a URL, all of them judged.

        Raises:
            BackendError: The server is not listed, or one of its addresses is not public (kind `refused`).
            httpx.ConnectError: There is no such host.
        """
        if origin_of(str(url)) not in self.origins:
            raise self._refusal(f"{url.scheme}://{url.netloc.decode('ascii')}")
        try:
            addresses = tuple(await self.resolve(url.raw_host.decode("ascii"), url.port or _port_of(url.scheme)))
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        if not addresses or not all(self.is_open(address) for address in addresses):
            raise BackendError(
                f"This page sends nothing to `{url.host}`: the name resolves to an address that is not public.",
                "Run the program on your own machine to reach a server in your network.",
                kind="refused",
            )
        return addresses


class PinnedTransport(httpx.AsyncBaseTransport):
    """Connects to the addresses that a guard judged, whatever the name means a moment later."""

    def __init__(self, guard: NetworkGuard, inner: httpx.AsyncBaseTransport) -> None:
        self._guard = guard
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the first judged address that takes the connection."""
        addresses = await self._guard.addresses_of(request.url)
        for address in addresses[:-1]:
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_pinned(request, addresses[-1]))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


def build_transport(
    guard: NetworkGuard, limits: httpx.Limits, trust: ssl.SSLContext | None = None
) -> httpx.AsyncBaseTransport:
    """Return a transport that goes nowhere but where `guard` allows, after a redirect either; no proxy is asked."""
    inner = httpx.AsyncHTTPTransport(verify=trust or public_certificates(), limits=limits, trust_env=False)
    use_egress(inner)
    return PinnedTransport(guard, inner)


def guard_of(
    base_urls: Sequence[str], resolve: Resolve = resolve_name, is_open: Callable[[str], bool] = is_public_address
) -> NetworkGuard:
    """Return the guard that lets servers of these addresses through.

    Raises:
        BackendError: One is not an address of a server (kind `refused`).
    """
    read = tuple(read_address(url).base_url for url in base_urls)
    return NetworkGuard(read, frozenset(origin_of(url) for url in read), resolve, is_open)


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, with the port in any case.

    >>> origin_of("https://API.example.com/v1")
    'https://api.example.com:443'
    """
    parts = httpx.URL(url)
    host = parts.raw_host.decode("ascii")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{parts.port or _port_of(parts.scheme)}"


def _normal(base_url: str) -> str:
    return origin_of(base_url) + httpx.URL(base_url).path.rstrip("/")


def _port_of(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    """Return the same request, aimed at an address; the `Host` header is that of the name already."""
    extensions = dict(request.extensions)
    if request.url.scheme == "https":
        extensions["sni_hostname"] = request.url.raw_host.decode("ascii")
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions=extensions,
    )
