"""What is relayed arrives as it was sent, however the server frames it and wherever the network cuts it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete.backends.address import read_address
from prompt_debugger.core.complete.backends.relay import Relay

BODY = b'{"choices": []}'
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n" + BODY
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + BODY[:5] + b"\r\na;x=1\r\n" + BODY[5:]
CHUNKED += b"\r\n0\r\nX-Trailer: 1\r\n\r\n"
UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + BODY
OLD = b"HTTP/1.0 200 OK\r\n\r\n" + BODY
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + WHOLE

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def relay_to(answer: Answer) -> AsyncIterator[tuple[Relay, list[int]]]:
    """Yield a relay to a server that answers each connection so, and a list with an entry for each connection."""
    connections: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(len(connections))
        try:
            await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    relay = Relay(read_address(f"http://127.0.0.1:{port}/v1"))
    try:
        yield relay, connections
    finally:
        await relay.close()
        server.close()


async def exchange(
    relay: Relay, method: str = "POST", content: AsyncIterator[bytes] | None = None, length: int | None = None
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Return status, headers and body of an answer."""
    headers = [] if length is None else [(b"content-length", b"%d" % length)]
    async with relay.send(method, relay.url_of(b"/v1/chat/completions", b""), headers, content) as answer:
        return answer.status, list(answer.headers), b"".join([piece async for piece in answer.pieces])


async def once(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def in_pieces(*pieces: bytes, keeps: bool = False) -> Answer:
    """Return how to answer every request on a connection with these pieces, one at a time."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if not keeps:
                return

    return answer


@pytest.mark.parametrize("written", [WHOLE, CHUNKED, UNTIL_CLOSE, OLD, INTERIM])
async def test_a_body_arrives_however_it_is_framed(written: bytes) -> None:
    async with relay_to(in_pieces(written)) as (relay, _):
        status, headers, body = await exchange(relay)

    assert (status, body) == (200, BODY)
    assert not {name for name, _ in headers} & {b"transfer-encoding", b"connection", b"link"}


@pytest.mark.parametrize("written", [WHOLE, CHUNKED, INTERIM], ids=["whole", "chunked", "interim"])
async def test_a_body_arrives_wherever_it_is_cut(written: bytes) -> None:
    for at in range(1, len(written)):
        async with relay_to(in_pieces(written[:at], written[at:])) as (relay, _):
            assert (await exchange(relay))[2] == BODY, at


@pytest.mark.parametrize(
    ("written", "method", "status"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", "POST", 204),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 15\r\n\r\n", "GET", 304),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n", "HEAD", 200),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "POST", 200),
    ],
)
async def test_an_answer_without_a_body_ends(written: bytes, method: str, status: int) -> None:
    async with relay_to(in_pieces(written, keeps=True)) as (relay, _):
        assert await exchange(relay, method) == (status, list(_headers(written)), b"")


def _headers(written: bytes) -> Sequence[tuple[bytes, bytes]]:
    lines = written.split(b"\r\n")[1:-2]
    return [(name.lower(), value) for name, _, value in (line.partition(b": ") for line in lines)]


@pytest.mark.parametrize(
    "written",
    [
        b"",
        WHOLE[:20],
        WHOLE[:-1],
        CHUNKED[:-1],
        CHUNKED[: CHUNKED.index(b"\r\n0\r\n")],
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Length: 3\r\n\r\n" + BODY,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * (1 << 19),
    ],
    ids=["nothing", "head", "body", "trailer", "chunk", "ssh", "two lengths", "no number", "endless head"],
)
async def test_an_answer_that_breaks_off_is_an_error_and_no_whole_answer(written: bytes) -> None:
    async with relay_to(in_pieces(written)) as (relay, _):
        with pytest.raises(BackendError) as broken:
            await exchange(relay)

    assert broken.value.hint


async def test_a_connection_is_used_again_unless_the_answer_ended_it() -> None:
    async with relay_to(in_pieces(WHOLE, keeps=True)) as (relay, connections):
        for _ in range(3):
            assert (await exchange(relay))[2] == BODY
        assert len(connections) == 1

    async with relay_to(in_pieces(UNTIL_CLOSE)) as (relay, connections):
        for _ in range(2):
            assert (await exchange(relay))[2] == BODY
        assert len(connections) == 2


async def test_what_comes_after_an_answer_is_never_the_next_one() -> None:
    async with relay_to(in_pieces(WHOLE + b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", keeps=True)) as (relay, _):
        for _ in range(2):
            assert (await exchange(relay))[:1] == (200,)


async def test_an_answer_that_no_one_reads_to_its_end_closes_its_connection() -> None:
    async with relay_to(in_pieces(WHOLE[:-3], keeps=True)) as (relay, connections):
        for _ in range(2):
            async with relay.send("POST", relay.url_of(b"/v1/models", b""), [], None) as answer:
                assert answer.status == 200
        assert len(connections) == 2


@pytest.mark.parametrize(
    ("pieces", "length", "arrives"),
    [
        ((b"ab", b"", b"c"), 3, b"abc"),
        ((b"ab", b"", b"c"), None, b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"),
        ((b"",), None, b"0\r\n\r\n"),
    ],
)
async def test_a_request_arrives_whole_with_its_length_or_in_chunks(
    pieces: tuple[bytes, ...], length: int | None, arrives: bytes
) -> None:
    received: asyncio.Future[tuple[bytes, bytes]] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        received.set_result((head, await reader.readexactly(len(arrives))))
        writer.write(WHOLE)
        await writer.drain()

    async with relay_to(answer) as (relay, _):
        assert (await exchange(relay, "POST", once(*pieces), length))[2] == BODY

    head, body = await received
    assert body == arrives
    assert (b"transfer-encoding: chunked" in head) is (length is None)
    assert head.lower().count(b"accept-encoding: identity") == 1


async def test_a_server_waits_while_a_reader_is_behind() -> None:
    large = b"x" * (1 << 23)
    sent = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(large))
        for at in range(0, len(large), 1 << 16):
            writer.write(large[at : at + (1 << 16)])
            await writer.drain()
            sent = at

    async with relay_to(answer) as (relay, _), relay.send("GET", relay.url_of(b"/v1/models", b""), [], None) as got:
        before = -1
        while sent != before:  # until nothing more is taken
            before = sent
            for _ in range(200):
                await asyncio.sleep(0)
        assert sent < len(large) - (1 << 16)
        assert b"".join([piece async for piece in got.pieces]) == large
