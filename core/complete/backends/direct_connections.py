"""Direct connections to one server, without httpx: asyncio's transports, parsed by llhttp; one exchange at a time each.

Relaying a stream takes a fifth of the time that httpx needs, which checks its pool and timeouts for every piece.
A server that is reached through a proxy (from the environment) still goes through httpx (`relay.py`).
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import httpcore
import httptools
import httpx

from prompt_debugger.core.base.egress import open_egress
from prompt_debugger.core.complete.backends.outside import SERVER_EGRESS, addresses_of

Headers = Sequence[tuple[bytes, bytes]]

_MAX_HEAD_BYTES = 1 << 18
_MAX_WAITING_BYTES = 1 << 18  # of an answer, not yet taken by its reader
_NO_BODY = frozenset({204, 304})
_BROKE_OFF = "peer closed connection without sending complete message body"
_NO_ANSWER = "Server disconnected without sending a response."


class Connection(asyncio.Protocol):
    """A connection, and the answer that is read from it.

    Attributes:
        status: Of the answer, once `ask` has returned.
        headers: Of the answer, unchanged.
        may_be_kept: Whether another request may be sent on it.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.may_be_kept = False
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_idle = True
        self._begin("")

    def _begin(self, method: str) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._method = method
        self.status, self.headers, self.may_be_kept = 0, [], False
        self._head_bytes = self._waiting_bytes = 0
        self._has_head = self._is_done = self._has_length = self._is_over = False
        self._pieces: list[bytes] = []
        self._error: httpx.TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def pause_writing(self) -> None:
        """Note that the server accepts no more data for now."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Note that it accepts data again."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Read a piece of the answer; on an idle connection nothing may come."""
        if self._is_idle or self._is_done:
            self.close()
            return
        if not self._has_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._is_done = True
        except httptools.HttpParserError as error:
            begun = "" if self._has_head else f": {data[:16]!r}"  # a TLS alert is known by its first bytes
            self._fail(httpx.RemoteProtocolError(f"{error}{begun}"))
        if not self._has_head and self._head_bytes > _MAX_HEAD_BYTES:
            self._fail(httpx.RemoteProtocolError("the answer's head is too long"))
        self._wake()

    def eof_received(self) -> None:
        """End an answer without a length, which ends with the connection."""
        self._lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """End what is under way."""
        self._lost(exc)
        self._transport = None
        self._writable.set()

    def _lost(self, exc: Exception | None) -> None:
        self.may_be_kept = False
        if self._is_done or self._error is not None:
            return
        if self._has_head and not self._has_length and exc is None:
            self._is_done = True
        elif exc is not None:
            self._error = httpx.ReadError(str(exc) or type(exc).__name__)
        else:
            self._error = httpx.RemoteProtocolError(_BROKE_OFF if self._has_head else _NO_ANSWER)
        self._wake()

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        if not self._is_done:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Note that the head is complete, unless it is an interim answer's."""
        status = self._parser.get_status_code()
        if (status < 200 and status != 101) or self._is_done:  # what follows an answer is not read
            return
        self.status = status
        self._has_head = True
        names = {name.lower(): value.lower() for name, value in self.headers}
        self._has_length = b"content-length" in names or b"chunked" in names.get(b"transfer-encoding", b"")
        if self._method == "HEAD" or status in _NO_BODY or status == 101:
            self._is_done = True

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body; while its reader is behind, the server waits."""
        if self._is_done:
            return
        self._pieces.append(body)
        self._waiting_bytes += len(body)
        if self._waiting_bytes > _MAX_WAITING_BYTES and self._transport is not None:
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        """Note the end of the answer; an interim one is followed by another."""
        if not self._has_head:
            self.headers = []
            return
        self.may_be_kept = self._parser.should_keep_alive() and self._method != "HEAD" and not self._is_over
        self._is_done = self._is_over = True

    # What the relay calls.

    @property
    def is_open(self) -> bool:
        """Whether it can be used for another request."""
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, method: str, head: bytes, content: AsyncIterator[bytes] | None, *, is_chunked: bool) -> None:
        """Send a request and wait for the head of its answer.

        Args:
            method: HTTP method.
            head: Request line and headers.
            content: The body as it comes.
            is_chunked: Whether it is sent in chunks; otherwise its length is in the head.

        Raises:
            httpx.TransportError: There is no answer.
        """
        self._begin(method)
        self._is_idle = False
        if content is None:
            self._write(head)
        else:
            async for piece in content:
                framed = (
                    b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked and piece else piece
                )  # an empty one is the end
                self._write(head + framed)
                head = b""
                await self._writable.wait()
            self._write(head + (b"0\r\n\r\n" if is_chunked else b""))
        while not self._has_head:
            await self._updates()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises:
            httpx.TransportError: It broke off.
        """
        while True:
            if self._pieces:  # what came together is passed on together
                piece = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
                self._pieces.clear()
                self._waiting_bytes = 0
                yield piece
                continue
            if self._is_done:
                return
            if self._transport is not None:
                self._transport.resume_reading()
            await self._updates()

    def rest(self) -> None:
        """Let it wait for the next request."""
        self._is_idle = True

    def close(self) -> None:
        """Close it at once."""
        self.may_be_kept = False
        if self._transport is not None:
            self._transport.abort()

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and self._error is None:
            self._transport.write(data)

    async def _updates(self) -> None:
        """Wait until something has come.

        Raises:
            httpx.TransportError: Nothing more will.
        """
        if self._error is not None and not self._is_done:
            raise self._error
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self._error is not None and not self._pieces and not self._is_done:
            raise self._error

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, error: httpx.TransportError) -> None:
        self._error = self._error or error
        self.close()


class DirectConnections:
    """The connections to one server: idle ones are reused.

    Args:
        url: Address of the server.
        verify: Certificates to trust.
        connect_s: Seconds until a connection is open.
        idle_s: Seconds for which one that is not used is kept.
    """

    def __init__(self, url: httpx.URL, verify: ssl.SSLContext, connect_s: float, idle_s: float) -> None:
        self._host = url.host
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._ssl = verify if url.scheme == "https" else None
        self._connect_s, self._idle_s = connect_s, idle_s
        self._idle: deque[tuple[Connection, asyncio.TimerHandle]] = deque()
        self._used: set[Connection] = set()

    async def take(self) -> Connection:
        """Return an idle connection, or a new one; the caller gives it back or closes it.

        Raises:
            httpx.TransportError: None can be made.
        """
        while self._idle:
            connection, timer = self._idle.pop()
            timer.cancel()
            if connection.is_open:
                self._used.add(connection)
                return connection
        connection = await self._connect()
        self._used.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep a connection whose answer has come whole, close any other."""
        self._used.discard(connection)
        if not (connection.may_be_kept and connection.is_open):
            connection.close()
            return
        connection.rest()
        self._idle.append((connection, asyncio.get_running_loop().call_later(self._idle_s, connection.close)))

    def close(self) -> None:
        """Close all of them."""
        for connection, timer in self._idle:
            timer.cancel()
            connection.close()
        for connection in tuple(self._used):
            connection.close()
        self._idle.clear()

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(self._connect_s):
                addresses = await addresses_of(self._host, self._port, self._connect_s)
                for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
                    with (
                        suppress(*(() if left == 1 else (OSError,))),
                        open_egress(SERVER_EGRESS, address, port=self._port),
                    ):
                        return await self._connect_to(address)
        except (TimeoutError, httpcore.ConnectTimeout) as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except (OSError, httpcore.ConnectError) as error:
            raise httpx.ConnectError(str(error)) from error
        raise httpx.ConnectError(f"{self._host} has no address")

    async def _connect_to(self, address: str) -> Connection:
        loop = asyncio.get_running_loop()
        name = self._host if self._ssl is not None else None
        _, connection = await loop.create_connection(
            Connection, address, self._port, ssl=self._ssl, server_hostname=name
        )
        return connection
