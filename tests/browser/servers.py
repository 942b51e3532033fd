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
