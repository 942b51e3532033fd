"""A capture in this process, before a server that a test made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from prompt_debugger.core.tools.capture import Capture, Outcome
from prompt_debugger.core.tools.capture.proxy import RequestTimes
from prompt_debugger.core.tools.capture.serve import serve_capture
from tests.core.complete.faulty_server import Behaviour, FaultyServer, faulty_server
from tests.patience import PATIENCE_S


@dataclass
class Capturing:
    """A capture that runs.

    Attributes:
        base_url: Of the proxy.
        out: Where it writes.
        outcomes: What it told of exchanges.
    """

    base_url: str
    out: Path
    told: asyncio.Event
    outcomes: list[Outcome] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    times: RequestTimes = field(default_factory=RequestTimes)

    def proxy_times(self, *, idle_s: float = 60.0, whole_s: float = 600.0) -> None:
        """Give bodies that begin from now on so much time."""
        self.times.idle_s, self.times.whole_s = idle_s, whole_s

    async def outcome(self, index: int = 0) -> Outcome:
        """Return what came of an exchange, once it is over."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.outcomes) <= index:
                self.changed.clear()
                await self.changed.wait()
        return self.outcomes[index]

    async def record(self, index: int = 0) -> Any:
        """Return what was written of an exchange, once it is over."""
        outcome = await self.outcome(index)
        assert outcome.file is not None, outcome.failure
        return json.loads(outcome.file.read_text("utf-8"))


@asynccontextmanager
async def capturing(
    upstream: str, out: Path, *host_names: str, times: RequestTimes | None = None
) -> AsyncIterator[Capturing]:
    """Run a capture on a free port; it is told to end with the block, and has written everything after it."""
    found = Capturing("", out, asyncio.Event(), times=times or RequestTimes())
    ready = asyncio.Event()

    def on_ready(base_url: str, _: str) -> None:
        found.base_url = base_url
        ready.set()

    def on_outcome(outcome: Outcome) -> None:
        found.outcomes.append(outcome)
        found.changed.set()

    capture = Capture(upstream, out, host_names=host_names)
    serving = asyncio.create_task(serve_capture(capture, found.told, on_ready, on_outcome, found.times))
    try:
        async with asyncio.timeout(PATIENCE_S):
            waiting = asyncio.create_task(ready.wait())
            await asyncio.wait((waiting, serving), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        yield found
    finally:
        found.told.set()
        await serving


class Through(NamedTuple):
    """A server, a capture before it, and a client."""

    server: FaultyServer
    capture: Capturing
    client: httpx.AsyncClient


@asynccontextmanager
async def through(behaviour: Behaviour, out: Path) -> AsyncIterator[Through]:
    """Run a server that behaves in some way, and a capture before it."""
    async with (
        faulty_server(behaviour) as server,
        capturing(server.base_url, out) as capture,
        patient_client() as client,
    ):
        yield Through(server, capture, client)


def patient_client() -> httpx.AsyncClient:
    """Return a client that waits as long as tests do."""
    return httpx.AsyncClient(timeout=PATIENCE_S, trust_env=False)
