"""A text is a tool call as a model writes it, and nothing shows that a server parsed it.

What it finds:
    A text that may be a raw output or what a server
    returned, without a message next to it: complete calls with their markup, control
    tokens included, or in bare JSON and nothing else, or in a Python list at its end,
    or a call that is cut or malformed, or whole calls in a list that is open. A
    warning where the calls depart from their
    notation (a marker or a key of another name), which their parsers may refuse,
    and where the flags next to it set a parser that is made for another notation;
    a note otherwise, as in a raw output there is nothing wrong with a call. A
    warning, too, where a text is the inside of a call (keys and values in their
    tags) and the marker that begins one is missing, or where the markers of a call
    enclose something that is none, or names no tool.

Why it matters:
    Most such texts are copied from where a user saw them: in the chat window of a
    client, whose server did not parse the call.

Bad:
    `<function=read><parameter=path>a.md</parameter></function></tool_call>` in a chat window

Good:
    the same in a server's log of raw outputs, and one entry of `tool_calls` in the answer

Source:
    tracker: ollama/ollama#16686, anomalyco/opencode#1406, ollama/ollama#18357.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from prompt_debugger.core.base.comparable import KEEPS_TOKENS, MAY_BE_CONTENT, NO_BEGINNING, OF_GAP
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import (
    CallStatus,
    Certainty,
    FindingEvidence,
    Parse,
    Place,
    Severity,
    Span,
    Stage,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_invoke import say_bare_invoke
from prompt_debugger.core.diagnose.calls.broken_bare_calls import is_open_list, unescaped_before
from prompt_debugger.core.diagnose.calls.list_after_prose import calls_after_prose, report_after_prose
from prompt_debugger.core.diagnose.calls.lone_broken_calls import (
    NAME_IN_KEY,
    report_broken,
    report_mixed,
    report_nameless,
    report_open_list,
    report_unread,
)
from prompt_debugger.core.diagnose.calls.malformed_tags import malformed_call
from prompt_debugger.core.diagnose.calls.nameless_calls import nameless_call
from prompt_debugger.core.diagnose.calls.schema_as_arguments import schema_shaped
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
from prompt_debugger.core.diagnose.calls.unparsed_calls import (
    bare_json_steps,
    bare_list_steps,
    departures,
    foreign_parser,
    is_bare_json,
    is_function_tag,
    is_plain_words,
    parser_steps,
    readers_of,
)
from prompt_debugger.core.diagnose.calls.written_calls import begun_bare_call
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.diagnose.own_names import is_made_for
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import asked_server, in_raw
from prompt_debugger.core.diagnose.words import counted, listed, lowered
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.known_errors import json_break

_BEFORE_IT = "before it is missing"  # how a deviation ends that may be one of the copy
_BEFORE = 24  # characters that are shown before the place
# Markers that end the calls of one family alone, with its name and the marker that begins them.
_ENDS = {"</minimax:tool_call>": ("minimax_m2", "<minimax:tool_call>")}
_PLACEHOLDER = re.compile(r"(?:TOOL_|FUNCTION_)?NAME|name|(?:example[-_])?(?:tool|function)[-_]name")
_MIN_MARKERS = 3  # different ones, which no one mentions by chance


def find(trace: Trace) -> Iterator[Report]:
    """Look at a text alone."""
    raw, parse = trace.raw, trace.parse
    is_alone = trace.chat is None and trace.chat_stream is None and trace.refusal is None and not asked_server(trace)
    if raw is None or parse is None or not is_alone:
        return
    if raw.completeness_reason in (NO_BEGINNING, KEEPS_TOKENS, OF_GAP):
        yield from _find_in_part(trace, raw.text, raw.completeness_reason, parse)
        return
    if raw.completeness_reason != MAY_BE_CONTENT:
        if is_made_for(trace.server, "llama4_pythonic"):
            yield from _report_list_at_end(trace, parse)
        return
    if not parse.parsed.calls:
        yield from _report_no_call(trace, raw.text, parse)
        return
    broken = [call for call in parse.parsed.calls if _is_broken(call)]
    mixed = [found for call in parse.parsed.calls if (found := NAME_IN_KEY.search(raw.text[slice(*call.char_span)]))]
    if mixed and not broken:
        yield report_mixed(trace, mixed[0], parse.parsed.calls[0])
        return
    if (nameless := nameless_call(raw.text, parse.parsed.calls)) is not None:
        yield report_nameless(trace, raw.text, nameless)
        return
    if broken:
        first = broken[0]
        is_cut = first.status is CallStatus.TRUNCATED
        count = len(parse.parsed.calls)
        yield report_broken(trace, first.name or "", first.char_span, first.problem or "", is_cut=is_cut, count=count)
        return
    yield from _report_whole_calls(trace, parse)


def _find_in_part(trace: Trace, text: str, reason: str, parse: Parse) -> Iterator[Report]:
    """Look at a text of which something may be missing: broken calls in it have their own rules."""
    if reason == KEEPS_TOKENS and (nameless := nameless_call(text, parse.parsed.calls)) is not None:
        yield report_nameless(trace, text, nameless)
        return
    if reason == KEEPS_TOKENS and not any(not _is_broken(call) for call in parse.parsed.calls):
        if (odd := malformed_call(text)) is not None:
            yield report_broken(trace, *odd)  # of which no rule knows what its tags were meant to be
            return
        if not parse.parsed.calls:
            yield from report_unread(trace, text)
            return
    if _shows_whole_calls(reason, parse):
        yield from _report_whole_calls(trace, parse)


def _report_no_call(trace: Trace, text: str, parse: Parse) -> Iterator[Report]:
    """Report what is less than a call: one that is broken at its beginning, or the inside of one."""
    name = begun_bare_call(text)
    fault = None if name is None else json_break(text.strip())
    if name is not None and fault is not None:
        place = text[max(0, fault.at - _BEFORE) : fault.at + 1]
        problem = f"{fault.why}, at character {fault.at} (after {place!r})"
        report = report_broken(trace, name, Span(0, len(text)), problem)
        yield replace(report, detail=f"{report.detail}{unescaped_before(text.strip(), fault.at)}")
    elif (malformed := malformed_call(text)) is not None:
        yield report_broken(trace, *malformed)
    else:
        found = [*_read_inner_markup(trace), *_report_list_at_end(trace, parse)]
        yield from found or report_unread(trace, text)


def _shows_whole_calls(reason: str, parse: Parse) -> bool:
    """Return whether calls that are whole may be reported, by what may be missing from the text around them."""
    calls = parse.parsed.calls
    if reason == NO_BEGINNING:
        return len(calls) > 1  # one may have been copied without its beginning
    return reason != OF_GAP or not any(call.deviation for call in calls)  # else what was left out is next to them


def _report_whole_calls(trace: Trace, parse: Parse) -> Iterator[Report]:
    calls = [call for call in parse.parsed.calls if not _is_broken(call) and call.place is Place.BODY]
    is_marked = any(True for _ in find_unquoted_markers(parse.raw)) or "```tool_code" in parse.raw
    if not calls or len(calls) < len(parse.parsed.calls) or not all(call.name for call in calls):
        return
    if all(_PLACEHOLDER.fullmatch(call.name or "") for call in calls):
        return  # instructions, which show the form of a call
    if is_open_list(parse.raw):
        yield report_open_list(trace, calls)
    elif is_marked or not (parse.parsed.content or "").strip():
        is_begun_before = trace.raw is not None and trace.raw.completeness_reason == NO_BEGINNING
        calls = _after_first(calls) if is_begun_before else calls
        yield _report(trace, calls, parse.parsed.format, is_marked=is_marked)


def _after_first(calls: Sequence[ToolCallAttempt]) -> list[ToolCallAttempt]:
    """Return the calls after the first, which may lack a part of its name, without what is missing before them all."""
    kept = []
    for call in calls[1:]:
        parts = [part for part in (call.deviation or "").split("; ") if part and not part.endswith(_BEFORE_IT)]
        kept.append(replace(call, deviation="; ".join(parts) or None))
    return kept


def _report_list_at_end(trace: Trace, parse: Parse) -> Iterator[Report]:
    if calls := calls_after_prose(parse.raw):
        yield report_after_prose("The text", calls, tuple(in_raw(trace, call.char_span) for call in calls))


def _is_broken(call: ToolCallAttempt) -> bool:
    """Return whether a call is incomplete, and no one shortened it with `...` where it was copied."""
    return call.status is not CallStatus.COMPLETE and bool(call.name) and not is_shortened(call.arguments)


def _report(trace: Trace, calls: list[ToolCallAttempt], family: str, *, is_marked: bool) -> Report:
    names = listed(list(dict.fromkeys(call.name or "" for call in calls)))
    one = len(calls) == 1
    subject = f"a call to {names}" if one else f"{counted(len(calls), 'call')} ({names})"
    departing = "" if is_plain_words(family) else departures(calls)
    is_list = not is_marked and trace.raw is not None and trace.raw.text.lstrip().startswith("[{")
    how = "in plain words" if is_plain_words(family) else "in Python" if _is_python(trace, calls) else "in bare JSON"
    holds = "contains" if _has_prose(trace) else "is"
    title = f"The text {holds} {subject} as a model writes {'it' if one else 'them'}"
    how = "in a markup of no model family" if is_marked and is_plain_words(family) else how
    title += f"{_notation(family) if is_marked and not is_plain_words(family) else f', {how}'}."
    if departing:
        departs = "departs" if one else "depart"
        title = f"The text {holds} {subject} that {departs} from the notation of `{family}`: {departing}."
    foreign = foreign_parser(trace, family) if is_marked and not is_plain_words(family) else None
    if foreign is not None:
        title = f"{title.removesuffix('.')}; the server's parser `{foreign}` is made for another."
    raw = "" if trace.raw is None else trace.raw.text
    if family == "minimax_m2" and departing and "minimax" not in raw and "<invoke" in raw:
        return say_bare_invoke(f"The text {holds} {subject} in", [in_raw(trace, call.char_span) for call in calls[:4]])
    readers = "" if is_function_tag(trace, family) else readers_of(family)
    read = f" Parsers made for this notation: {readers}." if readers and is_marked else ""
    rest = "; in a raw output there is nothing wrong with it."
    if any(schema_shaped(call.arguments_json, ()) is not None for call in calls):
        rest = (
            ". Its arguments have the form of a schema, as the prompt declares the tool: arguments are the values "
            "alone, without `type` and `properties`."
        )
    if any(call.status is not CallStatus.COMPLETE for call in calls):
        rest = ". A part of it was left out where it was copied."
    if departing:
        rest = ", and a parser may refuse it for that reason."
        if trace.raw is not None and trace.raw.completeness_reason == NO_BEGINNING:
            rest += " What is missing before the first one may not have been copied."
    set_here = () if foreign is None else (FindingEvidence("server", quote=f"--tool-call-parser {foreign}"),)
    return Report(
        title=title,
        detail=f"If a server returned this text as content, it did not parse the call{rest}{read}",
        evidence=(*(in_raw(trace, call.char_span) for call in calls[:4]), *set_here),
        fix=bare_list_steps(trace, family) if is_list else _fix(trace, family),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING if departing or set_here else None,
    )


def _has_prose(trace: Trace) -> bool:
    return trace.parse is not None and bool((trace.parse.parsed.content or "").strip())


def _read_inner_markup(trace: Trace) -> Iterator[Report]:
    """Report the inside of a call, key and value, before which the marker that begins a call is missing."""
    assert trace.raw is not None
    assert trace.parse is not None
    text = trace.raw.text
    spans = [*find_unquoted_markers(text)]
    shown = list(dict.fromkeys(text[slice(*span)] for span in spans))
    family = _family_inside(trace.parse, shown)
    begins = "" if family is None else (FORMATS[family].facts.call_markers or ("",))[0]
    if family is None and spans and (ended := _ENDS.get(text[slice(*spans[-1])])) and ended[1] not in text:
        family, begins = ended if "</parameter>" in shown else (None, "")
    if family is None:
        return
    yield Report(
        title=f"The text is the inside of a call in the notation of `{family}`: `{begins}` before it is missing.",
        detail=f"It contains {listed(shown[:4])}, which only occur inside a call. Either the model left "
        f"`{begins}` out, or the server removed it with the special tokens before a parser could see it; without "
        "it no parser finds the call.",
        evidence=(in_raw(trace, Span(spans[0].start, spans[-1].stop)),),
        fix=_fix(trace, family),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _family_inside(parse: Parse, shown: Sequence[str]) -> str | None:
    """Return the family whose calls have all of these markers inside; of several, the one that the text is most like.

    Args:
        parse: The scores of the families.
        shown: The different markers of the text.
    """
    if len(shown) < _MIN_MARKERS:
        return None
    families: list[str] = []
    for family, one in FORMATS.items():
        markers = one.facts.call_markers or ()
        if markers and markers[0] not in shown and {*shown} <= {*markers}:
            families.append(family)
    scores = parse.format_scores
    return max(families, key=lambda one: scores[one].score if one in scores else 0.0, default=None)


def _is_python(trace: Trace, calls: list[ToolCallAttempt]) -> bool:
    """Return whether each name has its arguments in parentheses."""
    raw = "" if trace.raw is None else trace.raw.text
    return all(call.name_span is not None and raw.startswith("(", call.name_span.stop) for call in calls)


def _fix(trace: Trace, family: str) -> list[Step]:
    first, *others = bare_json_steps(trace, family) if is_bare_json(trace, family) else parser_steps(trace, family)
    text = f"If it came as content: {lowered(first.text)}"
    return [Step(text, request=first.request, server=first.server), *others]


def _notation(family: str) -> str:
    return f", in the notation of `{family}`"


RULE: Rule = TraceRule(
    code="PD463",
    name="call-shown-as-text",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    explains=("PD435",),
    threads=("ollama/ollama#16686", "anomalyco/opencode#1406", "ollama/ollama#18357"),
    reads_stripped=True,
)
