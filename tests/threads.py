"""Servers of our own in a thread beside the test, for what they serve runs in another process or loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any

from tests.core.complete.faulty_server import FaultyServer


@contextmanager
def in_thread(server: FaultyServer) -> Iterator[str]:
    """Serve on an event loop of its own; the base URL, up to and including `/v1`."""
    ready = threading.Event()
    state: dict[str, Any] = {}

    async def serve() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        state.update(port=listening.sockets[0].getsockname()[1], loop=asyncio.get_running_loop(), stop=asyncio.Event())
        ready.set()
        async with listening:
            await state["stop"].wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{state['port']}/v1"
    finally:
        state["loop"].call_soon_threadsafe(state["stop"].set)
        thread.join()


@contextmanager
def handling(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve with the standard library's server, a thread a connection; the address, without a path."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Let a server of the standard library serve in a thread, and close it.

    It looks whether it is to stop only every so often: by default twice a second, which each test would wait for.
    """
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
