r"""Muse Glimmer: messages with a recipient, calls as ATEM elements.

    to=self<|message|>REASONING<|eom|>
    <|start|>assistant to=NAME<|message|>
    <atem:function_calls>\n
    <atem:invoke name="NAME">\n
    <atem:parameter name="KEY">VALUE</atem:parameter>\n
    </atem:invoke>\n
    </atem:function_calls><|eom|>
    <|start|>assistant to=user<|message|>CONTENT<|eot|>

Drawn on several lines. The prompt ends with `<|start|>assistant`. An invocation
in a message to `self` or `user` is quoted text; in one without a recipient it is a
call. Text values are written plainly, anything else as JSON; the tool's schema
decides, and without one what is JSON is JSON. A tool without a namespace is written twice: `NAME.NAME`.

Source: the chat template of Muse Glimmer, 2026; vLLM 0.32 `tool_parsers/muse_glimmer_tool_parser.py`.
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, ParsedMessage, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.channels import BodyKind, Channels
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls
from prompt_debugger.core.parse.tools import tool_names

_NO_RECIPIENT = re.compile(r"(?:\A|assistant)[^\S\n]{0,8}<\|message\|>\Z")
_HEADER_CHARS = 64
_WRAPPER = re.compile(r"</?atem:function_calls>")

_TAGS = TagCalls(
    exact_tags=True,
    opener=re.compile(
        r"<atem:invoke\b[^>]{0,256}?\bname=\"(?P<name>[^\"<>\n]{0,256}(?:<\|message\|>[^\"<>\n]{1,256}){0,4})"
        r"(?:(?:<\|message\|>){0,4}\"[^>]{0,256}(?:>|\Z)|(?:<\|message\|>){1,4}(?=\s*<atem:)|\Z)"
    ),
    closer=re.compile(r"</atem:invoke>"),
    parameter=re.compile(r"<atem:parameter\b[^>]{0,256}?\bname=\"(?P<key>[^\"\n]{1,256})\"[^>]{0,256}>"),
    parameter_closer=re.compile(r"</atem:parameter>"),
    wrapper=_WRAPPER,
    cut_wrapper=re.compile(r"<atem:function_calls>"),
    decodes_untyped=True,
)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the invocations of a message to a tool, and of one that does not say whom it is for."""
    names = tool_names(context.tools)
    has_recipient = _NO_RECIPIENT.search(raw, max(0, region.start - _HEADER_CHARS), region.start) is None
    found = (_TAGS if has_recipient else replace(_TAGS, guards_prose=True)).scan(raw, region, context)
    odd = None if has_recipient else "the header of its message names no recipient"
    return replace(found, calls=tuple(_undouble(_noting(call, odd, raw), names) for call in found.calls))


def _noting(call: ToolCallAttempt, odd: str | None, raw: str) -> ToolCallAttempt:
    """Say what is odd about a call's header or name, if something is."""
    head = raw[call.char_span.start : call.arguments_span.start if call.arguments_span else call.char_span.stop]
    stray = "a `<|message|>` is in its name" if "<|message|>" in head else None
    problem = "; ".join(filter(None, (odd, stray, call.problem)))
    name = call.name.replace("<|message|>", "") if call.name and stray else call.name
    return replace(call, name=name, problem=problem) if problem else call


def scan_headless(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the invocations of an output that has no header at all."""
    found = replace(_TAGS, guards_prose=True).scan(raw, region, context)
    names = tool_names(context.tools)
    missing = "the header ` to=NAME<|message|>` before its block is missing"
    calls = tuple(
        replace(_undouble(call, names), problem="; ".join(filter(None, (missing, call.problem))))
        for call in _in_blocks(raw, region, found.calls)
        if call.status is CallStatus.COMPLETE
    )
    return replace(found, calls=calls) if calls else Scan()


def _in_blocks(raw: str, region: Span, calls: tuple[ToolCallAttempt, ...]) -> list[ToolCallAttempt]:
    """Return the invocations in a block where there is one: those outside are examples. Without any, all."""
    tags = [*_WRAPPER.finditer(raw, region.start, region.stop)]
    starts = [tag.start() for tag in tags]
    before = [bisect(starts, call.char_span.start) for call in calls]
    inside = [call for call, n in zip(calls, before, strict=True) if n and not tags[n - 1].group().startswith("</")]
    return inside or [*calls]


def _undouble(call: ToolCallAttempt, names: frozenset[str]) -> ToolCallAttempt:
    """Take `NAME.NAME` for the tool `NAME` that the request has."""
    first, _, second = (call.name or "").rpartition(".")
    if call.name in names or first != second or first not in names or call.name_span is None:
        return call
    return replace(call, name=first, name_span=Span(call.name_span.start, call.name_span.start + len(first)))


def _kind(header: re.Match[str]) -> BodyKind:
    recipient = header.group("to") or ""
    return {"self": "reasoning", "user": "content"}.get(recipient, "calls")  # type: ignore[return-value]


_CHANNELS = Channels(
    header=re.compile(
        r"(?:<\|start\|>[^\S\n]*+assistant[^\S\n]*+|\A[^\S\n]*+(?=<\|message\|>)|(?<![^\n>])[^\S\n]*+(?=to=)|(?<=[^\S\n])(?=to=))"
        r"(?:to=(?P<to>[\w.\-]{1,256}))?<\|message\|>"
    ),
    end=re.compile(r"<\|eo[mt]\|>"),
    kind_of=_kind,
    scan=scan_calls,
    headless=scan_headless,
    conventions=Conventions(
        turns=("<|start|>",),
        ends=frozenset({"<|eot|>", "<|eom|>"}),
        markers=frozenset({"<|start|>", "<|message|>"}),
        cut_texts=frozenset({"<atem:function_calls>", "</atem:function_calls>", '<atem:invoke name="'}),
        cut_structure=re.compile(
            r"(?:<\|start\|>[^\S\n]*+(?:[a-z]{0,9}[^\S\n]*+(?:to?|to=[\w.\-]{0,256})?)?|\A[^\S\n]?to=[\w.\-]{0,256})(?:<\|?)?\Z"
        ),
        before_call=1,
        block="<atem:function_calls>",
    ),
)


class _MuseGlimmer(TextFormat):
    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        return _CHANNELS.read(self.name, raw, context)


FORMAT: ModelFormat = _MuseGlimmer(
    name="muse_glimmer",
    marks=(
        Mark("<atem:", 0.97, r"<atem:(?:invoke|function_calls)\b"),
        Mark(
            "<|message|>",
            0.97,
            r"(?:\A|\n|<\|eo[mt]\|>|assistant)[^\S\n]*+to="
            r"(?:(?:self|user)<\|message\|>|(?!functions\.)[\w.\-]{1,256}<\|message\|>(?!\s*+\{))",
            unless="<|channel|>",
        ),
        Mark("<|eom|>", CERTAIN, r"<\|message\|>"),
        Mark("<|eot|>", STRONG, r"<\|message\|>"),
    ),
    tails=("<|start|>assistant",),
    conventions=_CHANNELS.conventions,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        message_ends=("<|eom|>",),
        tool_parsers=("muse_glimmer",),
        reasoning_parsers=("muse_glimmer",),
        parser_names={"sglang": ParserNames(("muse",))},
        reasoning=ReasoningTags(("to=self<|message|>",), ("<|eom|>", "<|eot|>")),
        call_markers=("<atem:",),
    ),
)
