"""A watch in this process, before a server that a test made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prompt_debugger.core.tools.capture import Capture
from prompt_debugger.core.tools.verify.plan import Stop
from prompt_debugger.core.tools.watch.alarms import Alarm
from prompt_debugger.core.tools.watch.canary import CanaryResult
from prompt_debugger.core.tools.watch.counts import Counts
from prompt_debugger.core.tools.watch.serve import Listener, Watch, serve_watch
from tests.patience import PATIENCE_S


@dataclass
class Watching:
    """A watch that runs; its counts are whole once the block is left."""

    base_url: str = ""
    metrics: str = ""
    alarms: list[Alarm] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    changes: list[CanaryResult] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def until(self, holds: Callable[[Counts], bool]) -> None:
        """Wait until the counts are as wanted."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds(self.counts):
                self.changed.clear()
                await self.changed.wait()

    async def until_a_class_changes(self) -> None:
        """Wait for an answer of another class to a known request."""
        async with asyncio.timeout(PATIENCE_S):
            while not self.changes:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def watching(upstream: str, store: Path, *, evidence: bool = False, **more: Any) -> AsyncIterator[Watching]:
    """Run a watch on a free port; what waits is read before the block is left."""
    found, ready, stop = Watching(), asyncio.Event(), Stop()

    def on_ready(base_url: str, _: str, metrics: str) -> None:
        found.base_url, found.metrics = base_url, metrics
        ready.set()

    def on_read(counts: Counts) -> None:
        found.counts = counts
        found.changed.set()

    watch = replace(Watch(Capture(upstream, store, asks_for_ids=evidence), store), **more)

    def on_changed(result: CanaryResult) -> None:
        found.changes.append(result)
        found.changed.set()

    listener = Listener(on_ready, found.alarms.append, found.problems.append, on_read, on_changed)
    serving = asyncio.create_task(serve_watch(watch, listener, stop))
    waiting = asyncio.create_task(ready.wait())
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        yield found
    finally:
        stop.ask()
        found.counts = await serving
