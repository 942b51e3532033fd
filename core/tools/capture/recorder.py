"""Exchanges that are over → what is written; nothing is lost when the program is asked to end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from prompt_debugger.core.base.errors import DebuggerError, SandboxError
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.tools.capture.exchange import Exchange, Held, api_of
from prompt_debugger.core.tools.capture.record import Line, Raw, line_without_bodies, raw_of, write_exchange

_AT_ONCE = 4


class Writes(Protocol):
    """What writes lines of exchanges; `store.Store` is one."""

    def write(self, number: int, kind: str, line: str) -> Path:
        """Write an exchange; return the file that contains it."""


class Keeps(Protocol):
    """Who keeps exchanges."""

    def take_number(self) -> int:
        """Return the number of an exchange that begins."""

    async def warm_up(self) -> None:
        """Start what takes a while to start."""

    async def keep(self, raw: Raw) -> Kept:
        """Write an exchange that is over, without keys.

        Raises:
            DebuggerError: It could not be written.
        """


@dataclass(frozen=True, slots=True)
class Kept:
    """An exchange that was written; `n_calls` is `None` if it has no whole answer."""

    n_calls: int | None
    file: Path


class Writer:
    """Takes keys out of exchanges and writes them, few at a time."""

    def __init__(self, writes: Writes) -> None:
        self._writes = writes
        self._one_at_a_time = asyncio.Lock()
        self._few_at_a_time = asyncio.Semaphore(_AT_ONCE)  # the sandbox looks at all who wait, at each

    async def keep(self, raw: Raw) -> Kept:
        """Write an exchange; raises as `Keeps.keep`."""
        async with self._few_at_a_time:
            line = await self._line_of(raw)
        async with self._one_at_a_time:
            file = await asyncio.to_thread(self._writes.write, raw.number, raw.api, line.text)
        return Kept(line.n_calls, file)

    async def _line_of(self, raw: Raw) -> Line:
        try:
            return await sandbox_of().run(write_exchange, raw)
        except SandboxError as error:
            return line_without_bodies(raw, error.message)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one exchange; no file if it is not kept, no count of calls if it has no whole answer."""

    exchange: Exchange
    n_calls: int | None = None
    file: Path | None = None
    failure: DebuggerError | None = None


class Recorder:
    """Writes the exchanges of one proxy."""

    def __init__(self, keeps: Keeps, upstream: str, on_outcome: Callable[[Outcome], None]) -> None:
        self.n_failed = 0
        self._keeps = keeps
        self._upstream = upstream
        self._on_outcome = on_outcome
        self._held = Held()
        self._writing: set[asyncio.Task[None]] = set()

    def begin(self, method: str, path: str, secrets: tuple[str, ...]) -> Exchange:
        """Return an exchange that begins now."""
        api = api_of(method, path)
        number = 0 if api is None else self._keeps.take_number()
        return Exchange.begin(number, api, method, path, secrets, self._held)

    def keep(self, exchange: Exchange) -> None:
        """Write an exchange that is over; `finish` awaits it."""
        task = asyncio.create_task(self._keep(exchange))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def finish(self) -> None:
        """Return when everything is written."""
        while self._writing:
            await asyncio.wait(self._writing)

    async def _keep(self, exchange: Exchange) -> None:
        if exchange.api is None:
            self._on_outcome(Outcome(exchange))
            return
        try:
            kept = await self._keeps.keep(raw_of(exchange, self._upstream))
            outcome = Outcome(exchange, kept.n_calls, kept.file)
        except DebuggerError as error:
            self.n_failed += 1
            outcome = Outcome(exchange, failure=error)
        finally:
            exchange.sent.drop()
            exchange.answered.drop()
        self._on_outcome(outcome)
