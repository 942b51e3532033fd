"""Plain values in → core → payloads out. Errors become one message; the pasted request is never touched."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import DebuggerError, RequestError, SandboxError
from prompt_debugger.core.base.types import JSON, Api, Request, Trace
from prompt_debugger.core.complete.backends.exchanges import listening
from prompt_debugger.core.evidence import Evidence, show_evidence
from prompt_debugger.core.parse.engines import EngineLimits, VllmEngine
from prompt_debugger.core.pipeline import Example, Progress, Target, load_examples, render_request
from prompt_debugger.core.report import add_error, add_stop_note
from prompt_debugger.core.sandbox import VISITOR, in_thread, sandbox_of, used_by
from prompt_debugger.ui.present import (
    RunView,
    empty_payloads,
    error_payload,
    lab_payload,
    notices_payload,
    running_payload,
    target_facts,
    too_long_payload,
    unserved_payload,
)
from prompt_debugger.ui.present.network import network_payload, waiting_sentence
from prompt_debugger.ui.present.parsers import asking_payload
from prompt_debugger.ui.present.pasted import pasted_payload
from prompt_debugger.ui.web.admission.pacing import PAGE_COST
from prompt_debugger.ui.web.asked import bounded_for, trusting_template
from prompt_debugger.ui.web.failures import as_debugger_error, as_visitors_see
from prompt_debugger.ui.web.gate import RunGate, Turn
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.limits import LimitError, Limits, check_length
from prompt_debugger.ui.web.pasted import Checked, Reading, check_anything, check_call, read_anything
from prompt_debugger.ui.web.recorded import RecordedCases
from prompt_debugger.ui.web.redraw_rate import TICK_S
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.stops import Stops, until_asked
from prompt_debugger.ui.web.targets import (
    NoServerError,
    RunOn,
    TargetFields,
    choose_target,
    fields_for_run,
    is_same_address,
    target_without_server,
)
from prompt_debugger.ui.web.work import check_pasted, has_lost_calls

MIN_GAP_S = 0.05  # at most 20 updates per second
MAX_LIVE_CHARS = 1_000_000
MAX_STREAMED_CHARS = 20_000  # of a text that streams its end is shown; all of it once it has come

Payloads = dict[str, str | None]
ANYTHING = Reading()

_log = logging.getLogger(__name__)
_run_numbers = itertools.count(1)


class Pasted(NamedTuple):
    """The text in the editor, how to read it, where a request goes, and by which API."""

    text: str
    reading: Reading
    run_on: RunOn = RunOn.AUTO
    api: Api | None = None


class Update(NamedTuple):
    """One step of a run.

    Attributes:
        payloads: The views that change.
        trace: What is known at the end of a step that ended; `None` while one is running.
        is_own: Whether this page ran it; a recorded run names a server that this page did not ask.
        asks: Number of the run if it lost a call: vLLM's parsers are asked next, without blocking other runs.
    """

    payloads: Payloads
    trace: Trace | None = None
    is_own: bool = True
    asks: int | None = None


class LoadedCase(NamedTuple):
    """What choosing a worked case changes: editor, parser fields, views, and the run where a recorded one is shown."""

    text: str
    tool_parser: str
    reasoning_parser: str
    payloads: Payloads
    trace: Trace | None = None


class Handlers:
    """Handlers of the page's events, for all visitors: no attribute ever holds anything of one visitor."""

    def __init__(self, settings: PageSettings, labs: PageLabs, limits: Limits | None = None) -> None:
        self.settings = settings
        self.labs = labs
        self.limits = limits or settings.limits
        self.gate = RunGate(self.limits, used=used_by)
        self.stops = Stops()
        # All visitors share one helper, so the questions of untrusted users have short limits.
        self.engine = VllmEngine(limits=EngineLimits(parser_s=2.0, cpu_s=20.0) if settings.public else None)
        self.examples = {example.name: example for example in load_examples()}
        self.recorded = RecordedCases(self.examples, lambda: labs.is_coming)

    def load_case(self, name: str) -> LoadedCase:
        """Return a worked case ready to run, and as it once ran: a visitor sees the answer before a click.

        Results of an earlier run are cleared: they belong to another request.
        """
        example = self.examples[name]
        lab = example.lab
        recorded = self.recorded.open(name) if self._shows_recordings() else None
        return LoadedCase(
            example.request_text,
            lab.tool_parser or "none",
            lab.reasoning_parser or "none",
            {
                **empty_payloads(example.story, self._facts(example)),
                **({} if recorded is None else recorded.payloads),
                "notices": check_pasted(example.request_text, is_public=self.settings.public),  # our own text
            },
            None if recorded is None else recorded.trace,
        )

    def _shows_recordings(self) -> bool:
        """Return whether recordings fit: they were made with the lab model, and no other server is the target."""
        target = self.settings.target
        return target.base_url is None and target.lab.is_lab_model

    def check_request(self, text: str, reading: Reading = ANYTHING, aim: str = "") -> Checked:
        """Return the notices under the editor about the text in it, or one that it is too long for them.

        `aim` is the server that Run will ask regardless of the text; "" for the server that the text names.
        """
        if not text.strip():
            return Checked(None)
        if len(text) > min(MAX_LIVE_CHARS, self.limits.request_chars or MAX_LIVE_CHARS):
            return Checked(too_long_payload(len(text)))
        try:
            return sandbox_of().call(check_anything, text, reading, is_public=self.settings.public, aim=aim)
        except SandboxError as error:
            return Checked(notices_payload(RequestError(error.message, error.hint)))

    def describe_lab(self) -> tuple[str, bool]:
        """Return the line about the lab, and whether it is worth asking again."""
        line = self.labs.describe(self.settings.target.lab)
        if line.state == "absent" and self.settings.public:
            line = line._replace(sentence="No lab on this page: examples open as recorded runs")
        if line.state == "failed" and self.settings.public:
            line = line._replace(sentence="This page's lab is not available: examples open as recorded runs")
        return lab_payload(*line), line.state in ("installing", "starting")

    def not_started(self) -> str:
        """Return the verdict strip of a run that the gate to the server refused: too long, or too many wait."""
        return error_payload(DebuggerError("The run did not start.", "See the error notice."))

    async def run(
        self,
        text: str,
        fields: TargetFields,
        session: str = "",
        key: str = "",
        reading: Reading = ANYTHING,
        run_on: RunOn = RunOn.AUTO,
        api: Api | None = None,
    ) -> AsyncGenerator[Update, None]:
        """Run the text in the editor; yield what changes, and the trace at the end.

        A run that is stopped ends with what had arrived; one whose request has left the page ends silently. The key is
        for the endpoint among the fields and goes into no trace; without an `api` the request is sent by its own.
        """
        view = RunView(run=next(_run_numbers))
        with self.stops.follow(session) as sign:
            async with aclosing(
                until_asked(self._whole_run(view, Pasted(text, reading, run_on, api), fields, session, key), sign)
            ) as updates:
                async for update in updates:
                    yield update
            if sign.is_silent:
                return
            network: dict[str, str | None] = {}
            if view.exchanges.exchanges:
                network["network"] = await in_thread(network_payload, view.exchanges, view.run)
            if view.trace is not None and sign.asked.is_set():
                view.trace = add_stop_note(view.trace)
            if sign.asked.is_set():
                yield Update({**await in_thread(view.stop), **network}, view.trace)
            elif network:
                yield Update(network)  # the trace was sent, and may be more complete by now

    async def _whole_run(
        self, view: RunView, pasted: Pasted, fields: TargetFields, session: str, key: str
    ) -> AsyncGenerator[Update, None]:
        """Yield what a run changes, from its place in the line to its end; every error is a message."""
        try:
            check_length(pasted.text, self.limits)  # before it waits and takes up memory meanwhile
            with self.gate.enter(session, VISITOR.get().partition("/")[0], PAGE_COST.get()) as turn:
                async for payloads in self._wait(view, turn):
                    yield Update(payloads)
                async with aclosing(self._run(view, pasted, fields, key)) as updates:
                    async for update in updates:
                        yield update
        except Exception as error:  # noqa: BLE001  # a bug of ours must reach the page as a message, too
            if isinstance(error, RequestError):
                yield Update({"notices": await in_thread(notices_payload, error)})
            failure = as_visitors_see(as_debugger_error(error, logs_words=not self.settings.public), self.settings)
            if view.trace is not None:
                view.trace = add_error(view.trace, failure)  # the files of the run say it, too
            yield Update(await in_thread(view.fail, failure), view.trace)

    async def _wait(self, view: RunView, turn: Turn) -> AsyncGenerator[Payloads, None]:
        """Yield how many runs are ahead until it is this one's turn; empty updates in between detect a closed page."""
        shown, shown_s = 0, 0.0
        while ahead := self.gate.runs_ahead(turn):
            if not shown or time.monotonic() - shown_s >= TICK_S * self.gate.redraw_rate():
                sentence = f"Waiting: {ahead} {'run is' if ahead == 1 else 'runs are'} ahead of yours"
                yield {} if ahead == shown else {"verdict": running_payload(sentence, run=view.run)}
                shown, shown_s = ahead, time.monotonic()
            await self.gate.wait(turn)

    async def _run(self, view: RunView, given: Pasted, fields: TargetFields, key: str) -> AsyncGenerator[Update, None]:
        pasted = await sandbox_of().run(
            read_anything, given.text, self.limits, given.reading, hides_keys=self.settings.public
        )
        if pasted.is_evidence or pasted.request is None:
            yield await self._show(view, pasted)
            return
        request = pasted.request
        aim = "the lab" if given.run_on is RunOn.LAB else fields.endpoint.strip()
        called = await in_thread(check_call, request, given.text, aim, is_public=self.settings.public)
        yield Update({"notices": called.payload})
        try:
            fields = fields_for_run(self.settings, fields, request, given.run_on)
            if not key and not self.settings.public and is_same_address(fields.endpoint, request.base_url):
                key = called.key
            target = choose_target(self.settings, self.labs, fields, key)
        except NoServerError as error:
            yield await self._show_without_server(view, request, fields, error)
            return
        request = bounded_for(target, request, self.limits)
        # The limits on a public visitor's request are for chat completions.
        target = replace(target, api=Api.CHAT if self.settings.public else given.api)
        target = trusting_template(target, request, is_public=self.settings.public)
        view.facts = target_facts(target)
        async with aclosing(self._follow(view, request, target)) as updates:
            async for payloads in updates:
                yield Update(payloads)
        yield Update({}, view.trace)
        if view.trace is not None and has_lost_calls(view.trace) and view.trace.parse and view.trace.raw:
            yield Update({"parser_matrix": asking_payload()}, view.trace, asks=view.run)

    async def _show(self, view: RunView, pasted: Evidence) -> Update:
        """Return what pasted evidence shows; no server is asked, now or later."""
        view.facts = [["", "pasted", "No server was asked"], ["", pasted.words.replace("`", ""), ""]]
        trace = await show_evidence(pasted)
        payloads = await in_thread(view.finish, trace)
        return Update({**payloads, "notices": await in_thread(pasted_payload, pasted)}, trace, is_own=False)

    async def _show_without_server(
        self, view: RunView, request: Request, fields: TargetFields, error: NoServerError
    ) -> Update:
        """Return what there is to see without a server: the recording of a worked case, else the prompt."""
        parsers = {"tool_parser": fields.tool_parser, "reasoning_parser": fields.reasoning_parser}
        target = target_without_server(self.settings, tokenizer=fields.tokenizer, **parsers)
        if (recorded := await in_thread(self.recorded.find, request, target, run=view.run)) is not None:
            return Update(recorded.payloads, recorded.trace, is_own=False)
        view.facts = target_facts(target)
        trace = await render_request(request, target)
        payloads = await in_thread(view.finish, trace)
        why = " ".join(trace.notes)
        verdict = unserved_payload(error, is_rendered=trace.local_prompt is not None, why=why, run=view.run)
        return Update({**payloads, "verdict": verdict}, trace)

    async def _follow(self, view: RunView, request: Request, target: Target) -> AsyncGenerator[Payloads, None]:
        """Yield what changes, at most every `MIN_GAP_S` and at least every `TICK_S`; where many run, less often."""
        started_s = time.monotonic()
        heard = (
            None if self.settings.public else listening(view.exchanges)
        )  # on a public page, traffic is the operator's business
        async with pipeline.follow(request, target, self.labs.pool, context=heard) as (progress, run):
            while not run.done():
                redraw_rate = self.gate.redraw_rate()
                await progress.wait(TICK_S * redraw_rate)
                _check_time(time.monotonic() - started_s, self.limits)
                if progress.newest is not None and not run.done():
                    yield await in_thread(_update, view, progress.newest, time.monotonic() - started_s)
                await asyncio.wait({run}, timeout=MIN_GAP_S * redraw_rate)
            await run
            if progress.newest is not None:
                yield await in_thread(view.finish, progress.newest.trace)

    def _facts(self, example: Example) -> list[JSON]:
        target = self.settings.target
        if self.settings.public and target.base_url is None and not self.labs.enabled:
            return []
        return target_facts(target if target.base_url else Target(lab=example.lab))


def _check_time(elapsed_s: float, limits: Limits) -> None:
    if limits.run_s is not None and elapsed_s > limits.run_s:
        raise LimitError(
            f"The run was ended after {limits.run_s:g} s, the time limit of this public page.",
            "Ask for fewer tokens, or run the program on your own machine.",
        )


def _update(view: RunView, progress: Progress, elapsed_s: float) -> Payloads:
    return view.update(
        progress.trace,
        waiting_sentence(progress.sentence, view.exchanges),
        fraction=progress.fraction,
        raw_text=progress.raw_text[-MAX_STREAMED_CHARS:],
        chat_text=progress.chat_text[-MAX_STREAMED_CHARS:],
        elapsed_s=elapsed_s,
    )
