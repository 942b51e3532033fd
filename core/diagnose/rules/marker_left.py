"""Structural markers are left in a field of the message.

What it finds:
    With raw output: characters that the format's own rules read as markup and that are in
    content, reasoning, a name, an id or arguments of the answer. Without raw output: a
    marker of some family in a tool's name, or in content outside code and quotation marks
    that is not in the request either (an inference, and a warning). A marker that prose
    quotes, or that a sentence mentions, is not reported; nor is one after which a limit cut the
    output before a call could follow. Content that is harmony's channels as they were written is
    named as that.

Why it matters:
    Users see `<|tool_calls_section_begin|>`; an agent looks up a tool whose name ends in a
    marker and retries forever.

Bad:
    `"name": "manage_cart<|channel|>commentary"`

Good:
    `"name": "manage_cart"`

Source:
    tracker: MoonshotAI/Kimi-K2#89, vllm-project/vllm#31207, vllm-project/vllm#35906.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from prompt_debugger.core.base.comparable import is_partial
from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import (
    CallStatus,
    Certainty,
    Fate,
    FindingEvidence,
    SegmentKind,
    Severity,
    Span,
    Stage,
    Trace,
)
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.unparsed_calls import parser_steps
from prompt_debugger.core.diagnose.calls.written_calls import written_calls
from prompt_debugger.core.diagnose.endings import is_limit_word
from prompt_debugger.core.diagnose.fields import (
    CallField,
    body_of,
    content_of,
    reasoning_of,
    returned_calls,
    texts_inside,
)
from prompt_debugger.core.diagnose.fixes import FlagsFix
from prompt_debugger.core.diagnose.generations import parsers_by_block
from prompt_debugger.core.diagnose.leftovers import ends_at_tail, next_turn, repeated_token
from prompt_debugger.core.diagnose.markers import CHANNEL, find_markers, find_used_markers, has_marker
from prompt_debugger.core.diagnose.own_names import FAMILYS_PARSER, has_own_names, is_made_for
from prompt_debugger.core.diagnose.parser_setup import own_way, start_with
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    comparison,
    completion_tokens,
    dropped_calls,
    fates_within,
    in_message,
    in_raw,
    offline_method,
)
from prompt_debugger.core.diagnose.words import counted, listed
from prompt_debugger.core.formats import FORMATS, TABLES

_VISIBLE = {
    Fate.CONTENT: "content",
    Fate.REASONING: "reasoning",
    Fate.CALL_NAME: "name",
    Fate.CALL_ID: "id",
    Fate.CALL_ARGUMENTS: "arguments",
}
_THINK = frozenset(marker.strip() for pair in TABLES.reasoning_pairs for marker in pair)
_TAG = re.compile(r"<[^\s<>][^<>\n]*>|\[/?[A-Z_]{3,}\]")
_OWN_HEADER = re.compile(
    rf"\s*(?:{'|'.join(re.escape(text) for text in TABLES.turn_openers)})\s*(?:assistant|model)\b"
    r"(?:<\|end_header_id\|>|<\|im_middle\|>)?",
    re.IGNORECASE,
)
# Texts that the calls of one family alone have, with the family; and those that several have. Those of Step-3 are what
# DeepSeek's become on a screen, and a text that is no whole tag may be another word.
_OWNER_BY_MARKER = {
    text: name
    for name, one in FORMATS.items()
    for text in (one.facts.call_markers or () if one.facts.tool_parsers else ())
    if "DSML" in text or (text.isascii() and text.startswith("<") and text.endswith(">"))
    if not any(text in FORMATS[other].call_markers for other in {*FORMATS} - {name})
}
_SHARED = frozenset(text for one in FORMATS.values() for text in one.call_markers) - _OWNER_BY_MARKER.keys()
_END_TOKENS = 4  # that a server may count, and no text shows
_CALLS = (CallStatus.COMPLETE, CallStatus.TRUNCATED)


_FIX_HALF = (
    Step("Do not execute this call. Raise `max_tokens`, and look at `finish_reason` before you read the calls."),
    Step("Report it to the authors of the server's parser, which takes half a call for a whole one."),
)


def find(trace: Trace) -> Iterator[Report]:
    """Report what is left, from the best evidence there is."""
    if is_partial(trace):
        yield from _of_part(trace)
        return
    names = list(_garbled_names(trace))
    yield from names
    certainty = comparison(trace)
    if offline_method(trace) is not None:
        return  # no parser was to take them out
    if certainty is not None:
        yield from _from_ledger(trace, certainty)
    elif not names:
        yield from _from_message(trace)


def _of_part(trace: Trace) -> Iterator[Report]:
    """Report of an answer that was not copied whole what its rest cannot change: a header that content begins with."""
    content = (None if trace.chat is None else content_of(trace.chat.message)) or ""
    channel = CHANNEL.match(content)
    if channel is not None and trace.parse is None and not any(True for _ in written_calls(trace, content, _CALLS)):
        yield _report_channels(content, channel.end())


def _garbled_names(trace: Trace) -> Iterator[Report]:
    calls = returned_calls(trace)
    for call in calls:
        span = next(find_markers(call.name or ""), None)
        if call.name is not None and span is not None:
            marker = call.name[span.start : span.stop]
            field = f"{call.field}.function.name"
            is_half = call is calls[-1] and _is_half(trace, call)
            yield Report(
                title=f"The marker `{marker}` is left in the name of a tool call.",
                detail=f"{field} is {call.name!r}."
                + (" The output ended inside this call, and the server returned the half of it." if is_half else ""),
                evidence=(in_message(field, call.name, span),),
                fix=_FIX_HALF if is_half else _fix(trace),
                severity=Severity.WARNING if is_half else None,
            )


def _is_half(trace: Trace, call: CallField) -> bool:
    """Return whether the output ended inside the last call, by what was written or by the server's word."""
    if isinstance(decode_json(as_text(call.arguments) or ""), dict):
        return False
    answer = trace.chat or trace.chat_stream
    written = () if trace.parse is None else trace.parse.parsed.calls
    is_cut = bool(written) and written[-1].status is CallStatus.TRUNCATED
    return is_cut or (answer is not None and is_limit_word(answer.finish_reason))


def _from_ledger(trace: Trace, certainty: Certainty) -> Iterator[Report]:
    """Report markup of our own reading that the server put into a visible field."""
    assert trace.parse is not None
    found: dict[str, list[Span]] = {}
    thought_leaked = _has_leaked_thought(trace)
    whole = _start_of_cut_markup(trace)
    for segment in trace.parse.parsed.segments:
        asked_for = segment.kind is SegmentKind.END and body_of(trace).get("skip_special_tokens") is False
        if segment.kind not in (SegmentKind.MARKUP, SegmentKind.END) or asked_for:
            continue
        for span, fate in fates_within(trace, segment):
            text = trace.parse.raw[span.start : span.stop].strip()
            by_another_rule = thought_leaked and text in _THINK  # leaked reasoning has its own rule
            is_left = fate in _VISIBLE and text and not by_another_rule and span.start < whole
            if is_left and _is_marker(trace, text):
                found.setdefault(_VISIBLE[fate], []).append(span)
    for field, spans in found.items():
        texts = list(dict.fromkeys(trace.parse.raw[a:b].strip() for a, b in spans))
        yield Report(
            title=f"Markers are left in {field}: {listed(texts, 2)}.",
            detail=(
                f"{counted(len(spans), 'piece')} of markup of the format `{trace.parse.parsed.format}` "
                f"{'is' if len(spans) == 1 else 'are'} in {field}: {listed(texts, 8)}."
            ),
            evidence=(*(in_raw(trace, span) for span in spans), *_find_in_content(trace, field, texts[0])),
            fix=_fix(trace),
            certainty=certainty,
        )


def _start_of_cut_markup(trace: Trace) -> int:
    """Return where the markup begins that a limit cut before anything followed it: no parser could read more."""
    assert trace.parse is not None
    start = len(trace.parse.raw)
    if trace.chat is None or not is_limit_word(trace.chat.finish_reason):
        return start
    for segment in reversed(trace.parse.parsed.segments):
        if segment.kind is not SegmentKind.MARKUP:
            break
        start = segment.char_span.start
    return start


def _has_leaked_thought(trace: Trace) -> bool:
    """Return whether text of the reasoning is in content, not only its tags."""
    assert trace.parse is not None
    return any(
        fate is Fate.CONTENT and trace.parse.raw[span.start : span.stop].strip()
        for segment in trace.parse.parsed.segments
        if segment.kind is SegmentKind.REASONING
        for span, fate in fates_within(trace, segment)
    )


def _is_marker(trace: Trace, text: str) -> bool:
    special = () if trace.vocabulary is None else trace.vocabulary.special.values()
    if _TAG.search(text) is not None:
        return True
    return has_marker(text) or any(marker in text for marker in special if marker)


def _find_in_content(trace: Trace, field: str, text: str) -> tuple[FindingEvidence, ...]:
    content = None if trace.chat is None or field != "content" else content_of(trace.chat.message)
    start = -1 if content is None else content.find(text)
    return (in_message("content", text, Span(start, start + len(text))),) if start >= 0 else ()


def _from_message(trace: Trace) -> Iterator[Report]:
    """Report unquoted markers of content where no raw output is there to prove it."""
    content = None if trace.chat is None else content_of(trace.chat.message)
    if not content or trace.parse is not None or any(True for _ in written_calls(trace, content, _CALLS)):
        return  # a call has its own rule
    asked = "\n".join(texts_inside(trace.request.body))
    ends = [end.span for end in ends_at_tail(content)]  # they have their own rules, and so have loops of one token
    if repeated_token(content) is not None:
        return
    of_turns = TABLES.turn_markers if next_turn(content) is not None else ()  # which has its own rule
    spans = [
        span
        for span in find_used_markers(content)
        if (marker := content[span.start : span.stop]) not in of_turns
        and marker not in asked
        and not any(start <= span.start < stop for start, stop in ends)
    ]
    if spans:
        marker = content[spans[0].start : spans[0].stop]
        if spans[0].start == 0 and (header := _OWN_HEADER.match(content)) is not None:
            yield _report_own_header(content, header.end())
            return
        if (channel := CHANNEL.match(content)) is not None:
            yield _report_channels(content, channel.end())
            return
        if (rest := _report_rest_of_call(trace, content, spans)) is not None:
            yield rest
            return
        if (missing := _report_missing(trace, content, content[slice(*spans[-1])])) is not None:
            yield missing
            return
        yield Report(
            title=f"The marker `{marker}` is in content.",
            detail=f"At character {spans[0].start} of content; without the raw output, it may not be markup.",
            evidence=tuple(in_message("content", content[slice(*span)], span) for span in spans),
            fix=(*_parser_of({content[slice(*span)] for span in spans}, trace), *_fix(trace)),
            certainty=Certainty.INFERRED,
            severity=Severity.WARNING,
        )


def _report_rest_of_call(trace: Trace, content: str, spans: Sequence[Span]) -> Report | None:
    """Report the end of a call in content, where a parser read its beginning: one at work is never advised."""
    calls = returned_calls(trace)
    if not calls or not all(content[slice(*span)].startswith("</") for span in spans):
        return None
    marker = content[slice(*spans[0])]
    return Report(
        title=f"Content contains the end of a call (`{marker}`), and the message has its beginning.",
        detail=f"At character {spans[0].start} of content. The server returned {counted(len(calls), 'call')}, so its "
        "parser is at work: it ended the call too early, probably at a marker that one of the values contains.",
        evidence=tuple(in_message("content", content[slice(*span)], span) for span in spans),
        fix=(
            Step("Do not run the call: the rest of its last value is in content. Put it together from the raw output."),
            Step(
                "Report the raw output to the authors of the server's parser, which took a part of a value for an end."
            ),
        ),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _parser_of(markers: Collection[str], trace: Trace) -> tuple[Step, ...]:
    """Return how to have calls parsed where the markers that are left are those of one family's calls."""
    owners = {_OWNER_BY_MARKER[marker] for marker in markers if marker in _OWNER_BY_MARKER}
    if len(owners) != 1 or not all(marker in _OWNER_BY_MARKER or marker in _SHARED for marker in markers):
        return ()
    return parser_steps(trace, owners.pop())[:1]


def _report_missing(trace: Trace, content: str, marker: str) -> Report | None:
    """Report content that ends with a marker, where more tokens were counted than the message has bytes."""
    chat, count = trace.chat, completion_tokens(trace)
    if chat is None or count is None or not content.rstrip().endswith(marker) or chat.message.get("tool_calls"):
        return None
    reasoning = reasoning_of(chat.message)
    shown = len(content.encode()) + (0 if reasoning is None else len(reasoning.text.encode()))
    if count <= shown + _END_TOKENS:
        return None
    return Report(
        title=f"What the model wrote after the marker `{marker}` is not in the message.",
        detail=f"The server counted {count} tokens of output, but the message has only {counted(shown, 'byte')}, and "
        "content ends with the marker: a parser began to extract a call, and lost it.",
        evidence=(in_message("content", marker, Span(len(content.rstrip()) - len(marker), len(content.rstrip()))),),
        fix=_fix(trace),
        certainty=Certainty.INFERRED,
    )


def _report_channels(content: str, stop: int) -> Report:
    """Report content that begins with a header of harmony: nothing took the channels apart."""
    facts = FORMATS["harmony"].facts
    return Report(
        title="Content is output of gpt-oss (harmony) as the model wrote it, with its channels.",
        detail=f"It begins with the header `{content[:stop].strip()}`: the server did not split reasoning "
        "(`analysis`), calls (`commentary`) and answer (`final`).",
        evidence=(in_message("content", content[:stop], Span(0, stop)),),
        fix=(
            Step(
                "Have the server split the channels: vLLM with "
                f"`--reasoning-parser {facts.reasoning_parsers[0]} --tool-call-parser {facts.tool_parsers[0]}`, "
                "llama.cpp with `--jinja`; of another server a release that reads harmony."
            ),
            Step("Split the text in the client, where the server cannot."),
        ),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _report_own_header(content: str, stop: int) -> Report:
    """Report content that begins with the header of the assistant's own turn: the prompt did not contain it."""
    header = content[:stop].strip()
    return Report(
        title=f"Content begins with the header of the assistant's turn (`{header}`).",
        detail="The model wrote it because the prompt ended without it, and the server did not stop at it or take it "
        "out.",
        evidence=(in_message("content", content[:stop], Span(0, stop)),),
        fix=(
            Step(
                "Have the prompt open the assistant's turn: `add_generation_prompt` must be on, and a template of the "
                "client's own must end with this header."
            ),
            Step("Leave prompts of your own out and send `messages`, so that the server applies the model's template."),
        ),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _has_refused_header(trace: Trace) -> bool:
    """Return whether the family's own parser cannot take the header of a call: another parser is not the way then."""
    family = None if trace.parse is None else FORMATS.get(trace.parse.parsed.format)
    if family is None or (id_problem := family.facts.id_problem) is None:
        return False
    return any(id_problem(call.id if call.id is not None else call.name or "") for _, call in dropped_calls(trace))


def _fix(trace: Trace) -> tuple[Step, ...]:
    name = None if trace.parse is None else trace.parse.parsed.format
    meant = TABLES.tool_parsers.get(name or "", ())
    fits, others = (None, frozenset[str]()) if trace.parse is None else parsers_by_block(name or "", trace.parse.raw)
    if fits is not None and trace.tool_parser in others:
        why = "it looks for the name that this block has"
        return (Step(f"Start the server with `--tool-call-parser {fits}` in place of `{trace.tool_parser}`: {why}."),)
    steps = [Step("Try a current release of the server: removing the marker would hide the lost structure after it.")]
    if _has_refused_header(trace):
        steps.insert(
            0, Step("Check the header of the call: a parser that does not accept it leaves the whole call unread.")
        )
    elif (way := own_way(trace, name or "")) is not None:
        steps.insert(0, way)
    elif has_own_names(trace.server):
        if is_made_for(trace.server, name or "") is False:
            steps.insert(0, Step(FAMILYS_PARSER))
    elif meant:
        text = f"{start_with(trace, 'the parser for this model')}'s family: `--tool-call-parser {meant[0]}`."
        parser = trace.tool_parser
        steps.insert(0, Step(text, server={"tool_parser": parser if parser in meant else meant[0]}))
    return tuple(steps)


RULE: Rule = TraceRule(
    code="PD406",
    name="marker-left",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    stands_in_part=True,
    borrows_fix=True,
    threads=("MoonshotAI/Kimi-K2#89", "vllm-project/vllm#31207", "vllm-project/vllm#35906"),
    explains=("PD501",),
    fixes=(FlagsFix("tool"),),
)
