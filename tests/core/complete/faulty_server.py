"""A small TCP server that speaks the bytes a sound server would never speak.

Only for faults that a real vLLM cannot be made to show: each test says what
goes over the wire, byte by byte.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from prompt_debugger.core.base.types import JSON

TLS_HELLO = b"\x16"

Behaviour = Callable[[asyncio.StreamWriter], Coroutine[None, None, None]]


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> JSON:
        value: JSON = json.loads(self.body)
        return value


@dataclass
class FaultyServer:
    """A running server.

    Attributes:
        base_url: Its address, up to and including `/v1`.
        received: Requests so far.
        got_request: Set when one came.
        client_left: Set when a client closes a connection on which an answer is still under way.
        left_count: How often that was.
    """

    base_url: str
    behaviour_by_path: dict[str, Behaviour]
    received: list[Received] = field(default_factory=list)
    got_request: asyncio.Event = field(default_factory=asyncio.Event)
    client_left: asyncio.Event = field(default_factory=asyncio.Event)
    left_count: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            first = await reader.readexactly(1)
            if first == TLS_HELLO:
                await answer(400, b"Invalid HTTP request received.", "text/plain")(writer)
                return
            request = await _read_request(first, reader)
            self.received.append(request)
            self.got_request.set()
            await self._behave(self._behaviour_of(request), reader, writer)
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    async def _behave(self, behaviour: Behaviour, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Behave until done, or until the client leaves."""
        behaving = asyncio.ensure_future(behaviour(writer))
        watching = asyncio.create_task(_watch(reader))
        try:
            await asyncio.wait({behaving, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done() or isinstance(behaving.exception(), ConnectionError):
                self.left_count += 1
                self.client_left.set()
        finally:
            behaving.cancel()
            watching.cancel()
            await asyncio.gather(behaving, watching, return_exceptions=True)

    def _behaviour_of(self, request: Received) -> Behaviour:
        path = request.path.partition("?")[0]
        is_stream = request.body.startswith(b"{") and b'"stream": true' in request.body
        keys = [f"{path}#stream"] * is_stream + [path, "*"]
        return next((self.behaviour_by_path[key] for key in keys if key in self.behaviour_by_path), answer(404))


@asynccontextmanager
async def faulty_server(
    behaviour: Behaviour | Mapping[str, Behaviour], tls: ssl.SSLContext | None = None
) -> AsyncIterator[FaultyServer]:
    """Run a server on a free loopback port.

    `behaviour` may differ by path; `*` stands for the rest, `PATH#stream` for requests that want a stream.
    """
    by_path = dict(behaviour) if isinstance(behaviour, Mapping) else {"*": behaviour}
    state = FaultyServer("", by_path)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await state.serve(reader, writer)
        finally:
            writer.transport.abort()
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    state.base_url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1"
    try:
        yield state
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
        await asyncio.sleep(0)  # one turn of the loop, in which aborted transports close their sockets


def answer(
    status: int = 200, body: bytes | JSON = b"", content_type: str = "application/json", **headers: str
) -> Behaviour:
    """Answer properly with a status and a body; anything but bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    length = f"content-length: {len(data)}\r\nconnection: close\r\n"
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n{length}{extra}\r\n"
    return raw(head.encode() + data)


def raw(data: bytes) -> Behaviour:
    """Send bytes as they are and close."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return behave


def stream(*events: bytes, is_closed_properly: bool = True) -> Behaviour:
    """Send a chunked event stream; without a proper close the last chunk is missing."""
    data = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
    data += b"transfer-encoding: chunked\r\n\r\n"
    data += b"".join(b"%x\r\n%s\r\n" % (len(event), event) for event in events)
    return raw(data + (b"0\r\n\r\n" if is_closed_properly else b""))


def reset(data: bytes = b"") -> Behaviour:
    """Send bytes, then reset the connection."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behave


def hang(data: bytes = b"") -> Behaviour:
    """Send bytes, then nothing, and keep the connection."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.Event().wait()

    return behave


def drip(head: bytes, piece: bytes, pause_s: float) -> Behaviour:
    """Send a piece now and then, for ever."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Behave in one way after the other; the last one stays."""
    remaining = list(behaviours)

    async def behave(writer: asyncio.StreamWriter) -> None:
        await (remaining.pop(0) if len(remaining) > 1 else remaining[0])(writer)

    return behave


def chunk(**fields: JSON) -> bytes:
    """Return one event of a chat stream with the given fields of its first choice."""
    return b"data: " + json.dumps({"choices": [{"index": 0, **fields}]}).encode() + b"\n\n"


async def _watch(reader: asyncio.StreamReader) -> None:
    """Wait until the client closes the connection."""
    with suppress(ConnectionError):
        while await reader.read(65_536):
            pass


async def _read_request(first: bytes, reader: asyncio.StreamReader) -> Received:
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)
