"""The bench: experiments on the request in the editor, followed step by step; plain values in, payloads out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.experiments import CountAnswer, compare_setups, step_count, step_switches, step_turns
from prompt_debugger.core.tools.sessions import follow_sessions, sessions_to_json
from prompt_debugger.ui.present.experiments import (
    bench_error_payload,
    count_payload,
    setups_payload,
    switches_payload,
    turns_payload,
)
from prompt_debugger.ui.present.sessions import sessions_payload
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.limits import Limits, check_length
from prompt_debugger.ui.web.redraw_rate import RedrawRate
from prompt_debugger.ui.web.render_setups import FoundSetup, find_setup, keep_edges, second_setup, use_own_template
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.work import read_pasted, read_sessions

MIN_GAP_S = 0.25  # a report is drawn whole: no more than four times a second
PUBLIC_BUDGET_S = 60.0  # for one experiment of a visitor of a public page
MAX_ANSWERS = 8
_FEWEST = 2  # requests of a session

Report = TypeVar("Report")
_log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """What an experiment acts on, as the page holds it."""

    text: str
    fields: TargetFields
    trace: Trace | None = None


class CountStep(NamedTuple):
    """A step of explaining a token count: the payload, and at the end the answers so far."""

    payload: str | None
    answers: tuple[tuple[JSONObject, CountAnswer], ...] | None = None


class Bench:
    """What the events of the what-if panel do; keeps only what does not change while the page is served."""

    def __init__(self, settings: PageSettings, labs: PageLabs, redraw_rate: RedrawRate | None = None) -> None:
        self._settings = settings
        self._labs = labs
        self.redraw_rate = redraw_rate or RedrawRate()
        self._budget_s = PUBLIC_BUDGET_S if settings.public else None

    @shown_as(bench_error_payload)
    async def try_switches(self, asked: Asked, edited: str) -> AsyncGenerator[str | None, None]:
        """Try every switch; `edited` is the template editor's text, a further switch if it is another template."""
        self.check_text(edited)
        body, found = await in_thread(self._find, asked)
        own = found.setup.template
        other = keep_edges(edited, own) if edited.strip() and keep_edges(edited, own) != own else None
        steps = step_switches(body, found.setup, other_template=other)
        async for report, is_running in follow_steps(steps, self._budget_s, self.redraw_rate):
            if report is None:
                yield None
                continue
            yield await in_thread(switches_payload, report, found.source, is_running=is_running)

    @shown_as(bench_error_payload)
    async def follow_turns(self, asked: Asked) -> AsyncGenerator[str | None, None]:
        """Render the conversation turn by turn."""
        body, found = await in_thread(self._find, asked)
        async for report, is_running in follow_steps(step_turns(body, found.setup), self._budget_s, self.redraw_rate):
            if report is None:
                yield None
                continue
            yield await in_thread(turns_payload, report, found.source, is_running=is_running)

    @shown_as(bench_error_payload)
    async def follow_sessions(self, asked: Asked) -> AsyncGenerator[str | None, None]:
        """Follow the requests of agents in the editor, from one to the next."""
        self.check_text(asked.text)
        exchanges, unread = await sandbox_of().run(read_sessions, asked.text)
        if len(exchanges) < _FEWEST:
            raise RequestError(
                "A session needs at least two requests; the text contains " + ("one." if exchanges else "none."),
                "Paste or drop a capture, a HAR, lines of requests, or an agent's session file.",
            )
        # A tokenizer that no one named is that of another model.
        has_own = bool(asked.fields.tokenizer.strip() or self._settings.target.tokenizer)
        found = await in_thread(self.find_setup, asked.fields, asked.trace) if has_own else None
        source = "The requests themselves are compared, without a tokenizer." if found is None else found.source
        steps = _so_far(follow_sessions(exchanges, None if found is None else found.setup))
        async for sessions, is_running in follow_steps(steps, self._budget_s, self.redraw_rate):
            if sessions is None:
                yield None
                continue
            document = await in_thread(sessions_to_json, sessions)
            yield await in_thread(sessions_payload, document, source, unread, is_running=is_running)

    @shown_as(lambda error: CountStep(bench_error_payload(error)))
    async def explain_count(
        self, asked: Asked, counted: str, earlier: tuple[tuple[JSONObject, CountAnswer], ...]
    ) -> AsyncGenerator[CountStep, None]:
        """Explain a number of prompt tokens; answers for other requests narrow it down."""
        number = _whole_number(counted)
        body, found = await in_thread(self._find, asked)
        others = [answer for request, answer in earlier if request != body]
        async for answer, is_running in follow_steps(
            step_count(body, found.setup, number), self._budget_s, self.redraw_rate
        ):
            if answer is None:
                yield CountStep(None)
                continue
            payload = await in_thread(count_payload, answer, found.source, earlier=others, is_running=is_running)
            kept = tuple(one for one in earlier if one[0] != body)[-MAX_ANSWERS + 1 :]
            yield CountStep(payload, None if is_running else (*kept, (body, answer)))

    @shown_as(bench_error_payload)
    async def compare(self, asked: Asked, template: str, tokenizer: str) -> AsyncGenerator[str | None, None]:
        """Render the request with a second template or tokenizer and compare."""

        def compared() -> Iterator[str]:
            self.check_text(template)
            body, found = self._find(asked)
            second = second_setup(self._settings, found.setup, template=template, tokenizer=tokenizer)
            yield setups_payload(compare_setups(body, found.setup, second.setup), found.source, second.source)

        async for payload, _ in follow_steps(compared(), self._budget_s, self.redraw_rate):
            yield payload

    def read_body(self, asked: Asked) -> JSONObject:
        """Return the request in the editor.

        Raises:
            DebuggerError: It cannot be read, or is longer than a public page reads.
        """
        self.check_text(asked.text)
        limits = Limits(request_chars=self._settings.limits.request_chars)
        return sandbox_of().call(read_pasted, asked.text, limits, hides_keys=False).body

    def check_text(self, text: str) -> None:
        """Refuse a text that is longer than a public page reads.

        Raises:
            DebuggerError: It is.
        """
        check_length(text, self._settings.limits)

    def find_setup(self, fields: TargetFields, trace: Trace | None) -> FoundSetup:
        """Return what the page's target renders with; errors as `ui.web.render_setups.find_setup`."""
        return find_setup(self._settings, self._labs, fields, trace)

    def _find(self, asked: Asked) -> tuple[JSONObject, FoundSetup]:
        body = self.read_body(asked)
        return body, use_own_template(self.find_setup(asked.fields, asked.trace), body)


async def follow_steps(
    steps: Iterator[Report], budget_s: float | None, redraw_rate: RedrawRate
) -> AsyncGenerator[tuple[Report | None, bool], None]:
    """Take the steps in a thread; yield the newest report and whether more will come, `None` for a mere tick.

    Where many wait they tick less often. A closed tab or Stop ends it: between two steps, or in the sandbox.
    """
    started_s = time.monotonic()
    drawn_s = 0.0
    report: Report | None = None
    while True:
        taken = asyncio.ensure_future(in_thread(_take, steps))
        try:
            with redraw_rate.counted():
                while not await redraw_rate.tick(taken):
                    yield None, True
        finally:
            taken.cancel()  # anyone who left has no more use for it
        if not taken.result():
            break
        [report] = taken.result()
        now_s = time.monotonic()
        if budget_s is not None and now_s - started_s > budget_s:
            break
        if now_s - drawn_s > MIN_GAP_S:
            drawn_s = now_s
            yield report, True
    if report is not None:
        yield report, False


def _so_far(steps: Iterator[Report]) -> Iterator[tuple[Report, ...]]:
    """Yield after each report all of them."""
    reports: tuple[Report, ...] = ()
    for one in steps:
        reports = (*reports, one)
        yield reports


def _take(steps: Iterator[Report]) -> list[Report]:
    """Return the next report alone, nothing at the end."""
    return list(islice(steps, 1))


def _whole_number(text: str) -> int:
    digits = text.strip().replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:12]) < 10**9):
        raise RequestError(
            f"The number of prompt tokens is {shorten(text)}, expected a whole number above 0.",
            "It is in the answer's `usage.prompt_tokens`.",
        )
    return int(digits)
