"""Servers of the browser tests, each in its own thread: faulty ones, and a proxy that requires a key."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from prompt_debugger.core.base.types import JSON
from tests.core.complete.faulty_server import Behaviour, FaultyServer, answer, faulty_server
from tests.patience import PATIENCE_S

_REFUSED: JSON = {"error": {"message": "Unauthorized", "type": "auth_error"}}


@contextmanager
def serving(behaviour_by_path: Mapping[str, Behaviour], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Run a faulty server beside the browser, which keeps this thread's event loop to itself; yields its address."""
    started = threading.Event()
    address = ""
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        nonlocal address
        async with faulty_server(behaviour_by_path, tls) as server:
            address = server.base_url
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(PATIENCE_S)
    yield address
    loop.call_soon_threadsafe(ended.set)
    thread.join(PATIENCE_S)
    loop.close()


def held(behaviour: Behaviour, gate: threading.Event) -> Behaviour:
    """Answer once the gate is open: a server that is slow for as long as the test says."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        while not gate.is_set():
            await asyncio.sleep(0.02)
        await behaviour(writer)

    return behave


class KeyRequiringProxy(FaultyServer):
    """A proxy for a running server that requires a key as vLLM's `--api-key` does: under `/v1`, nowhere else."""

    def __init__(self, upstream: str, key: str) -> None:
        """Forward to a server.

        Args:
            upstream: Its base URL.
            key: What a request must carry.
        """
        super().__init__("", {})
        parts = urlsplit(upstream)
        self._host, self._port = parts.hostname, parts.port
        self._wanted = f"authorization: bearer {key}".lower().encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Refuse a connection whose first request has no key; pass on the bytes of any other, both ways."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            if head.split(b" ", 2)[1].startswith(b"/v1") and self._wanted not in head.lower():
                await answer(401, _REFUSED)(writer)
            else:
                await self._pass_on(head, reader, writer)
        writer.close()

    async def _pass_on(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asking = await asyncio.open_connection(self._host, self._port)
        asking.write(head)
        ways = [asyncio.ensure_future(_carry(reader, asking)), asyncio.ensure_future(_carry(answers, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            asking.close()


async def _carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65_536):
        sink.write(data)
        await sink.drain()


class Line:
    """A line between a browser and a server that can be cut, and mended: what a network does.

    Attributes:
        port: Where the browser reaches the server.
        is_cut: Whether nothing gets through.
    """

    def __init__(self, port: int) -> None:
        """Lay it.

        Args:
            port: Of the server, on this machine.
        """
        self.port, self._to = 0, port
        self._loop = asyncio.new_event_loop()
        self._ended, self.is_cut = asyncio.Event(), False
        self._open: set[asyncio.StreamWriter] = set()
        self._carrying: set[asyncio.Task[None]] = set()

    @contextmanager
    def laid(self) -> Iterator[str]:
        """Run it beside the browser; yields the address of the server behind it."""
        started = threading.Event()
        thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(started),), daemon=True)
        thread.start()
        assert started.wait(PATIENCE_S)
        yield f"http://127.0.0.1:{self.port}"
        self._loop.call_soon_threadsafe(self._ended.set)
        thread.join(PATIENCE_S)
        self._loop.close()

    def cut(self) -> None:
        """Break what is open, and let nothing through until it is mended."""
        self.is_cut = True
        self._loop.call_soon_threadsafe(self._break)

    def mend(self) -> None:
        """Let the browser through again."""
        self.is_cut = False

    def _break(self) -> None:
        for writer in self._open:
            writer.transport.abort()
        for task in self._carrying:
            task.cancel()

    async def _serve(self, started: threading.Event) -> None:
        async with await asyncio.start_server(self._connect, "127.0.0.1", 0) as server:
            self.port = int(server.sockets[0].getsockname()[1])
            started.set()
            await self._ended.wait()
            self._break()
            await asyncio.gather(*self._carrying, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        answers, asking = await asyncio.open_connection("127.0.0.1", self._to)
        if self.is_cut:  # meanwhile
            asking.transport.abort()
            writer.transport.abort()
            return
        self._open |= {writer, asking}
        for task in (asyncio.create_task(_copy(reader, asking)), asyncio.create_task(_copy(answers, writer))):
            self._carrying.add(task)
            task.add_done_callback(self._carrying.discard)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.CancelledError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
