"""Was the grammar that a request asks for in force, and from which token on?

    what was asked   `response_format`, `structured_outputs`, `tool_choice`, strict tools
    what was set     the server's own render of the request, where it has one
    where it began   the first token; after the reasoning, where the server has a reasoning parser
    what was written walked through the grammar from there

An output that breaks the grammar was not held to it: that is observed, whatever a server says. One that obeys it may
do so unasked: then the server's word decides, or how vLLM is known to do it, and it is said where neither is known.

Source: vLLM 0.32, `v1/structured_output/__init__.py` and `ChatCompletionRequest.resolve_reasoning_ended`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Certainty, JSONObject, SegmentKind, Span, Trace
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.promised import promised_text
from prompt_debugger.core.diagnose.trace_queries import comparison, prompt_end, token_span, why_cut
from prompt_debugger.core.formats import FORMATS, TABLES
from prompt_debugger.core.tools.grammar.asked import Asked, Constraint, asked_of, constraint_of_server
from prompt_debugger.core.tools.grammar.enforcement import enforcement_of_request, plan_grammar
from prompt_debugger.core.tools.grammar.engine import GrammarEngine
from prompt_debugger.core.tools.grammar.families import find_family
from prompt_debugger.core.tools.grammar.matcher import GrammarMatcher, GrammarRefusedError, walk_constraint
from prompt_debugger.core.tools.grammar.verdict import Forbidden, InForce, InForceReason, InForceStatus
from prompt_debugger.core.tools.grammar.words import describe_in_force, fix_in_force


class Start(NamedTuple):
    """Where a grammar sets in: at a character, or nowhere; known, or guessed where neither server nor answer tells.

    `is_by_call`: at the opening of a call that ended reasoning, and is itself free.
    """

    char: int | None
    is_known: bool = True
    is_by_call: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, as far as it is known.

    Attributes:
        text: Raw output, or the text of the answer where that alone is known.
        is_raw: Whether it is the raw output.
        ends: Texts of tokens that end it.
        is_ended: Whether the model ended it.
    """

    text: str
    is_raw: bool
    ends: tuple[str, ...]
    is_ended: bool


def judge_in_force(trace: Trace, engine: GrammarEngine) -> InForce | None:
    """Return whether the grammar that a run's request asks for was in force; `None` if it asks for none.

    It is *unknown*, with the reason, where XGrammar is not installed or the grammar was too much for it.
    """
    asked = asked_of(trace.request.body)
    if asked is None or trace.refusal is not None:
        return None
    try:
        found = _found(trace, asked, engine)
    except EngineError as error:
        return InForce(InForceStatus.UNKNOWN, asked.fields, reason=InForceReason.NO_ENGINE, sentence=error.message)
    return replace(found, sentence=describe_in_force(found), fix=fix_in_force(trace, found))


def _found(trace: Trace, asked: Asked, engine: GrammarEngine) -> InForce:
    blank = InForce(InForceStatus.UNKNOWN, asked.fields)
    written = _written(trace, asked)
    if isinstance(written, InForceReason):
        return replace(blank, reason=written)
    try:
        return _judge(_Walker(trace, asked, written, engine), blank)
    except GrammarRefusedError:
        return replace(blank, reason=InForceReason.REFUSED)


def _judge(walker: _Walker, blank: InForce) -> InForce:
    """Join what was set with where it began and what was written."""
    trace, reported = walker.trace, walker.trace.server_grammar
    lost = next((one for one in trace.lost if any(field.startswith(one.field or "\0") for field in blank.fields)), None)
    if lost is not None or (reported is not None and reported.constraint is None):
        reason = InForceReason.NOT_READ if lost is None else InForceReason.NO_PLACE
        forbidden = None if walker.constraint is None else walker.forbidden(0)
        return replace(
            blank, status=InForceStatus.NEVER, reason=reason, forbidden=forbidden, certainty=Certainty.OBSERVED
        )
    if walker.constraint is None:
        return replace(blank, reason=InForceReason.NOT_KNOWN)
    start = start_of(trace, walker.written)
    certainty = Certainty.OBSERVED if reported is not None and start.is_known else Certainty.INFERRED
    if start.char is None:
        forbidden = walker.forbidden(0)
        return replace(
            blank,
            status=InForceStatus.NEVER,
            reason=InForceReason.REASONING_NOT_ENDED,
            forbidden=forbidden,
            certainty=Certainty.OBSERVED if forbidden is not None else certainty,
        )
    first = walker.forbidden(start.char)
    if first is None:
        return _held(walker, blank, start, certainty)
    later = _end_of_reasoning(walker.written.text)
    if later is not None and later != start.char and walker.forbidden(later) is None:
        return _held(walker, blank, Start(later, is_known=False), Certainty.INFERRED)
    return replace(
        blank,
        status=InForceStatus.NEVER,
        reason=InForceReason.NOT_APPLIED,
        forbidden=first,
        certainty=Certainty.OBSERVED,
    )


def _held(walker: _Walker, blank: InForce, start: Start, certainty: Certainty) -> InForce:
    """Return the verdict on an output that obeys from some place on."""
    trace, char = walker.trace, start.char or 0
    place = walker.token_at(char)
    if place is not None and start.is_by_call:
        place += 1
    found = replace(blank, from_token=place, from_char=char if walker.written.is_raw else None, certainty=certainty)
    is_vllm = trace.server_kind == "vllm"
    if trace.server_grammar is None and not (is_vllm and start.is_known):
        return replace(found, reason=InForceReason.OBEYED_ANYWAY)
    opens = start.char == 0 and walker.leaves_no_thought and _is_open(prompt_end(trace) or "")
    return replace(found, status=InForceStatus.IN_FORCE, reason=InForceReason.NO_REASONING_PARSER if opens else None)


class _Walker:
    """Walks one output through the grammar that was set, or asked for."""

    def __init__(self, trace: Trace, asked: Asked, written: Written, engine: GrammarEngine) -> None:
        self.trace = trace
        self.written = written
        self._engine = engine
        reported = trace.server_grammar
        set_by_server = (
            None if reported is None or reported.constraint is None else constraint_of_server(reported.constraint)
        )
        if set_by_server is None:
            set_by_server = self._find_calls() if asked.text is None else None if asked.of_calls else asked.text
        self.constraint = set_by_server
        self.leaves_no_thought = asked.text is not None or "tool_choice" in asked.fields

    def _find_calls(self) -> Constraint | None:
        """Return the grammar of the calls, as vLLM builds it for the format of the output."""
        trace = self.trace
        name = "" if trace.parse is None else trace.parse.parsed.format
        family = find_family(name, self.written.text)
        plan = None
        if family is not None:
            plan = plan_grammar(family, trace.request.tools, enforcement_of_request(trace.request.body))
        if family is None or plan is None:
            return None
        return Constraint("tag", GrammarMatcher(self._engine, family).tag(plan))

    def forbidden(self, start: int) -> Forbidden | None:
        """Return the first token that the grammar does not let through, if it sets in at `start`; `None` for none."""
        assert self.constraint is not None
        text = self.written.text
        found = [place for end in self.written.ends if (place := text.find(end, start)) >= 0]
        stop = min(found, default=len(text))
        data = text[start:stop].encode("utf-8", "replace")
        kind, constraint = self.constraint
        walk = walk_constraint(self._engine, kind, constraint, data, explore=True)
        is_ended = bool(found) or self.written.is_ended
        if walk.accepted == len(data) and (walk.is_completed or not is_ended):
            return None
        char = start + len(data[: walk.accepted].decode("utf-8", "ignore"))
        token = self.token_at(char)
        shown = self._token_text(token) if token is not None else text[char : char + 24]
        return Forbidden(token, char, shown, walk.samples[:3])

    def token_at(self, char: int) -> int | None:
        """Return the index of the token that contains a character; `None` where tokens are not known."""
        raw = self.trace.raw
        if raw is None or raw.tokens is None or not self.written.is_raw:
            return None
        span = token_span(raw.tokens, Span(char, char + 1))
        return len(raw.tokens) if span is None else span.start

    def _token_text(self, token: int) -> str:
        raw = self.trace.raw
        assert raw is not None
        assert raw.tokens is not None
        return raw.tokens[token].text if token < len(raw.tokens) else ""


def start_of(trace: Trace, written: Written) -> Start:
    """Return where a grammar sets in, by what server and answer tell of the reasoning."""
    reported, server, body = trace.server_grammar, trace.server, trace.request.body
    waits = None if server is None else server.has_reasoning_parser
    if reported is not None and reported.waits_for_reasoning is not None:
        waits = reported.waits_for_reasoning
    if waits is None:
        waits = _shown_by_answer(trace, written)
    ended = None if reported is None else reported.reasoning_ended
    if waits is False or ended or body.get("include_reasoning") is False or not written.is_raw:
        return Start(0, is_known=waits is not None)
    if waits is None:
        return Start(0, is_known=False)
    if ended is None and _is_closed(prompt_end(trace) or ""):
        return Start(0)
    return _judge_output(trace, written.text, ended=ended)


def _shown_by_answer(trace: Trace, written: Written) -> bool | None:
    """Return whether a vLLM has a reasoning parser, by what it made of this output; `None` if that does not show."""
    if trace.server is None or trace.server.kind != "vllm" or trace.chat is None or not written.is_raw:
        return None
    thought, content = reasoning_of(trace.chat.message), content_of(trace.chat.message) or ""
    if thought is not None and thought.text.strip():
        return True
    closers = [pair.closer for pair in TABLES.reasoning_pairs if pair.closer in written.text]
    return False if any(closer in content for closer in closers) else None


def _judge_output(trace: Trace, text: str, *, ended: bool | None) -> Start:
    """Return where a grammar sets in that waits for the end of reasoning: where the server's own parser saw it."""
    message = {} if trace.chat is None else trace.chat.message
    content, thought = content_of(message) or "", reasoning_of(message)
    has_thought = thought is not None and bool(thought.text.strip())
    calls = () if trace.parse is None else trace.parse.parsed.calls
    end = _end_of_reasoning(text)
    if end is not None and (has_thought or not any(pair.closer in content for pair in TABLES.reasoning_pairs)):
        return Start(end)
    if not has_thought and not content.strip() and not returned_calls(trace):
        return Start(None)
    ends_by_call = ended is False or (ended is None and not _is_switched_off(trace.request.body))
    if returned_calls(trace) and calls and (has_thought or ends_by_call):
        return Start(_section_of(trace, calls[0].char_span.start), is_by_call=True)
    return Start(None) if has_thought else Start(0)


def _is_switched_off(body: JSONObject) -> bool:
    """Return whether a request switches thinking off by a variable of its template."""
    given = as_object(body.get("chat_template_kwargs"))
    return any(switch.name in given and given[switch.name] == switch.off for switch in TABLES.switches)


def _section_of(trace: Trace, char: int) -> int:
    """Return where the markup before a call begins."""
    assert trace.parse is not None
    for segment in reversed(trace.parse.parsed.segments):
        if segment.char_span.stop == char and segment.kind is SegmentKind.MARKUP:
            char = segment.char_span.start
    return char


def _end_of_reasoning(text: str) -> int | None:
    """Return the character after the first tag that ends reasoning; `None` if there is none."""
    found = [
        (place, place + len(pair.closer)) for pair in TABLES.reasoning_pairs if (place := text.find(pair.closer)) >= 0
    ]
    return min(found)[1] if found else None


def _is_open(prompt: str) -> bool:
    """Return whether a prompt ends within reasoning."""
    return any(prompt.rfind(pair.opener) > prompt.rfind(pair.closer) for pair in TABLES.reasoning_pairs)


def _is_closed(prompt: str) -> bool:
    """Return whether the last that a prompt says of reasoning is its end."""
    return not _is_open(prompt) and any(pair.closer in prompt for pair in TABLES.reasoning_pairs)


def _written(trace: Trace, asked: Asked) -> Written | InForceReason:
    """Return what is walked through the grammar: the raw output of this run, else the text of the answer."""
    cut = why_cut(trace) is not None
    if trace.parse is not None and trace.raw is not None and (trace.chat is None or comparison(trace) is not None):
        known = FORMATS.get(trace.parse.parsed.format)
        ends = set(TABLES.end_texts if known is None else known.conventions.ends)
        if trace.vocabulary is not None:
            ends |= {trace.vocabulary.special.get(one, "") for one in trace.vocabulary.eos_ids} - {""}
        stopped = isinstance(trace.raw.stop_reason, str)
        return Written(trace.parse.raw, is_raw=True, ends=tuple(ends), is_ended=not cut and not stopped)
    if trace.chat is None or trace.chat.error:
        return InForceReason.NO_OUTPUT
    if asked.of_calls or returned_calls(trace):
        return InForceReason.OTHER_RUN
    return Written(promised_text(trace), is_raw=False, ends=(), is_ended=not cut)
