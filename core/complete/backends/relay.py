"""Passes someone else's exchange on to a server as it came: their headers, their body, the answer's own bytes.

Unlike `http.py`, which asks in our name, nothing is added, unpacked, retried or cut here: how long an answer may
take and how long it may be is for the caller to say. What belongs to one connection alone (RFC 9110, 7.6.1) is
not passed on, and the answer is asked for unpacked, so that it comes piece by piece.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.request import getproxies, proxy_bypass

import httpx

from prompt_debugger.core.complete.backends.address import Address
from prompt_debugger.core.complete.backends.certificates import public_certificates
from prompt_debugger.core.complete.backends.clients import Clients, build_client
from prompt_debugger.core.complete.backends.direct_connections import Connection, DirectConnections
from prompt_debugger.core.complete.backends.failures import Call, failure_of_location, failure_of_transport
from prompt_debugger.core.complete.backends.limits import Timeouts

RawHeaders = Sequence[tuple[bytes, bytes]]

_OF_ONE_CONNECTION = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
        b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_OF_A_REQUEST = frozenset({b"host", b"accept-encoding", b"expect"})
_IDLE_S = 2.0  # as in `http.py`
_MAX_URLS = 64  # that are remembered; parsing one takes as long as passing on a small answer


@dataclass(frozen=True, slots=True)
class RelayedAnswer:
    """An answer whose body is still to come.

    Attributes:
        status: HTTP status, whatever it is.
        headers: Those that are passed on.
        pieces: The body as it comes, packed as it is; raises `BackendError` if it breaks off.
    """

    status: int
    headers: RawHeaders
    pieces: AsyncIterator[bytes]


class Relay:
    """The connections to one server.

    Args:
        address: Where it is.
        connect_s: Seconds until a connection is open; nothing else is limited.
    """

    def __init__(self, address: Address, connect_s: float = 10.0) -> None:
        self.address = address
        self._urls: dict[tuple[bytes, bytes], httpx.URL] = {}
        self._timeouts = Timeouts(connect_s=connect_s)
        # A proxy from the environment is never meant for this machine.
        trust_env = not address.is_loopback
        certificates = public_certificates(trust_env=trust_env)
        url = httpx.URL(address.base_url)
        self._direct: DirectConnections | None = None
        if not (trust_env and getproxies() and not proxy_bypass(url.host)):
            self._direct = DirectConnections(url, certificates, connect_s, _IDLE_S)

        def build() -> httpx.AsyncClient:
            return build_client(
                timeout=httpx.Timeout(None, connect=connect_s),
                limits=httpx.Limits(keepalive_expiry=_IDLE_S),
                trust_env=trust_env,
                verify=certificates,
            )

        self._clients = None if self._direct is not None else Clients(build)

    async def close(self) -> None:
        """Close all connections."""
        if self._direct is not None:
            self._direct.close()
        if self._clients is not None:
            await self._clients.close()

    def url_of(self, raw_path: bytes, query: bytes) -> httpx.URL:
        """Return where a path leads; `/v1/…` counts from the base URL, any other from the root of the server.

        Raises:
            ValueError: Nothing can be asked for by that path.
        """
        known = self._urls.get((raw_path, query))
        if known is not None:
            return known
        path = raw_path.decode("ascii")
        steps = path.lower().replace("%2e", ".").split("/")
        if not path.startswith("/") or not {".", ".."}.isdisjoint(steps) or not {"?", "#"}.isdisjoint(path):
            raise ValueError("the path points elsewhere")
        url = httpx.URL(self.address.url_of(path) if path != "/v1" else self.address.base_url)
        url = url.copy_with(query=query) if query else url
        if len(self._urls) < _MAX_URLS:
            self._urls[raw_path, query] = url
        return url

    @asynccontextmanager
    async def send(
        self, method: str, url: httpx.URL, headers: RawHeaders, content: AsyncIterator[bytes] | None
    ) -> AsyncIterator[RelayedAnswer]:
        """Send a request and give its answer; leaving the block before its end closes the connection.

        Args:
            method: HTTP method.
            url: From `url_of`.
            headers: As they came.
            content: The body as it comes; `None` for none. What it raises is raised.

        Raises:
            BackendError: There is no answer.
        """
        passed = [*kept_headers(headers, _OF_A_REQUEST), (b"accept-encoding", b"identity")]
        if self._direct is not None:
            async with self._send_direct(self._direct, method, url, passed, content) as answer:
                yield answer
            return
        call = _call(method, url)
        try:
            request = httpx.Request(method, url, headers=passed, content=content)
        except (ValueError, httpx.InvalidURL) as error:
            raise failure_of_transport(
                call, httpx.LocalProtocolError(str(error)), self._timeouts, began=False
            ) from None
        assert self._clients is not None
        with self._clients.take() as client:
            try:
                response = await client.send(request, stream=True)
            except httpx.HTTPError as error:
                raise failure_of_transport(call, error, self._timeouts, began=False) from error
            except httpx.InvalidURL as error:
                raise failure_of_location(call, str(error)) from None
            try:
                kept = kept_headers(response.headers.raw, frozenset())
                yield RelayedAnswer(response.status_code, kept, self._pieces(call, response))
            finally:
                await response.aclose()

    @asynccontextmanager
    async def _send_direct(
        self,
        connections: DirectConnections,
        method: str,
        url: httpx.URL,
        headers: RawHeaders,
        content: AsyncIterator[bytes] | None,
    ) -> AsyncIterator[RelayedAnswer]:
        """Send a request on a connection of its own, which is kept if the answer is complete."""
        is_chunked = content is not None and not any(name == b"content-length" for name, _ in headers)
        framing = ((b"transfer-encoding", b"chunked"),) if is_chunked else ()
        head = head_of(method, url, (*headers, *framing))
        try:
            connection = await connections.take()
        except httpx.HTTPError as error:
            raise failure_of_transport(_call(method, url), error, self._timeouts, began=False) from error
        try:
            try:
                await connection.ask(method, head, content, is_chunked=is_chunked)
            except httpx.HTTPError as error:
                raise failure_of_transport(_call(method, url), error, self._timeouts, began=False) from error
            kept = kept_headers(connection.headers, frozenset())
            yield RelayedAnswer(connection.status, kept, self._direct_pieces(method, url, connection))
        finally:
            connections.give_back(connection)

    async def _direct_pieces(self, method: str, url: httpx.URL, connection: Connection) -> AsyncIterator[bytes]:
        try:
            async for piece in connection.pieces():
                yield piece
        except httpx.HTTPError as error:
            raise failure_of_transport(_call(method, url), error, self._timeouts, began=True) from error

    async def _pieces(self, call: Call, response: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for piece in response.aiter_raw():
                yield piece
        except httpx.HTTPError as error:
            raise failure_of_transport(call, error, self._timeouts, began=True) from error


def _call(method: str, url: httpx.URL) -> Call:
    return Call(method, str(url.copy_with(query=None)))


def head_of(method: str, url: httpx.URL, headers: RawHeaders) -> bytes:
    """Return the request line and the headers of a request as they go out."""
    lines = [b"%s: %s\r\n" % pair for pair in ((b"host", url.netloc), *headers)]
    return b"%s %s HTTP/1.1\r\n%s\r\n" % (method.encode("ascii"), url.raw_path, b"".join(lines))


def kept_headers(headers: Iterable[tuple[bytes, bytes]], left_out: frozenset[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the headers that are for both ends, names in lower case.

    >>> kept_headers([(b"Connection", b"close, X-Hop"), (b"X-Hop", b"1"), (b"X-Team", b"blue")], frozenset())
    [(b'x-team', b'blue')]
    """
    found = [(name.lower(), value) for name, value in headers]
    named = {part.strip().lower() for name, value in found if name == b"connection" for part in value.split(b",")}
    dropped = _OF_ONE_CONNECTION | left_out | named
    return [(name, value) for name, value in found if name not in dropped]
