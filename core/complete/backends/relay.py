"""Passes somebody else's exchange on to a server as it came: their headers, their body, the answer's own bytes.

Unlike `http.py`, which asks in our name, nothing is added, unpacked, retried or cut here: how long an answer may
take and how long it may be is for whoever asked to say. What belongs to one connection alone (RFC 9110, 7.6.1) is
not passed on, and the answer is asked for unpacked, so that it comes piece by piece.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from prompt_debugger.core.complete.backends.address import Address
from prompt_debugger.core.complete.backends.certificates import public_certificates
from prompt_debugger.core.complete.backends.clients import Clients, build_client
from prompt_debugger.core.complete.backends.failures import Call, failure_of_transport
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
        connect_s: Seconds until a connection stands; nothing else is limited.
    """

    def __init__(self, address: Address, connect_s: float = 10.0) -> None:
        self.address = address
        self._timeouts = Timeouts(connect_s=connect_s)
        # A proxy from the environment never stands before this machine.
        trust_env = not address.is_loopback
        certificates = public_certificates(trust_env=trust_env)

        def build() -> httpx.AsyncClient:
            return build_client(
                timeout=httpx.Timeout(None, connect=connect_s),
                limits=httpx.Limits(keepalive_expiry=_IDLE_S),
                trust_env=trust_env,
                verify=certificates,
            )

        self._clients = Clients(build)

    async def close(self) -> None:
        """Close all connections."""
        await self._clients.close()

    def url_of(self, raw_path: bytes, query: bytes) -> httpx.URL:
        """Return where a path leads; `/v1/…` counts from the base URL, any other from the root of the server.

        Raises:
            ValueError: Nothing can be asked for by that path.
        """
        path = raw_path.decode("ascii")
        steps = path.lower().replace("%2e", ".").split("/")
        if not path.startswith("/") or not {".", ".."}.isdisjoint(steps) or not {"?", "#"}.isdisjoint(path):
            raise ValueError("the path points elsewhere")
        url = httpx.URL(self.address.url_of(path) if path != "/v1" else self.address.base_url)
        return url.copy_with(query=query) if query else url

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
        call = Call(method, str(url.copy_with(query=None)))
        passed = [*kept_headers(headers, _OF_A_REQUEST), (b"accept-encoding", b"identity")]
        try:
            request = httpx.Request(method, url, headers=passed, content=content)
        except (ValueError, httpx.InvalidURL) as error:
            raise failure_of_transport(
                call, httpx.LocalProtocolError(str(error)), self._timeouts, began=False
            ) from None
        with self._clients.take() as client:
            try:
                response = await client.send(request, stream=True)
            except httpx.HTTPError as error:
                raise failure_of_transport(call, error, self._timeouts, began=False) from error
            try:
                kept = kept_headers(response.headers.raw, frozenset())
                yield RelayedAnswer(response.status_code, kept, self._pieces(call, response))
            finally:
                await response.aclose()

    async def _pieces(self, call: Call, response: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for piece in response.aiter_raw():
                yield piece
        except httpx.HTTPError as error:
            raise failure_of_transport(call, error, self._timeouts, began=True) from error


def kept_headers(headers: Iterable[tuple[bytes, bytes]], left_out: frozenset[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the headers that are for both ends, names in lower case.

    >>> kept_headers([(b"Connection", b"close, X-Hop"), (b"X-Hop", b"1"), (b"X-Team", b"blue")], frozenset())
    [(b'x-team', b'blue')]
    """
    found = [(name.lower(), value) for name, value in headers]
    named = {part.strip().lower() for name, value in found if name == b"connection" for part in value.split(b",")}
    dropped = _OF_ONE_CONNECTION | left_out | named
    return [(name, value) for name, value in found if name not in dropped]
