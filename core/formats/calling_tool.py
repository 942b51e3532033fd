r"""Calls as plain text, in the markup of no family: what models fall back to after some rounds of tool use.

    [Calling tool: NAME({ARGUMENTS})]
    [Calling tool="NAME" KEY="VALUE" KEY="VALUE"]
    [Tool Use: NAME({ARGUMENTS})]        as clients write calls of the history that they hand on as text
    <tool_call id="ID" name="NAME">{ARGUMENTS}</tool_call>       with the name as an attribute

Models with few bits per weight write so when they lose their own notation. Values of the second form are typed by
the tool's schema. Text around a call is exact.

Source: tests of Rapid-MLX and vllm-mlx, whose parsers all read the first two forms, 2026; felinics/Memoh#435.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.arguments import Arguments, object_from_value
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.json_scan import decode_json, scan_json
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.scan import QuoteGuard
from prompt_debugger.core.parse.tag_values import TagValue, decode_values

_LEAD = r"(?:Call(?:ing|ed)[ \t](?:tool|function)|Tool[ _](?:[Uu]se|[Cc]all)|Function[ _][Cc]all)"
_OPENER = re.compile(rf"\[{_LEAD}(?::[ \t]*+(?P<called>[\w.\-]{{1,256}})[ \t]*+\(|=\"(?P<named>[^\"\n\]]{{1,256}})\")")
_ATTRIBUTES = r"(?:[ \t\n]{1,8}(?:id|type)=\"[^\"<>\n]{0,128}\"){0,2}"
_TAG = re.compile(
    rf"<(?P<tag>tool_call|tool_use|function_call){_ATTRIBUTES}[ \t\n]{{1,8}}name=\"(?P<named>[\w.\-]{{1,256}})\""
    rf"{_ATTRIBUTES}[ \t\n]{{0,8}}>\s*+(?=\{{)"
)
_PAIR = re.compile(r"\s++(?P<key>[\w.\-]{1,256})=(?P<value>\"(?:[^\"\\]|\\.)*+\"|[^\s\"\]]{1,1000}+)", re.DOTALL)
_KEYWORDS = re.compile(r"[A-Za-z_]\w{0,100}[ \t]{0,4}=(?!=)")  # as a client prints a call that it makes
_END = re.compile(r"\s*+\]")
_CALL_END = re.compile(r"\s*+\)\s*+\]?")
_ANY = re.compile(f"{_OPENER.pattern}|{_TAG.pattern.replace('named', 'titled')}")
_LINE = re.compile(r"[^\n]*+")
_NEAR = 2_000  # characters behind broken JSON within which its closing tag is looked for
_PLAIN = "it is written as plain text, in a markup that belongs to no family"


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read all forms; none where code or a sentence quotes one."""
    guard = QuoteGuard(raw, region.start, region.stop)
    calls: list[ToolCallAttempt] = []
    position = region.start
    pattern = _ANY if "<t" in raw or "<f" in raw else _OPENER
    while (opener := pattern.search(raw, position, region.stop)) is not None:
        if raw.startswith("(", opener.end() - 1) and _KEYWORDS.match(raw, opener.end(), region.stop) is not None:
            position = opener.end()
            continue
        is_tag = raw.startswith("<", opener.start())
        call = _read_tag(raw, region.stop, opener.start()) if is_tag else _read_call(raw, opener, region.stop, context)
        position = max(opener.end(), call.char_span.stop)
        if not guard.is_quoted(call.char_span, in_sentence=True):
            guard.skip(position)
            calls.append(call)
    return Scan(tuple(calls))


def _read_tag(raw: str, stop: int, start: int) -> ToolCallAttempt:
    """Read `{…}</tool_call>` after a tag that has the name as an attribute."""
    opener = _TAG.match(raw, start, stop)
    assert opener is not None
    header = Header(opener["named"], Span(*opener.span("named")))
    scan = scan_json(raw, opener.end(), stop)
    closer = f"</{opener['tag']}>"
    end = raw.find(closer, scan.span.stop, min(stop, scan.span.stop + _NEAR))
    value, odd = object_from_value(scan.value) if scan.status is CallStatus.COMPLETE else (None, scan.problem)
    is_closed = end != -1 and (scan.status is not CallStatus.COMPLETE or not raw[scan.span.stop : end].strip())
    status = scan.status
    if status is CallStatus.TRUNCATED and is_closed:
        status = CallStatus.MALFORMED
    arguments_stop = scan.span.stop if status is CallStatus.COMPLETE or not is_closed else end
    end_of_call = end + len(closer) if is_closed else arguments_stop
    arguments = Arguments(Span(scan.span.start, arguments_stop), value, status, odd, end_of_call)
    return build_call(raw, start, header, arguments, _PLAIN if arguments.problem is None else None)


def _read_call(raw: str, opener: re.Match[str], stop: int, context: ReadContext) -> ToolCallAttempt:
    group = "called" if opener.group("named") is None else "named"
    header = Header(opener.group(group), Span(*opener.span(group)))
    arguments = _json(raw, opener.end(), stop) if group == "called" else _pairs(raw, opener, stop, context)
    return build_call(raw, opener.start(), header, arguments, _PLAIN if arguments.problem is None else None)


def _json(raw: str, start: int, stop: int) -> Arguments:
    """Read `{…})]` after `NAME(`."""
    end = _CALL_END.match(raw, start, stop)
    if end is not None:
        return Arguments(Span(start, start), {}, CallStatus.COMPLETE, None, end.end())
    line = _LINE.match(raw, start, stop)
    line_stop = stop if line is None else line.end()
    if not raw.startswith("{", start, stop):
        status, problem = CallStatus.MALFORMED, "there is no JSON object in its brackets"
        is_cut = start >= stop
        return Arguments(
            Span(start, line_stop), None, CallStatus.TRUNCATED if is_cut else status, problem, max(start, line_stop)
        )
    scan = scan_json(raw, start, stop)
    if scan.status is not CallStatus.COMPLETE:
        end_of_broken = scan.span.stop if scan.status is CallStatus.TRUNCATED else max(scan.span.stop, line_stop)
        return Arguments(Span(start, end_of_broken), None, scan.status, scan.problem, end_of_broken)
    value, odd = object_from_value(scan.value)
    end = _CALL_END.match(raw, scan.span.stop, stop)
    if end is None and scan.span.stop >= stop:
        return Arguments(scan.span, value, CallStatus.TRUNCATED, "cut before its closing bracket", scan.span.stop)
    return Arguments(scan.span, value, CallStatus.COMPLETE, odd, scan.span.stop if end is None else end.end())


def _pairs(raw: str, opener: re.Match[str], stop: int, context: ReadContext) -> Arguments:
    """Read `KEY="VALUE" …]` after the name."""
    values: list[TagValue] = []
    position = opener.end()
    while (pair := _PAIR.match(raw, position, stop)) is not None:
        position = pair.end()
        values.append(TagValue(pair.group("key"), _unquoted(pair.group("value")), position, is_closed=True, type=None))
    span = Span(min(opener.end() + 1, position), position)
    decoded = decode_values(values, opener.group("named"), context.tools, decodes_untyped=False)
    end = _END.match(raw, position, stop)
    if end is not None:
        return Arguments(span, decoded, CallStatus.COMPLETE, None, end.end())
    line = _LINE.match(raw, position, stop)
    if line is None or line.end() >= stop:
        return Arguments(Span(span.start, stop), None, CallStatus.TRUNCATED, "cut inside its arguments", stop)
    return Arguments(Span(span.start, line.end()), None, CallStatus.MALFORMED, "its pairs are broken", line.end())


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        value = decode_json(text)
    except (ValueError, RecursionError):
        return text[1:-1]
    return value if isinstance(value, str) else text[1:-1]


FORMAT: ModelFormat = TextFormat(
    name="calling_tool",
    marks=tuple(
        Mark(start, STRONG, rf"\[{_LEAD}(?::[ \t]*[\w.\-]{{1,256}}[ \t]*\(|=\"[^\"\n\]]{{1,256}}\")")
        for start in ("[Call", "[Tool", "[Function")
    )
    + tuple(Mark(start, CERTAIN, _TAG.pattern) for start in ("<tool_call", "<tool_use", "<function_call")),
    conventions=Conventions(reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2), before_call=1),
    scan=scan_calls,
    facts=FamilyFacts(is_plain_words=True, call_markers=()),
)
