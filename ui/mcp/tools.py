"""What each tool does, without the SDK. Runs go through the page's handlers: its gate, its limits, its servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Request, Trace
from prompt_debugger.core.evidence import Evidence, parts_of, show_evidence
from prompt_debugger.core.pipeline import CaseParser, Progress, check_case
from prompt_debugger.core.report import parse_to_json, prompt_to_json, trace_to_json
from prompt_debugger.core.sandbox import VISITOR, in_thread, sandbox_of
from prompt_debugger.core.tools.fixes.plans import Plan
from prompt_debugger.core.tools.fixes.shrink import shrink_run
from prompt_debugger.core.tools.fixes.try_fixes import Experiment, step_experiments, tried_fixes
from prompt_debugger.ui.mcp.answers import (
    Answer,
    answer,
    call_records,
    finding_lines,
    finding_records,
    trace_answer,
    tried_lines,
    tried_report,
)
from prompt_debugger.ui.mcp.kept import PAGE_CHARS, Kept, KeptRuns
from prompt_debugger.ui.mcp.parameters import Where
from prompt_debugger.ui.present.words import count_of
from prompt_debugger.ui.rule_pages import rule_page, rule_pages
from prompt_debugger.ui.web.admission.counts import Counts, Use
from prompt_debugger.ui.web.admission.kinds import OWN_ADMISSION, PUBLIC_ADMISSION, Kind
from prompt_debugger.ui.web.admission.payloads import PayloadError
from prompt_debugger.ui.web.fixes.bug_report import PUBLIC_SHRINK_RUNS, SHRINK_RUNS
from prompt_debugger.ui.web.fixes.offered import plan_to_try
from prompt_debugger.ui.web.fixes.runs import PageRuns, Ran, RunProgress
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.limits import LimitError, Limits, check_length
from prompt_debugger.ui.web.pasted import Reading, read_anything
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import NoServerError, RunOn, TargetFields, choose_target, fields_for_run
from prompt_debugger.ui.web.work import parse_in_sandbox

_TAIL = 600  # characters of a prompt that an answer shows
_REQUEST = 4_000  # and of a request


class Caller(NamedTuple):
    """Who calls a tool.

    Attributes:
        session: Which session of a client.
        visitor: The address that it comes from; "" for the process that started us.
        report: Called with how far the work is.
    """

    session: str = "client"
    visitor: str = ""
    report: Callable[[str], None] = lambda _: None


@dataclass(slots=True)
class _Progress(RunProgress):
    """Passes on how far a run is."""

    report: Callable[[str], None] = lambda _: None

    def take(self, progress: Progress) -> None:
        """Store the progress, and pass on each new sentence."""
        is_new = progress.sentence != self.sentence
        RunProgress.take(self, progress)
        if is_new:
            self.report(progress.sentence)


class Tools:
    """The tools of one server."""

    def __init__(self, settings: PageSettings, labs: PageLabs) -> None:
        self.settings = settings
        self.kept = KeptRuns()
        self._labs = labs
        self._handlers = Handlers(settings, labs)
        self._runs = PageRuns(self._handlers)
        self._counts = Counts(PUBLIC_ADMISSION if settings.public else OWN_ADMISSION)
        self._in_use: list[Use] = []

    @property
    def limits(self) -> Limits:
        """How much of what a client may pass."""
        return self._handlers.limits

    def close(self) -> None:
        """End the helpers."""
        self._handlers.engine.close()

    @contextmanager
    def admitted(self, caller: Caller, kind: Kind) -> Iterator[None]:
        """Count a call while it runs.

        Raises:
            LimitError: The caller, or all together, have as much as they may.
        """
        use = Use(kind, caller.session, caller.visitor)
        try:
            self._counts.check(use, self._in_use)
        except PayloadError as error:
            raise LimitError(str(error)) from None
        self._in_use.append(use)
        token = VISITOR.set(f"{caller.visitor}/{caller.session}" if caller.visitor else "")
        try:
            yield
        finally:
            VISITOR.reset(token)
            self._in_use.remove(use)

    async def diagnose(self, text: str, request: str = "", prompt: str = "") -> Answer:
        """Say what evidence shows; no server is asked."""
        evidence = await self._read(text, request, prompt)
        trace = await show_evidence(evidence)
        parts: list[JSON] = [part.value for part in parts_of(trace)]
        lead = f"Read as {evidence.words}."
        handle = self.kept.keep_trace(trace)
        return await in_thread(
            partial(trace_answer, trace, handle, lead=lead, more={"taken_for": evidence.form.value, "holds": parts})
        )

    async def run(self, caller: Caller, where: Where, *, request: str = "", example: str = "") -> Answer:
        """Run a request, or a worked case, on a server and diagnose it."""
        if bool(request.strip()) == bool(example):
            raise RequestError("`run` takes a request or the name of an example.", "Give exactly one of the two.")
        fields = self._fields(where)
        if example:
            known = self._handlers.examples.get(example)
            if known is None:
                names = ", ".join(self._handlers.examples)
                raise RequestError(f"There is no example {example!r}.", f"There are {names}.", field="example")
            request = known.request_text
            if not where.tool_parser and not where.reasoning_parser:
                lab = known.lab
                fields = fields._replace(
                    tool_parser=lab.tool_parser or "none", reasoning_parser=lab.reasoning_parser or "none"
                )
        evidence = await self._read(request)
        if evidence.request is None or evidence.is_evidence:
            raise RequestError(f"This is {evidence.words}, not a request.", "Use `diagnose` for an answer.")
        return await self._run(caller, evidence.request, fields, example)

    async def _run(self, caller: Caller, request: Request, fields: TargetFields, example: str) -> Answer:
        fields = fields_for_run(self.settings, fields, request, RunOn.AUTO)
        lead = ""
        try:
            target = choose_target(self.settings, self._labs, fields)
            progress = _Progress(report=caller.report)
            ran = Ran(None, fields, caller.session)
            trace = await self._runs.run(ran, target, request.body, Plan("as it is"), progress)
        except NoServerError:
            recorded = self._handlers.recorded.open(example) if example else None
            if recorded is None:
                raise
            trace, lead = recorded.trace, "There is no server here: this is the recorded run of the example."
        return await in_thread(partial(trace_answer, trace, self.kept.keep_trace(trace, fields), lead=lead))

    async def render(self, request: str, chat_template: str = "", tokenizer: str = "") -> Answer:
        """Say which prompt a request becomes."""
        evidence = await self._read(request)
        if evidence.request is None:
            raise RequestError(f"This is {evidence.words}, not a request.", "Use `diagnose`.")
        if tokenizer and self.settings.public:
            raise RequestError("A public server chooses the tokenizer itself.", "Leave `tokenizer` out.")
        check_length(chat_template, self.limits)
        own = self.settings.target.tokenizer
        source = tokenizer or (str(own) if own else "" if chat_template else "lab-model")
        case: JSONObject = {
            "request": evidence.request.body,
            "chat_template": chat_template or None,
            "tokenizer": source or None,
        }
        prompt, findings = await check_case(case)
        trace = Trace(evidence.request, prompt=prompt, local_prompt=prompt, findings=findings)
        handle = self.kept.keep(Kept(lambda: prompt_to_json(prompt, findings=findings), trace))
        count = None if prompt.tokens is None else len(prompt.tokens)
        tokens = "tokens are not known" if count is None else f"{count} tokens"
        lines = [f"The prompt has {len(prompt.text)} characters, {tokens}. It ends with:", prompt.text[-_TAIL:]]
        lines += [*finding_lines(findings), f'Kept as handle "{handle}": `more` with part "prompt" shows all of it.']
        return answer(
            lines,
            {
                "handle": handle,
                "characters": len(prompt.text),
                "tokens": count,
                "unread": list(prompt.unread),
                "tail": prompt.text[-_TAIL:],
                "findings": finding_records(findings),
            },
        )

    async def parse(self, case: JSONObject) -> Answer:
        """Say which calls a raw output contains and where they went."""
        if case.get("parsers") and self.settings.public:
            raise RequestError("A public server does not run parsers here.", "Leave `parsers` out.")
        check_length(str(case), self.limits)
        if case.get("parsers"):
            document, findings = await in_thread(_parse_with_parsers, case)
        else:
            document, findings = await parse_in_sandbox(case)
        handle = self.kept.keep(Kept(lambda: document))
        calls = call_records(document)
        lines = [f"The output was read as {document['format']}; it contains {count_of(len(calls), 'tool call')}."]
        lines += [f"Call: {one['name']} ({one['outcome']}) {one['arguments']}" for one in calls]
        parsers = document["parsers"]
        assert isinstance(parsers, dict)
        rights: JSONObject = {name: _parser_words(one) for name, one in parsers.items()}
        lines += [f"{name}: {words}" for name, words in rights.items()]
        lines += [*finding_lines(findings), f'Kept as handle "{handle}": `more` shows the whole document.']
        return answer(
            lines,
            {
                "handle": handle,
                "format": document["format"],
                "calls": [dict(one) for one in calls],
                "parsers": rights,
                "findings": finding_records(findings),
            },
        )

    async def try_fix(self, caller: Caller, handle: str, code: str) -> Answer:
        """Run the change that a finding suggests, and return whether the finding is gone."""
        trace, fields = self.kept.run(handle)
        if trace.server is None:
            raise RequestError(
                "No server was asked in this run, so nothing can be compared with it.",
                "Use `run` with the request first, then `try_fix` with the handle of that run.",
            )
        ran = Ran(trace, fields, caller.session)
        trace, target = self._runs.target(ran)
        plan, progress = plan_to_try(trace, code, target), _Progress(report=caller.report)

        async def run(body: JSONObject, plan: Plan) -> Trace:
            return await self._runs.run(ran, target, body, plan, progress)

        made = Experiment(plan)
        async for step in step_experiments(trace, [plan], run):
            made = step.experiments[-1] if step.experiments else made
        if not made.traces:
            raise RequestError(f"The fix could not be tried: {made.problem or 'no run was made'}")
        worked = tried_fixes(trace, [made])[code].worked is True
        after = made.traces[-1]
        elsewhere = {"tool_parser": plan.tool_parser, "reasoning_parser": plan.reasoning_parser}
        fields = fields._replace(**{name: one for name, one in elsewhere.items() if one is not None})
        more: JSONObject = {"tried": plan.name, "worked": worked, "patch": [dict(one) for one in plan.patch]}
        lines = tried_lines(made, code, trace, worked=worked)
        report = partial(tried_report, lines, trace)
        handle = self.kept.keep(Kept(lambda: trace_to_json(after), after, fields, report))
        return await in_thread(partial(trace_answer, after, handle, lead="\n".join(lines), more=more))

    async def explain(self, code: str, handle: str = "") -> Answer:
        """Say what a rule finds and why it matters, and what of a run it rests on."""
        page = rule_pages().get(code.upper())
        if page is None:
            raise RequestError(f"There is no rule {code!r}.", "Codes look like PD401.", field="code")
        lines = [rule_page(page)]
        found: list[JSON] = []
        for one in self.kept.run(handle)[0].findings if handle else ():
            if one.code == page.code:
                quotes = [str(piece.quote) for piece in one.evidence if piece.quote]
                lines.insert(0, f"In this run: {one.detail} " + " ".join(f"Quoted: {quote!r}." for quote in quotes[:4]))
                found.append({"detail": one.detail, "quotes": [*quotes[:4]]})
        return answer(lines, {"code": page.code, "name": page.name, "in_this_run": found})

    async def shrink(self, caller: Caller, handle: str, code: str = "") -> Answer:
        """Make the request of a run as small as it goes while the finding stays."""
        trace, fields = self.kept.run(handle)
        trace, target = self._runs.target(Ran(trace, fields, caller.session))
        ran, progress = Ran(trace, fields, caller.session), _Progress()
        runs: dict[str, Trace] = {}  # the last run of each request

        async def run(body: JSONObject) -> Trace:
            made = runs[json.dumps(body)] = await self._runs.run(ran, target, body, Plan("smaller"), progress)
            return made

        budget = PUBLIC_SHRINK_RUNS if self.settings.public else SHRINK_RUNS
        shrunk = await shrink_run(
            trace,
            target,
            run,
            finding=code or None,
            budget=budget,
            on_step=lambda step: caller.report(f"{step.size[1]} of {step.size[0]} characters, {step.asked} runs"),
        )
        document = shrunk.to_json()
        lines = [f"{shrunk.finding} stays with {shrunk.size[1]} of {shrunk.size[0]} characters of the request,"]
        lines += [f"reproduced in {shrunk.confirmed} of 3 confirming runs.", json.dumps(shrunk.request)[:_REQUEST]]
        confirming = runs.get(json.dumps(shrunk.request))
        if confirming is not None:
            document["handle"] = kept = self.kept.keep_trace(confirming, fields)
            lines.append(f'Its last run is kept as handle "{kept}": `more` with part "report" is for an issue.')
        return answer(lines, document)

    async def more(self, handle: str, part: str = "document", offset: int = 0) -> Answer:
        """Show a part of what a handle stands for."""
        text = await in_thread(self.kept.part, handle, part)
        start = max(0, offset)
        shown = text[start : start + PAGE_CHARS]
        next_offset = start + len(shown) if start + len(shown) < len(text) else None
        document: JSONObject = {"text": shown, "characters": len(text), "next_offset": next_offset}
        return Answer(shown + ("" if next_offset is None else f"\n… continue with offset {next_offset}"), document)

    async def _read(self, text: str, request: str = "", prompt: str = "") -> Evidence:
        hides_keys = self.settings.public
        return await sandbox_of().run(
            read_anything, text, self.limits, Reading(), hides_keys=hides_keys, request=request, prompt=prompt
        )

    def _fields(self, where: Where) -> TargetFields:
        """Return the fields of the page that say the same."""
        base = self.settings.target
        own = where.endpoint.strip() in ("", base.base_url)
        lab = base.lab
        return TargetFields(
            where.endpoint or base.base_url or "",
            where.model or (base.model or "" if own else ""),
            where.tokenizer or (str(base.tokenizer or "") if own else ""),
            where.tool_parser or lab.tool_parser or "none",
            where.reasoning_parser or lab.reasoning_parser or "none",
        )


def _parse_with_parsers(case: JSONObject) -> tuple[JSONObject, tuple[Finding, ...]]:
    with CaseParser() as parser:
        parse, findings, notes = parser.parse(case)
    return parse_to_json(parse, findings=findings, notes=notes), findings


def _parser_words(one: JSON) -> str:
    if not isinstance(one, dict):
        return "not known"
    if one.get("error"):
        return str(one["error"])
    calls = one.get("tool_calls")
    streamed = " Streamed, the result differs." if one.get("stream_equal") is False else ""
    return f"{count_of(len(calls) if isinstance(calls, list) else 0, 'call')} returned.{streamed}"
