r"""Read calls in the notation of Gemma 4 and FunctionGemma.

    call:NAME{key:<|"|>text<|"|>,n:42,flag:true,list:[1,2],nested:{a:<escape>b<escape>}}

Strings stand between two equal delimiters; anything may stand inside them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Place, Span, ToolCallAttempt
from prompt_debugger.core.parse.arguments import Arguments
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import skip_space
from prompt_debugger.core.parse.stretch_scan import StretchScan
from prompt_debugger.core.parse.tools import parameter_schemas
from prompt_debugger.core.parse.typed_values import schema_types, value_from_text

_MAX_DEPTH = 100
_HEAD = re.compile(r"\s*(?:call\s*:|:|(?=[\w.\-]+\{))\s*(?P<name>[^\s{(<]*)\s*(?P<open>[{(]?)")
_NUMBER = re.compile(r"-?\d+\Z|-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_BARE_KEY, _BARE_VALUE = re.compile(r"[^:,{}\[\]()\n]*+"), re.compile(r"[^,}\])\n]*+")


@dataclass(frozen=True, slots=True)
class BraceCalls:
    """A scanner for one family's markers.

    Attributes:
        opener: Opens a call.
        closer: Closes a call.
        quote: Stands before and behind every string.
    """

    opener: str
    closer: str
    quote: str

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _BraceScan(self, text, region, context).run()


class _Broken(Exception):  # noqa: N818  never leaves this module
    """A value that cannot be read: where, why, and whether the text just ended."""

    def __init__(self, stop: int, problem: str, *, is_cut: bool) -> None:
        super().__init__(problem)
        self.stop = stop
        self.problem = problem
        self.is_cut = is_cut


class _BraceScan(StretchScan):
    def __init__(self, family: BraceCalls, text: str, region: Span, context: ReadContext) -> None:
        super().__init__(text, region, context)
        self._family = family

    def run(self) -> Scan:
        position = self._region.start
        while (hit := self._finder.first((self._family.opener, self._family.closer), position)) is not None:
            span = Span(hit.start, hit.stop)
            call = self._read_call(span) if hit.marker == self._family.opener else None
            span = span if call is None else call.char_span
            position = max(span.stop, hit.stop)
            if self._guard.is_quoted(span):
                continue
            self._guard.skip(position)
            if call is not None:
                self._calls.append(call)
            elif hit.marker == self._family.closer:
                self._markup.append(span)
        return self._found()

    def _read_call(self, opener: Span) -> ToolCallAttempt | None:
        text, stop = self._text, self._region.stop
        if opener.stop >= stop:
            problem = "cut behind its opening marker"
            return ToolCallAttempt(None, "", None, None, CallStatus.TRUNCATED, Place.BODY, opener, problem=problem)
        head = _HEAD.match(text, opener.stop, stop)
        if head is None:
            return None
        name_span = Span(*head.span("name"))
        header = Header(head.group("name") or None, name_span if head.group("name") else None)
        if not head.group("open"):
            at_end = head.end() >= stop
            status = CallStatus.TRUNCATED if at_end else CallStatus.MALFORMED
            problem = "cut inside its name" if at_end else "it has no arguments"
            hit = self._finder.first((self._family.closer, self._family.opener, *self._stops), head.end())
            is_closed = hit is not None and hit.marker == self._family.closer
            end = hit.stop if hit is not None and is_closed else head.end()
            return build_call(text, opener.start, header, Arguments(Span(end, end), None, status, problem, end))
        return build_call(text, opener.start, header, self._read_arguments(head.end() - 1, header.name or ""))

    def _read_arguments(self, brace: int, name: str) -> Arguments:
        try:
            value, stop = self._object(brace, 0)
        except _Broken as broken:
            return self._broken_arguments(brace, broken)
        behind = skip_space(self._text, stop, self._region.stop)
        is_closed = self._text.startswith(self._family.closer, behind) and behind < self._region.stop
        problem = None if is_closed else f"its closing marker {self._family.closer!r} is missing"
        end = behind + len(self._family.closer) if is_closed else stop
        is_cut = not is_closed and behind >= self._region.stop and self._context.finish_reason == "length"
        status = CallStatus.TRUNCATED if is_cut else CallStatus.COMPLETE
        typed = self._typed(value, name)
        return Arguments(Span(brace, stop), typed, status, problem, min(end, self._region.stop))

    def _broken_arguments(self, brace: int, broken: _Broken) -> Arguments:
        hit = self._finder.first((self._family.closer, self._family.opener, *self._stops), brace)
        if hit is None and broken.is_cut:
            stop = brace + len(self._text[brace : self._region.stop].rstrip())
            return Arguments(Span(brace, stop), None, CallStatus.TRUNCATED, broken.problem, self._region.stop)
        end = self._region.stop if hit is None else hit.start
        span = Span(brace, brace + len(self._text[brace:end].rstrip()))
        closed = hit is not None and hit.marker == self._family.closer
        stop = hit.stop if hit is not None and closed else end
        return Arguments(span, None, CallStatus.MALFORMED, broken.problem, stop)

    def _typed(self, value: JSONObject, name: str) -> JSONObject:
        """Give bare words the type that the tool's schema declares."""
        schemas = parameter_schemas(self._context.tools, name)
        typed: JSONObject = {}
        for key, item in value.items():
            is_text = isinstance(item, _Number) and schema_types(schemas.get(key)) == {"string"}
            declared = isinstance(item, _Word) or is_text
            typed[key] = value_from_text(str(item), schemas.get(key)) if declared else _plain(item)
        return typed

    def _object(self, start: int, depth: int) -> tuple[JSONObject, int]:
        """Read `{key:value,…}` (or with round brackets); return it and where it ends."""
        closing = "}" if self._text[start] == "{" else ")"
        members: JSONObject = {}
        position = self._skip(start + 1)
        while self._char(position) != closing:
            key, position = self._key(position)
            members[key], position = self._value(self._skip(position + 1), depth)
            position = self._skip(position)
            if self._char(position) == ",":
                position = self._skip(position + 1)
            elif self._char(position) != closing:
                raise _Broken(position, f"a comma or {closing!r} is missing", is_cut=False)
        return members, position + 1

    def _key(self, position: int) -> tuple[str, int]:
        quote = self._family.quote
        if self._text.startswith(quote, position):
            key, position = self._string(position)
            position = self._skip(position)
        else:
            begin = position
            position = self._bare_end(_BARE_KEY, position)
            key = self._text[begin:position].strip().strip("\"'")
        if self._char(position) != ":":
            raise _Broken(position, "a colon is missing", is_cut=False)
        return key, position

    def _value(self, position: int, depth: int) -> tuple[JSON, int]:
        if depth > _MAX_DEPTH:
            raise _Broken(position, "nested too deeply", is_cut=False)
        if self._text.startswith(self._family.quote, position):
            return self._string(position)
        char = self._char(position)
        if char == "{":
            return self._object(position, depth + 1)
        if char == "[":
            return self._array(position, depth + 1)
        begin = position
        position = self._bare_end(_BARE_VALUE, position)
        return _bare(self._text[begin:position].strip()), position

    def _array(self, start: int, depth: int) -> tuple[JSON, int]:
        items: list[JSON] = []
        position = self._skip(start + 1)
        while self._char(position) != "]":
            item, position = self._value(position, depth)
            items.append(item)
            position = self._skip(position)
            if self._char(position) == ",":
                position = self._skip(position + 1)
            elif self._char(position) != "]":
                raise _Broken(position, "a comma or ']' is missing", is_cut=False)
        return items, position + 1

    def _string(self, position: int) -> tuple[str, int]:
        quote = self._family.quote
        begin = position + len(quote)
        end = self._finder.next(quote, begin)
        if end == -1:
            raise _Broken(self._region.stop, "cut inside a string", is_cut=True)
        return self._text[begin:end], end + len(quote)

    def _bare_end(self, pattern: re.Pattern[str], start: int) -> int:
        """Return where bare text ends; no marker is part of it."""
        hit = self._finder.first((self._family.opener, self._family.closer), start)
        limit = self._region.stop if hit is None else hit.start
        match = pattern.match(self._text, start, limit)
        end = start if match is None else match.end()
        if end == limit and hit is not None:
            raise _Broken(end, "its closing bracket is missing", is_cut=False)
        self._char(end)
        return end

    def _skip(self, position: int) -> int:
        return skip_space(self._text, position, self._region.stop)

    def _char(self, position: int) -> str:
        if position >= self._region.stop:
            raise _Broken(self._region.stop, "cut inside its arguments", is_cut=True)
        return self._text[position]


class _Word(str):
    """A bare word that is no JSON literal; its type is the schema's business."""

    __slots__ = ()


class _Number(str):
    """A bare number as it was written: text where the schema wants text."""

    __slots__ = ()


def _bare(text: str) -> JSON:
    if text in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[text]
    return _Number(text) if _NUMBER.match(text) else _Word(text)


def _number(text: str) -> JSON:
    try:
        return float(text) if any(char in text for char in ".eE") else int(text)
    except ValueError:
        return text


def _plain(value: JSON) -> JSON:
    if isinstance(value, _Number):
        return _number(value)
    if isinstance(value, _Word):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
