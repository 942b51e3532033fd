"""One answer, read: what its run rests on, what the model wrote, what became of it, and whose fault it is.

The same stages as a run of one request, with two differences: nothing is asked
besides the answer that would prove nothing about it, and a run that cannot be
read becomes a row that says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.base.account import count_calls, is_compared, outcomes_of_calls
from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import (
    CallOutcome,
    CallStatus,
    Certainty,
    Fate,
    Finding,
    JSONObject,
    Parse,
    Prompt,
    Server,
    Severity,
    Trace,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete import Decoding, ServerClient, TakesTurn, gather_from_answer
from prompt_debugger.core.diagnose.schemas import may_take_long
from prompt_debugger.core.pipeline.api_choice import Asked, asked_by, seen_by
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.pipeline.native_fields import add_native_fields, notes_on_native
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.report.wire.verification import PromptTokens, RowAccount
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.verify.answer import Answer, answer_from_json, calls_of, row_of_answer, row_of_failure
from prompt_debugger.core.tools.verify.journal import Answered
from prompt_debugger.core.tools.verify.validity import Validity, check_calls

_LOST = (CallOutcome.DROPPED, CallOutcome.ALTERED, CallOutcome.CUT)
_CALL_IN_TEXT = "PD426"
_SHORT_CHARS = 4_000  # a run of so few is written in less time than a thread takes to begin


class Judged(NamedTuple):
    """What was made of an answer."""

    row: JSONObject
    trace: Trace


@dataclass(frozen=True, slots=True)
class Judge:
    """Reads answers of one server.

    Attributes:
        client: For what an answer does not tell.
        server: What is known of it.
        renderer: Template and tokenizer of its model.
        turn: Returns a place for questions that make it generate.
        decoding: Whether the tokenizer decodes as the server does.
        asks_once: Whether nothing is generated again to explain an answer that does not tell its ids.
    """

    client: ServerClient
    server: Server
    renderer: Renderer
    turn: TakesTurn
    decoding: Decoding
    asks_once: bool = False

    async def read(self, answered: Answered) -> Judged:
        """Return the row of an answer that the journal has, and the run behind it."""
        answer, trace = answer_from_json(answered.document)
        return await self.judge(answer, trace, answered.attempts)

    async def judge(self, answer: Answer, trace: Trace, attempts: int) -> Judged:
        """Return the row of an answer and the run behind it."""
        explain = self._explained if trace.refusal is None else self._refused
        return await judge_answer(answer, trace, attempts, explain, self.renderer.special_texts)

    async def _refused(self, trace: Trace, answer: Answer) -> Trace:
        asked = self._asked(trace)
        local = await in_thread(self.renderer.render_local, asked.body)
        sent_native = asked.client_of(self.client).native_as_sent
        return replace(
            trace, server=self.server, sent=asked.body, sent_native=sent_native, lost=asked.lost, local_prompt=local
        )

    def _asked(self, trace: Trace) -> Asked:
        """Return how a row was asked."""
        model = trace.request.body.get("model")
        named = model if isinstance(model, str) else self.server.model
        return asked_by(trace.request, trace.api, named, self.server)

    async def _explained(self, trace: Trace, answer: Answer) -> Trace:
        """Add the prompt and the raw output."""
        asked, renderer = self._asked(trace), self.renderer.for_one_run()
        body, client = asked.body, asked.client_of(self.client)
        trace = replace(trace, server=self.server, vocabulary=renderer.vocabulary, sent=body)
        is_rendered = renderer.template is not None  # else there is nothing to do, which is quicker said here
        local, generation_prompt = await in_thread(_rendered, renderer, body) if is_rendered else (None, None)
        gathered = await gather_from_answer(
            client,
            seen_by(self.server, asked.api),
            body,
            answer.chat,
            tokenizer=renderer.tokenizer,
            local_prompt=local,
            turn=self.turn,
            decoding=self.decoding,
            asks_once=self.asks_once,
        )
        is_reported = gathered.prompt_token_ids is not None or gathered.prompt_text is not None
        prompt = await in_thread(renderer.explain_server, body, gathered, local) if is_reported else None
        trace = replace(
            trace,
            sent=gathered.sent,
            sent_native=client.native_as_sent,
            lost=asked.lost,
            local_prompt=local,
            generation_prompt=generation_prompt,
            evidence=gathered.evidence,
            raw=renderer.add_tokens(gathered),
            raw_again=gathered.raw_again,
            chat=gathered.chat,
            chat_stream=gathered.chat_stream,
            prompt=prompt,
            prompt_difference=renderer.compare(prompt, local),
            server=gathered.server or self.server,
            notes=gathered.notes,
        )
        return replace(trace, notes=(*trace.notes, *notes_on_native(trace)))


async def judge_answer(
    answer: Answer,
    trace: Trace,
    attempts: int,
    explain: Callable[[Trace, Answer], Awaitable[Trace]],
    special_texts: frozenset[str] = frozenset(),
) -> Judged:
    """Return the row of an answer or of a refusal, and the run behind it."""
    error: str | None = None
    try:
        trace = add_native_fields(await read_trace(await explain(trace, answer), special_texts))
    except DebuggerError as problem:
        error = str(problem)
    return Judged(await row_of_run(answer, trace, attempts, error), trace)


async def row_of_run(answer: Answer, trace: Trace, attempts: int = 1, error: str | None = None) -> JSONObject:
    """Return the row of the results of a run that was read, or could not be for the reason that `error` gives."""
    refusal = trace.refusal
    validity = await _validity(answer) if refusal is None else None
    account = replace(account_of_run(trace, attempts=attempts), labels=answer.row.labels or None, error=error)
    if refusal is not None:  # it failed, and why is looked for as in a run
        reason = f"the server refused it with status {refusal.status}: {refusal.message}"
        return row_of_failure(answer.row, answer.extra_body, reason, at=answer.at, account=account)
    account = replace(account, valid_2020_12=None if validity is None else validity.draft_2020)
    return row_of_answer(answer, valid=None if validity is None else validity.default, account=account)


async def _validity(answer: Answer) -> Validity | None:
    if answer.chat.finish_reason != "tool_calls":
        return None
    given, calls = answer.sent.get("tools"), calls_of(answer.chat)
    tools = given if isinstance(given, list) else []
    if len(repr(calls)) < _SHORT_CHARS and not may_take_long([*tools]):
        return check_calls(tools, calls)  # one pass over both, which is less than asking for it elsewhere
    try:
        return await sandbox_of().run(check_calls, tools, calls)
    except DebuggerError:
        return None


def _rendered(renderer: Renderer, body: JSONObject) -> tuple[Prompt | None, str | None]:
    """Return the prompt of a request, and the text that opens the assistant turn."""
    return renderer.render_local(body), renderer.generation_prompt(body)


def account_of_run(trace: Trace, *, attempts: int) -> RowAccount:
    """Return what a run says, in numbers; what it does not say is `None`."""
    problems = [finding for finding in trace.findings if finding.severity is not Severity.NOTE]
    chat = trace.chat
    account = RowAccount(
        evidence=None if trace.raw is None else trace.evidence,
        returned=None if chat is None else len(calls_of(chat)),
        leaked=_leaked(trace),
        stage=None if trace.verdict is None else trace.verdict.stage,
        codes=tuple(sorted({finding.code for finding in problems})),
        errors=tuple(sorted({finding.code for finding in problems if finding.severity is Severity.ERROR})),
        attempts=attempts,
        verdict=None if trace.verdict is None else trace.verdict.sentence,
        prompt_tokens=_prompt_tokens(trace),
    )
    if trace.parse is None or not is_compared(trace.parse.ledger):
        return account
    calls = count_calls(trace.parse.ledger)
    return replace(
        account,
        written=calls.written,
        dropped=calls.dropped,
        altered=calls.altered,
        invented=calls.invented,
        cut=calls.cut,
        tools=_tools(trace.parse),
    )


def _tools(parse: Parse) -> dict[str, tuple[int, int]]:
    """Return of each tool how many calls were written, and how many of them did not come through."""
    counts: dict[str, tuple[int, int]] = {}
    for index, outcome in outcomes_of_calls(parse).items():
        name = parse.parsed.calls[index].name or "?"
        written, lost = counts.get(name, (0, 0))
        counts[name] = (written + 1, lost + (outcome in _LOST))
    return counts


def _leaked(trace: Trace) -> int | None:
    """Return how many calls are in content although the answer finished with `stop`."""
    chat, parse = trace.chat, trace.parse
    if chat is None or chat.finish_reason != "stop":
        return None if chat is None else 0
    if parse is None:
        return sum(len(_places_in_content(finding)) for finding in trace.findings if finding.code == _CALL_IN_TEXT)
    if not is_compared(parse.ledger):
        return None
    content = [entry.char_span for entry in parse.ledger.entries if entry.fate is Fate.CONTENT]
    dropped = (i for i, outcome in outcomes_of_calls(parse).items() if outcome is CallOutcome.DROPPED)
    calls = [parse.parsed.calls[index] for index in dropped]
    return sum(
        call.status is CallStatus.COMPLETE
        and any(start < call.char_span.stop and call.char_span.start < stop for start, stop in content)
        for call in calls
    )


def _places_in_content(finding: Finding) -> tuple[str, ...]:
    if finding.certainty is not Certainty.OBSERVED:
        return ()
    return tuple(item.field for item in finding.evidence if item.field == "content")


def _prompt_tokens(trace: Trace) -> PromptTokens | None:
    usage = None if trace.chat is None else trace.chat.usage
    server = None if usage is None else usage.prompt_tokens
    local = trace.local_prompt
    ours = None if local is None or local.token_ids is None else len(local.token_ids)
    return None if server is None and ours is None else PromptTokens(server=server, local=ours)
