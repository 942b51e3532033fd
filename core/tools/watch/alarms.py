"""An exchange that someone should look at: one line for a person, one document for a webhook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.backends.address import read_address
from prompt_debugger.core.complete.backends.relay import Relay
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.watch.canary import CanaryResult
from prompt_debugger.core.tools.watch.counts import OUTCOMES
from prompt_debugger.core.tools.watch.reading import model_of

SCHEMA_VERSION = 1
_WORDS = {"leaked": "left in the text", "cut": "cut short"}
_MAX_WAITING = 100
_SEND_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """An exchange at fault.

    Attributes:
        schema_version: Of this form.
        exchange: Which one.
        at: When it began.
        model: That was asked for.
        client: What the client calls itself.
        counts: Calls that were dropped and the like, those that are not 0.
        codes: Rules that found an error or a warning.
        stage: The guilty stage; `null` if nothing can be said.
        verdict: In one sentence.
        stream_differs: Fields in which the streamed answer differs from the same output read whole.
        lacks_grammar: Whether the grammar that the request asks for was never in force.
    """

    schema_version: int = SCHEMA_VERSION
    exchange: int
    at: str
    model: str
    client: str
    counts: dict[str, int]
    codes: tuple[str, ...]
    stage: str | None
    verdict: str
    stream_differs: tuple[str, ...] = ()
    lacks_grammar: bool = False

    @property
    def line(self) -> str:
        """The alarm in one line."""
        counted = self.counts.items()
        parts = [f"{count} call{'' if count == 1 else 's'} {_WORDS.get(name, name)}" for name, count in counted]
        if self.stream_differs:
            named = ", ".join(f"`{name}`" for name in self.stream_differs)
            parts.append(f"streamed and whole, it differs ({named})")
        if self.lacks_grammar:
            parts.append("the grammar that it asks for was never in force")
        trouble = ", ".join(parts) or "an error was found"
        codes = f" ({', '.join(self.codes)})" if self.codes else ""
        source = f"{self.model or 'no model named'}, {self.client or 'unknown client'}"
        return f"Exchange {self.exchange}, {source}: {trouble}{codes}. {self.verdict}".strip()

    def to_json(self) -> JSONObject:
        """Return what a webhook gets, and `watch --json` prints."""
        return dump_document(self)


def alarm_of(row: JSONObject, client: str) -> Alarm:
    """Return the alarm of a row at fault."""
    own = as_object(row.get("debugger"))
    codes, differing = own.get("codes"), own.get("stream_differs")
    counts = {name: count for name in OUTCOMES[2:] if isinstance(count := own.get(name), int) and count}
    return Alarm(
        exchange=int(str(row["data_index"])),
        model=model_of(row),
        client=client,
        counts=counts,
        codes=tuple(map(str, codes)) if isinstance(codes, list) else (),
        stage=str(own["stage"]) if own.get("stage") else None,
        verdict=redact_text(str(own.get("verdict") or "")),
        at=str(row.get("last_run_at") or ""),
        stream_differs=tuple(map(str, differing)) if isinstance(differing, list) else (),
        lacks_grammar=own.get("grammar") == "never",
    )


class Webhook:
    """Sends alarms to one address, in turn; what it does not take is counted and said once.

    Raises:
        RequestError: It is not an address.
    """

    def __init__(self, url: str, on_problem: Callable[[str], None]) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise RequestError(f"{url!r} is not the address of a webhook.", "Give an http URL.", field="--webhook")
        self._url = httpx.URL(url)
        self._relay = Relay(read_address(url))
        self._on_problem = on_problem
        self._waiting: asyncio.Queue[Alarm | CanaryResult | None] = asyncio.Queue(_MAX_WAITING)
        self._is_ending = False
        self.n_lost = 0

    def add(self, alarm: Alarm | CanaryResult) -> None:
        """Send an alarm in its turn."""
        try:
            self._waiting.put_nowait(alarm)
        except asyncio.QueueFull:
            self.n_lost += 1

    async def send_all(self) -> None:
        """Send what comes until asked to end; then what waits, as long as the address takes it."""
        while (alarm := await self._waiting.get()) is not None:
            if not (self._is_ending and self.n_lost):
                await self._send(alarm)
        await self._relay.close()

    async def end(self) -> None:
        """Tell it to end."""
        self._is_ending = True
        await self._waiting.put(None)

    async def _send(self, alarm: Alarm | CanaryResult) -> None:
        data = json.dumps(alarm.to_json()).encode("ascii")
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(data))]
        try:
            async with (
                asyncio.timeout(_SEND_S),
                self._relay.send("POST", self._url, headers, _once(data)) as answer,
            ):
                problem = "" if answer.status < 300 else f"it answered with status {answer.status}"
        except TimeoutError:
            problem = f"it did not answer within {_SEND_S:g} s"
        except (BackendError, OSError) as error:
            problem = str(error)
        if problem:
            self.n_lost += 1
            if self.n_lost == 1:
                self._on_problem(problem)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
