r"""Harmony (gpt-oss): messages with a channel, and a recipient for calls.

    <|channel|>analysis<|message|>REASONING<|end|>
    <|start|>assistant<|channel|>commentary<|message|>CONTENT<|end|>
    <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{ARGUMENTS}<|call|>
    <|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>{ARGUMENTS}<|call|>
    <|start|>assistant<|channel|>final<|message|>CONTENT<|return|>

Drawn on several lines; written without line breaks. No whitespace is framing.
The prompt ends with `<|start|>assistant`. A message to anyone but `assistant`
or `user` is a call, on whatever channel; the `functions.` before the name is
decoration. Several messages of one kind are read joined by a line break, as
servers show them.

Source: the Harmony format guide (openai/harmony `docs/format.md`), 2025-08;
header errors in vllm-project/vllm#23567, #35906, #35907, openai/harmony#38, #60.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.structural_tag import GrammarPlan, between, exactly, following, free_text, schema_of
from prompt_debugger.core.base.types import (
    JSON,
    CallStatus,
    JSONObject,
    ParsedMessage,
    Segment,
    SegmentKind,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.formats._facts import FamilyFacts, Grammar, ParserNames, WrittenCalls
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.arguments import read_arguments
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.reading import assemble_message, find_cut, find_end
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.scan import Finder, Hit, is_quoted_inline
from prompt_debugger.core.parse.tiling import Stretch
from prompt_debugger.core.parse.tools import tool_names

_START, _CHANNEL, _MESSAGE, _CONSTRAIN = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"
_ENDS = ("<|end|>", "<|call|>", "<|return|>")
_BODY_STOPS = (*_ENDS, _START, _CHANNEL)
_RECIPIENT = re.compile(r"to=(?P<whole>(?:functions\.)?(?P<name>[^\s<]*))")
_CHANNEL_NAME = re.compile(r"<\|channel\|>\s*(?P<name>[a-z]*)")
_HEADLESS = re.compile(r"\s*to=[^\s<]+\s*(?=<\|(?:channel|constrain|message)\|>)")
_HEADER_REST = re.compile(r"\s*[a-z]*\s*(?:to=[^\s<]+)?\s*(?:<\|constrain\|>)?\s*\w*\s*")
# Analysis and answer once a server has removed the control tokens; prose continues with a space or a small letter.
_BARE = re.compile(
    r"\A\s*analysis(?=[^\sa-z.,:;])(?P<analysis>(?:(?!assistantcommentary|to=functions\.|<\|).)*?[^\s`\"'])assistantfinal"
    r"(?![\s`\"'.,:;]*\Z)(?![`\"'.,:;])",
    re.DOTALL,
)
_NO_ONE = frozenset({"", "assistant", "user", "all"})
_CONVENTIONS = Conventions(
    turns=(
        _START,
        _CHANNEL,
        _MESSAGE,
        _CONSTRAIN,
    ),
    ends=frozenset(_ENDS),
    markers=frozenset({_START, _CHANNEL, _MESSAGE, _CONSTRAIN, "<|end|>"}),
)


@dataclass(frozen=True, slots=True)
class _Header:
    span: Span
    channel: str
    name_span: Span | None
    id_span: Span | None


class _Harmony(TextFormat):
    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        reader = _Reader(raw, context)
        bare = None if _MESSAGE in raw else _BARE.match(raw, 0, reader.stop)
        if bare is None:
            reader.run()
        else:
            reader.run_bare(bare)
        stretches = list(reader.stretches)
        if reader.stop < reader.end_start:
            stretches.append(Stretch(Segment(Span(reader.stop, reader.end_start), SegmentKind.MARKUP)))
        if reader.end_start < len(raw):
            stretches.append(Stretch(Segment(Span(reader.end_start, len(raw)), SegmentKind.END)))
        return assemble_message(
            self.name,
            raw,
            stretches,
            tuple(reader.calls),
            context,
            _CONVENTIONS,
            has_reasoning=reader.has_reasoning,
            joiner="\n",
        )


class _Reader:
    def __init__(self, raw: str, context: ReadContext) -> None:
        self._raw = raw
        self._tail = context.prompt_tail
        self._is_cut = context.finish_reason == "length"
        self._names = tool_names(context.tools)
        self.end_start = find_end(raw, context, _CONVENTIONS)
        self.stop = find_cut(raw, self.end_start, context, _CONVENTIONS)
        # `<|call|>` ends a call; only what follows it ends the turn.
        self._finder = Finder(raw, len(raw) if self.stop == self.end_start else self.stop)
        self.stretches: list[Stretch] = []
        self.calls: list[ToolCallAttempt] = []
        self.has_reasoning = False

    def run(self) -> None:
        position = after = self._open_body() or self._open_header()
        while position < self.stop and (hit := self._finder.first((_START, _CHANNEL, *_ENDS), position)) is not None:
            if hit.start >= self.stop:
                break
            # Right after a message nothing is quoted, whatever back-ticks its text holds.
            if hit.start != after and is_quoted_inline(self._raw, Span(hit.start, hit.stop), self.stop):
                position = hit.stop
                continue
            position = after = self._mark(hit) if hit.marker in _ENDS else self._message(hit)

    def run_bare(self, bare: re.Match[str]) -> None:
        """Read an output whose control tokens were taken away: `analysis…assistantfinal…`."""
        self.has_reasoning = True
        start, stop = bare.span("analysis")
        self.stretches += [
            Stretch(Segment(Span(0, start), SegmentKind.MARKUP)),
            Stretch(Segment(Span(start, stop), SegmentKind.REASONING)),
            Stretch(Segment(Span(stop, bare.end()), SegmentKind.MARKUP)),
        ]

    def _mark(self, hit: Hit) -> int:
        self.stretches.append(Stretch(Segment(Span(hit.start, hit.stop), SegmentKind.MARKUP)))
        return hit.stop

    def _open_body(self) -> int:
        """Read the body of a message whose header is in the prompt."""
        if not self._tail.endswith(_MESSAGE):
            return 0
        start = max(self._tail.rfind(_START), 0)
        channel = _CHANNEL_NAME.search(self._tail, start)
        return self._body(0, "" if channel is None else channel.group("name"))

    def _open_header(self) -> int:
        """Read a first message whose header begins in the prompt and names its recipient before any marker."""
        head = _HEADLESS.match(self._raw)
        return 0 if head is None else self._message(Hit(0, head.end(), ""))

    def _message(self, hit: Hit) -> int:
        message = self._finder.next(_MESSAGE, hit.stop)
        following = self._finder.first((*_ENDS, _START), hit.stop)
        limit = self.stop if following is None else min(following.start, self.stop)
        stop = limit if message == -1 or message > limit else message
        header = self._header(Span(hit.start, stop))
        if stop == limit and (message == -1 or message > limit):
            return self._cut_header(header, stop)
        if header.name_span is not None:
            return self._call(header, message + len(_MESSAGE))
        self.stretches.append(Stretch(Segment(Span(hit.start, message + len(_MESSAGE)), SegmentKind.MARKUP)))
        return self._body(message + len(_MESSAGE), header.channel)

    def _header(self, span: Span) -> _Header:
        channels = [match.group("name") for match in _CHANNEL_NAME.finditer(self._raw, span.start, span.stop)]
        recipient = _RECIPIENT.search(self._raw, span.start, span.stop)
        name = channels[-1] if channels else ""  # a header that names two channels means the last one
        if recipient is None or recipient.group("whole") in _NO_ONE:
            return _Header(span, name, None, None)
        name_span = Span(*recipient.span("name"))
        return _Header(span, name, name_span, Span(*recipient.span("whole")))

    def _cut_header(self, header: _Header, stop: int) -> int:
        """Read a header that no message follows."""
        if header.name_span is not None:
            start = header.name_span.stop
            arguments = read_arguments(Finder(self._raw, stop), stop, closers=("<|call|>",))
            call_header = self._call_header(header)
            call = build_call(self._raw, header.span.start, call_header, arguments, "cut inside its header")
            self._add_call(call)
            return max(stop, start)
        self.stretches.append(Stretch(Segment(Span(header.span.start, stop), SegmentKind.MARKUP)))
        return max(stop, header.span.start + 1)

    def _call_header(self, header: _Header) -> Header:
        span = header.name_span
        name = None if span is None else self._raw[span.start : span.stop]
        return Header(name or None, span if name else None)

    def _call(self, header: _Header, body_start: int) -> int:
        arguments = read_arguments(
            self._finder,
            body_start,
            closers=("<|call|>", "<|end|>", "<|return|>"),
            stops=(_START, _CHANNEL),
            is_cut=self._is_cut,
        )
        call = build_call(self._raw, header.span.start, self._call_header(header), arguments)
        if self._is_raw_code(header, call):
            call = replace(call, status=CallStatus.COMPLETE, problem=None)
        self._add_call(call)
        return max(call.char_span.stop, body_start)

    def _is_raw_code(self, header: _Header, call: ToolCallAttempt) -> bool:
        """Return whether a call hands code, and not JSON, to a tool that the server brings along."""
        is_built_in = header.id_span == header.name_span and call.name not in self._names
        return is_built_in and call.status is CallStatus.MALFORMED and not call.arguments.startswith(("{", "["))

    def _add_call(self, call: ToolCallAttempt) -> None:
        index = len(self.calls)
        self.calls.append(call)
        self.stretches += [Stretch(segment, frames_call=True) for segment in segments_of_call(call, index)]

    def _body(self, start: int, channel: str) -> int:
        """Read the text of a message that is not a call."""
        hit = self._finder.first(_BODY_STOPS, start)
        while hit is not None and self._is_mention(hit):
            hit = self._finder.first(_BODY_STOPS, hit.stop)
        stop = self.stop if hit is None else min(hit.start, self.stop)
        if channel == "analysis":
            self.has_reasoning = True
            self.stretches.append(Stretch(Segment(Span(start, stop), SegmentKind.REASONING)))
        return max(stop, start)

    def _is_mention(self, hit: Hit) -> bool:
        """Return whether a text only mentions a marker; after a real end comes a header or nothing, then a message."""
        following = self._finder.first((*_ENDS, _START), hit.stop)
        is_quoted = is_quoted_inline(self._raw, Span(hit.start, hit.stop), self.stop, in_sentence=following is not None)
        if following is None or hit.stop >= self.stop:
            return is_quoted and hit.stop < self.stop
        if hit.marker in _ENDS:
            return is_quoted and not self._raw.startswith((_START, _CHANNEL, *_ENDS), hit.stop)
        message = self._finder.next(_MESSAGE, hit.stop)
        if message != -1 and message < following.start:
            return False
        is_prose = hit.marker == _CHANNEL and _HEADER_REST.fullmatch(self._raw, hit.stop, following.start) is None
        return is_quoted or is_prose


def build_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject:
    """Return its structural tag: analysis, commentary, then a call or, where there may be none, the answer."""
    ends: JSON = ["<|end|>", ""]
    forms = (" to=functions.{name}{channel}{mark}<|message|>", "{channel} to=functions.{name}{mark}<|message|>")
    channels = ("<|channel|>commentary", "<|channel|>analysis", "<|channel|>final")
    marks = (" json", " <|constrain|>json")
    tags: list[JSON] = [
        between(form.format(name=tool.name, channel=channel, mark=mark), following(schema_of(tool)), ends)
        for tool in plan.tools
        for form in forms
        for mark in marks
        for channel in channels
    ]
    if plan.choice == "auto":
        tags += [between(f"<|channel|>final{mark}<|message|>", free_text(), ends) for mark in (*marks, "")]
    before: list[JSON] = [
        {
            "type": "optional",
            "content": {
                "type": "sequence",
                "elements": [
                    between(f"<|channel|>{channel}<|message|>", free_text(), "<|end|>"),
                    exactly("<|start|>assistant"),
                ],
            },
        }
        for channel in ("analysis", "commentary")
    ]
    return {"type": "sequence", "elements": [*before, {"type": "or", "elements": tags}]}


FORMAT: ModelFormat = _Harmony(
    name="harmony",
    marks=(
        Mark(_CHANNEL),
        Mark("to=functions.", STRONG),
        Mark(_MESSAGE, STRONG, r"<\|start\|>\s*assistant[^<]{0,256}<\|message\|>"),
        Mark(_CONSTRAIN),
        Mark("assistantfinal", STRONG, _BARE.pattern.replace("\\A", "(?s)\\A", 1)),
    ),
    tails=("<|start|>assistant",),
    conventions=_CONVENTIONS,
    facts=FamilyFacts(
        sample=('<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>'),
        written_calls=WrittenCalls(
            r" to=(?P<to>functions\.[\w.-]{1,200})<\|channel\|>(?P<channel>commentary) (?P<type>json|code)(?=<)",
            r"<|channel|>\g<channel> to=\g<to> <|constrain|>\g<type>",
            "past calls as `assistant to=functions.NAME<|channel|>commentary json`, and gpt-oss usually writes "
            "`<|channel|>commentary to=functions.NAME <|constrain|>json` (openai/harmony, docs/format.md)",
        ),
        thinks_first=True,
        model_names=("gpt-oss",),
        markers_are_plain_words=True,
        message_ends=("<|end|>", "<|call|>"),
        tool_parsers=("openai",),
        reasoning_parsers=("openai_gptoss",),
        parser_names={"sglang": ParserNames(("gpt-oss",), ("gpt-oss",))},
        grammars=(
            Grammar(
                "harmony",
                "openai",
                build=build_tag,
                stops=("<|call|>", "<|return|>", "<|endoftext|>"),
                covers_reasoning=True,
            ),
        ),
        reasoning=ReasoningTags(("<|channel|>analysis<|message|>",), ("<|end|>",)),
        call_markers=(),
        stripped=r"(?:analysis|commentary) ?to=functions\.(?P<name>[\w\-]+?) ?(?:json|code)?(?=\{)",
    ),
)
