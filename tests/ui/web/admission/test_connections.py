"""Connections that bring no request go; one on which a request is under way stays. The server itself closes them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
import uvicorn

from prompt_debugger.ui.web.admission import connections
from prompt_debugger.ui.web.admission.connections import MAX_HEAD_BYTES, Connections, guard_connections
from prompt_debugger.ui.web.admission.visitors import read_networks
from tests.patience import PATIENCE_S

REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


class App:
    """Answers once it may."""

    def __init__(self):
        self.may_answer, self.was_asked = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope, receive, send):
        self.was_asked.set()
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


class Served:
    def __init__(self, app, connections, port):
        self.app, self.connections, self.port = app, connections, port
        self.writers = []

    async def connect(self, data=b"", address="127.0.0.1"):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))
        self.writers.append(writer)
        writer.write(data)
        await writer.drain()
        return reader, writer


@asynccontextmanager
async def serving(implementation, head_s=600.0, most=100):
    app, opened = App(), Connections(most=most)
    server = uvicorn.Server(uvicorn.Config(app, http=implementation, log_level="critical"))
    server.config.load()
    guard_connections(server, opened, head_s=head_s)
    loop = asyncio.get_running_loop()

    def protocol():
        return server.config.http_protocol_class(
            config=server.config, server_state=server.server_state, app_state={}, _loop=loop
        )

    listening = await loop.create_server(protocol, "127.0.0.1", 0)
    served = Served(app, opened, listening.sockets[0].getsockname()[1])
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield served
    finally:
        app.may_answer.set()
        for writer in served.writers:
            writer.close()
        listening.close()
        await asyncio.gather(*(writer.wait_closed() for writer in served.writers), return_exceptions=True)


@pytest.fixture(params=["httptools", "h11"])
def implementation(request):
    return request.param


async def ending(reader):
    """Wait for the end of a connection; what came until then."""
    received = b""
    try:
        while piece := await reader.read(65_536):
            received += piece
    except ConnectionError:
        pass
    return received


@pytest.mark.parametrize("sent", [b"", b"GET / HT", REQUEST[:-2]], ids=["nothing", "half a line", "all but the end"])
async def test_who_sends_no_whole_head_is_closed(implementation, sent):
    async with serving(implementation, head_s=0.2) as served:
        reader, _ = await served.connect(sent)

        assert await ending(reader) == b""


async def test_a_head_that_trickles_is_closed_too(implementation):
    async with serving(implementation, head_s=0.2) as served:
        reader, writer = await served.connect(REQUEST[:-2])
        end = asyncio.create_task(ending(reader))
        number = 0
        while not end.done():
            number += 1
            writer.write(f"x{number}: y\r\n".encode())
            await asyncio.wait({end}, timeout=0.01)

        assert number < MAX_HEAD_BYTES / 20, "time ended it"


async def test_a_request_that_is_under_way_keeps_its_connection(implementation):
    async with serving(implementation, head_s=0.2) as served:
        reader, _ = await served.connect(REQUEST)
        await served.app.was_asked.wait()
        for _ in range(3):  # each is closed once its time is over
            await ending((await served.connect())[0])
        served.app.may_answer.set()

        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")


async def test_a_connection_goes_after_its_answer(implementation):
    async with serving(implementation, head_s=0.2) as served:
        served.app.may_answer.set()
        reader, writer = await served.connect(REQUEST)
        await reader.readuntil(b"ok")
        writer.write(REQUEST)
        await reader.readuntil(b"ok")
        writer.write(b"GET / HT")

        assert await ending(reader) == b""
        assert len(served.connections) == 0


async def test_a_connection_is_kept_after_its_answer_until_there_are_many(implementation, monkeypatch):
    """A browser that sends on a connection as it is closed reports an error."""
    monkeypatch.setattr(connections, "KEPT_IF_MANY_S", 0.05)
    async with serving(implementation, head_s=0.2, most=8) as served:
        served.app.may_answer.set()
        reader, writer = await served.connect(REQUEST)
        await reader.readuntil(b"ok")
        await ending((await served.connect())[0])  # its time for a head is over
        writer.write(REQUEST)
        await reader.readuntil(b"ok")
        other, _ = await served.connect(REQUEST)
        await other.readuntil(b"ok")

        assert await ending(other) == b""
        writer.write(REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("piece", [b"x: " + b"y" * 1_000 + b"\r\n", b"y" * 1_000], ids=["many lines", "one line"])
async def test_a_head_has_a_greatest_length(implementation, piece):
    async with serving(implementation) as served:
        reader, writer = await served.connect(REQUEST[:-2] + b"x: ")
        end = asyncio.create_task(ending(reader))
        sent = 0
        while not end.done():
            writer.write(piece)
            sent += len(piece)
            await asyncio.sleep(0)

        assert b" 200 " not in await end
        assert sent > 10_000


async def test_a_head_of_usual_length_is_read(implementation):
    async with serving(implementation) as served:
        served.app.may_answer.set()
        reader, writer = await served.connect(REQUEST[:-2])
        for number in range(30):
            writer.write(f"x{number}: ".encode() + b"y" * 1_000 + b"\r\n")
        writer.write(b"\r\n")

        assert b"ok" in await reader.readuntil(b"ok")


async def test_one_address_leaves_connections_to_others(implementation):
    async with serving(implementation, most=10) as served:
        served.app.may_answer.set()
        hostile = [await served.connect(address="127.0.0.66") for _ in range(8)]
        for reader, _ in hostile[5:]:
            assert await ending(reader) == b""
        honest, _ = await served.connect(REQUEST, "127.0.0.5")

        assert b"ok" in await honest.readuntil(b"ok")
        assert len(served.connections) == 6


def test_connections_of_a_trusted_proxy_are_those_of_many():
    connections = Connections(read_networks(["10.0.0.0/8"]), most=6)

    assert [connections.enter("10.0.0.5") is not None for _ in range(7)] == [True] * 6 + [False]


def test_a_name_that_left_is_forgotten():
    connections = Connections(most=6)
    name = connections.enter("192.0.2.1")
    assert name is not None
    connections.leave(name)

    assert len(connections) == 0
    assert not connections._open
