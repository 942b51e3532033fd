"""A server of the browser tests: bytes that a sound server would never send, from a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.core.complete.faulty_server import Behaviour, faulty_server
from tests.patience import PATIENCE_S


@contextmanager
def serving(behaviour_by_path: Mapping[str, Behaviour]) -> Iterator[str]:
    """Run a faulty server beside the browser, which keeps this thread's event loop to itself; yields its address."""
    started = threading.Event()
    address = ""
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        nonlocal address
        async with faulty_server(behaviour_by_path) as server:
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
