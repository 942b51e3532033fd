r"""Calls as plain text with arrows, in the markup of no family: what MiniMax's models fall back to, and others copy.

    [TOOL_CALL]
    {tool => "NAME", args => {
      --KEY "VALUE"
      --KEY 30
    }}
    [/TOOL_CALL]
    [TOOL_CALL] {"tool": "NAME", "args": {ARGUMENTS}} [/TOOL_CALL]

Values in quotation marks are texts; others are JSON. Text around a call is exact.

Source: Mintplex-Labs/anything-llm#4675 and lmstudio-ai/lmstudio-bug-tracker#1177, 2025.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import JSON, CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.arguments import Arguments
from prompt_debugger.core.parse.call_object import CallKeys, read_call
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.json_scan import decode_json, scan_json
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.scan import QuoteGuard

_OPENER = re.compile(
    r"\[TOOL_CALL\]\s{0,8}\{\s{0,8}tool\s{0,4}=>\s{0,4}[\"\u201c](?P<name>[^\"\u201c\u201d\n]{1,256})[\"\u201d]\s{0,4},\s{0,8}"
    r"args\s{0,4}=>\s{0,4}\{"
)
_JSON_OPENER = re.compile(r"\[TOOL_CALL\]\s{0,8}(?=\{\s{0,8}\"(?:tool|name|tool_name)\")")
_ANY = re.compile(rf"{_OPENER.pattern}|{_JSON_OPENER.pattern}")
_KEY = re.compile(r"\s*+(?:--|[\u2013\u2014])(?P<key>[^\s\"{}]{1,256}+)[ \t]++")
_WORD = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|\u201c(?P<curly>[^\u201d]*+)\u201d|[^\s\"{}\[\]]{1,1000}+", re.DOTALL)
_END = re.compile(r"\s*+\}\s*+\}(?:\s*+\[/TOOL_CALL\])?")
_JSON_END = re.compile(r"\s{0,8}\[/TOOL_CALL\]")
_CLOSER = "[/TOOL_CALL]"
_PLAIN = "it is written as plain text, in a markup that belongs to no family"


def scan_calls(raw: str, region: Span, _context: ReadContext) -> Scan:
    """Read every block; none where code or a sentence quotes one."""
    guard = QuoteGuard(raw, region.start, region.stop)
    calls: list[ToolCallAttempt] = []
    position = region.start
    while (opener := _ANY.search(raw, position, region.stop)) is not None:
        call = (
            _read_json(raw, opener, region.stop) if opener["name"] is None else _read_arrows(raw, opener, region.stop)
        )
        position = max(opener.end(), call.char_span.stop)
        if not guard.is_quoted(call.char_span, in_sentence=True):
            guard.skip(position)
            calls.append(call)
    return Scan(tuple(calls))


def _read_arrows(raw: str, opener: re.Match[str], stop: int) -> ToolCallAttempt:
    arguments = _read_pairs(raw, opener.end(), stop)
    header = Header(opener["name"], Span(*opener.span("name")))
    return build_call(raw, opener.start(), header, arguments, _PLAIN if arguments.problem is None else None)


def _read_json(raw: str, opener: re.Match[str], stop: int) -> ToolCallAttempt:
    call = read_call(raw, opener.end(), stop, CallKeys()).call
    end = _JSON_END.match(raw, call.char_span.stop, stop)
    span = Span(opener.start(), call.char_span.stop if end is None else end.end())
    return replace(call, char_span=span, deviation=call.deviation or _PLAIN)


def _read_pairs(raw: str, start: int, stop: int) -> Arguments:
    """Read `--KEY VALUE … }}` from the first pair on."""
    value: dict[str, JSON] = {}
    position = start
    while (key := _KEY.match(raw, position, stop)) is not None:
        read = _read_value(raw, key.end(), stop)
        if read is None:
            break
        value[key["key"]], position = read
    end = _END.match(raw, position, stop)
    if end is not None:
        return Arguments(Span(start, position), value, CallStatus.COMPLETE, None, end.end())
    closer = raw.find(_CLOSER, position, stop)
    if closer < 0:
        return Arguments(Span(start, stop), None, CallStatus.TRUNCATED, "cut inside its arguments", stop)
    broken = closer + len(_CLOSER)
    return Arguments(Span(start, closer), None, CallStatus.MALFORMED, "its pairs are broken", broken)


def _read_value(raw: str, start: int, stop: int) -> tuple[JSON, int] | None:
    """Return the value that begins at a place, and where it ends; `None` where it does not end."""
    if raw.startswith(("{", "["), start):
        scan = scan_json(raw, start, stop)
        return (scan.value, scan.span.stop) if scan.status is CallStatus.COMPLETE else None
    word = _WORD.match(raw, start, stop)
    if word is None:
        return None
    try:
        return (decode_json(word[0]) if word["curly"] is None else word["curly"]), word.end()
    except (ValueError, RecursionError):
        return word[0].strip('"'), word.end()


FORMAT: ModelFormat = TextFormat(
    name="tool_arrow",
    marks=(
        Mark("[TOOL_CALL]", STRONG, r"\[TOOL_CALL\]\s{0,8}\{\s{0,8}tool\s{0,4}=>"),
        Mark("[TOOL_CALL]", STRONG, _JSON_OPENER.pattern),
    ),
    conventions=Conventions(reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2), before_call=1),
    scan=scan_calls,
    facts=FamilyFacts(is_plain_words=True, call_markers=()),
)
