"""Plain values in → core → payloads out. Errors become one message; the pasted request is never touched."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import NamedTuple

from core.errors import DebuggerError, EngineError, RequestError
from core.parse.engines import VllmEngine
from core.pipeline import Example, Progress, Target, ask_parsers, debug_request, load_examples
from core.request import read_request
from core.types import JSON, Request, Trace
from ui.present import RunView, empty_payloads, lab_payload, notices_payload, stopped_payload, target_facts
from ui.web.labs import PageLabs
from ui.web.settings import PageSettings
from ui.web.targets import choose_target

TICK_S = 0.5  # a closed tab is noticed at the next tick
MIN_GAP_S = 0.05  # at most 20 updates per second
MAX_LIVE_CHARS = 100_000

Payloads = dict[str, str | None]

_log = logging.getLogger(__name__)
_run_numbers = itertools.count(1)


class TargetFields(NamedTuple):
    """The values of the fields under Target."""

    endpoint: str
    model: str
    tokenizer: str
    tool_parser: str
    reasoning_parser: str


class Update(NamedTuple):
    """One step of a run.

    Attributes:
        payloads: The views that change.
        trace: What is known at the end of a step that ended; `None` while one goes on.
    """

    payloads: Payloads
    trace: Trace | None = None


class LoadedCase(NamedTuple):
    """What choosing a worked case changes: editor, parser fields, views."""

    text: str
    tool_parser: str
    reasoning_parser: str
    payloads: Payloads


class Handlers:
    """What the page's events do; holds what does not change while it is served."""

    def __init__(self, settings: PageSettings, labs: PageLabs) -> None:
        self.settings = settings
        self.labs = labs
        self._engine = VllmEngine()
        self.examples = {example.name: example for example in load_examples()}

    def load_case(self, name: str) -> LoadedCase:
        """Return a worked case ready to run; results of an earlier run go, they belong to another request."""
        example = self.examples[name]
        lab = example.lab
        return LoadedCase(
            example.request_text,
            lab.tool_parser or "none",
            lab.reasoning_parser or "none",
            {**empty_payloads(example.story, self._facts(example)), "notices": check_request(example.request_text)},
        )

    def describe_lab(self) -> tuple[str, bool]:
        """Return the line about the lab, and whether it is worth asking again."""
        line = self.labs.describe(self.settings.target.lab)
        return lab_payload(*line), line.state == "starting"

    def stopped(self) -> str:
        """Return the verdict strip after Stop."""
        return stopped_payload()

    async def run(self, text: str, fields: TargetFields) -> AsyncGenerator[Update, None]:
        """Run what stands in the editor; yield what changes, and the trace at the end."""
        view = RunView(run=next(_run_numbers))
        try:
            request = await asyncio.to_thread(read_request, text)
            yield Update({"notices": notices_payload(request)})
            target = choose_target(self.settings, self.labs, **fields._asdict())
            view.facts = target_facts(target)
            async with aclosing(self._follow(view, request, target)) as updates:
                async for payloads in updates:
                    yield Update(payloads)
            yield Update({}, view.trace)
            if view.trace is not None and _has_lost_calls(view.trace):
                payloads = await self._ask_parsers(view, view.trace, target)
                yield Update(payloads, view.trace)
        except DebuggerError as error:
            if isinstance(error, RequestError):
                yield Update({"notices": notices_payload(error)})
            yield Update(view.fail(error), view.trace)
        except Exception as error:  # noqa: BLE001  # a fault of ours must reach the page as a message, too
            _log.exception("a run failed in a way that nobody foresaw")
            failure = DebuggerError(f"this program failed: {type(error).__name__}: {error}", "The log has more.")
            yield Update(view.fail(failure), view.trace)

    async def _follow(self, view: RunView, request: Request, target: Target) -> AsyncGenerator[Payloads, None]:
        """Yield what changes, at most every `MIN_GAP_S` and at least every `TICK_S`."""
        started_s = time.monotonic()
        latest = _Latest()
        task = asyncio.create_task(latest.consume(debug_request(request, target, self.labs.pool)))
        try:
            while not task.done():
                await latest.wait(TICK_S)
                if latest.progress is not None:
                    yield await asyncio.to_thread(_update, view, latest.progress, time.monotonic() - started_s)
                await asyncio.sleep(MIN_GAP_S)
            await task
            if latest.progress is not None:
                yield await asyncio.to_thread(view.finish, latest.progress.trace)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task

    async def _ask_parsers(self, view: RunView, trace: Trace, target: Target) -> Payloads:
        """Return what changes once vLLM's own parsers were asked; their helper starts at the first need."""
        tokenizer = target.tokenizer or (None if target.base_url else target.lab.model_dir)
        try:
            judged = await ask_parsers(trace, self._engine, tokenizer)
        except EngineError as error:
            _log.info("vLLM's parsers could not be asked: %s", error.message)
            return {}
        return await asyncio.to_thread(view.finish, judged)

    def _facts(self, example: Example) -> list[JSON]:
        target = self.settings.target
        return target_facts(target if target.base_url else Target(lab=example.lab))


def check_request(text: str) -> str | None:
    """Return the lines under the editor for a text as it stands; `None` if it is too long to read at every key."""
    if len(text) > MAX_LIVE_CHARS or not text.strip():
        return None
    try:
        return notices_payload(read_request(text))
    except RequestError as error:
        return notices_payload(error)


def _has_lost_calls(trace: Trace) -> bool:
    verdict = trace.verdict
    return verdict is not None and verdict.dropped_calls + verdict.altered_calls + verdict.invented_calls > 0


class _Latest:
    """The newest progress of a run; older ones that nobody looked at are passed over."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self._news = asyncio.Event()

    async def consume(self, progresses: AsyncIterator[Progress]) -> None:
        try:
            async with aclosing(progresses) as items:  # type: ignore[type-var]  # an async generator, typed as iterator
                async for progress in items:
                    self.progress = progress
                    self._news.set()
        finally:
            self._news.set()

    async def wait(self, timeout_s: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), timeout_s)
        self._news.clear()


def _update(view: RunView, progress: Progress, elapsed_s: float) -> Payloads:
    return view.update(
        progress.trace,
        progress.sentence,
        fraction=progress.fraction,
        raw_text=progress.raw_text,
        chat_text=progress.chat_text,
        elapsed_s=elapsed_s,
    )
