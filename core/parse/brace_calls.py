r"""Read calls in the notation of Gemma 4 and FunctionGemma.

    call:NAME{key:<|"|>text<|"|>,n:42,flag:true,list:[1,2],nested:{a:<escape>b<escape>}}

A string is written between two equal delimiters; anything may be inside it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Place, Span, ToolCallAttempt
from prompt_debugger.core.parse.arguments import Arguments
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.json_scan import decode_json
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Hit, skip_space
from prompt_debugger.core.parse.stretch_scan import StretchScan
from prompt_debugger.core.parse.tools import parameter_schemas
from prompt_debugger.core.parse.typed_values import schema_types, value_from_text

_MAX_DEPTH = 100
_MAX_TRIED = 4  # places before a lone closing marker at which a call may have begun
_HEAD = re.compile(
    r"\s*(?:(?P<call>call\s*:)|(?P<colon>:)|(?=[\w.\-]{1,256}[{(]))\s*(?P<name>[^\s{(<]*)\s*(?P<open>[{(]?)"
)
_NEXT = re.compile(r"[\s,;]*+(?P<call>(?<![\w.])call\s*:\s*[\w.\-]{1,256}\s*[{(])")
_LOOSE = re.compile(r"(?<![\w.:/\-])call:[\w.\-]{1,256}[{(]")
_PLAIN_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'", re.DOTALL)
_AFTER_VALUE = re.compile(r"\s*+[,}\])]")
_NUMBER = re.compile(r"-?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?\Z")
_BARE_KEY, _BARE_VALUE = re.compile(r"[^:,{}\[\]()\n]*+"), re.compile(r"[^,}\])\n]*+")
_ROUND_KEY = re.compile(r"[^:=,{}\[\]()\n]*+")


@dataclass(frozen=True, slots=True)
class BraceCalls:
    """A scanner for one family's markers.

    Attributes:
        opener: Opens a call.
        closer: Closes a call.
        quote: Stands before and after every string.
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
        self._notes: list[str] = []  # what departs from the notation in the call that is read

    def run(self) -> Scan:
        position = self._region.start
        while (hit := self._finder.first((self._family.opener, self._family.closer), position)) is not None:
            is_opener = hit.marker == self._family.opener
            calls = self._read_calls(hit) if is_opener else self._read_headless(position, hit)
            span = Span(calls[0].char_span.start, calls[-1].char_span.stop) if calls else Span(hit.start, hit.stop)
            position = max(span.stop, hit.stop)
            if self._guard.is_quoted(span):
                continue
            self._guard.skip(position)
            self._calls += calls
            if not (calls or is_opener):
                self._markup.append(span)
        self._take_unmarked()
        return self._found()

    def _read_calls(self, opener: Hit) -> list[ToolCallAttempt]:
        """Read the call after an opening marker, and those that share its pair of markers."""
        first = self._read_call(Span(opener.start, opener.stop))
        calls = [] if first is None else [first]
        while calls and calls[-1].status is CallStatus.COMPLETE:
            following = _NEXT.match(self._text, calls[-1].char_span.stop, self._region.stop)
            if following is None or self._is_closed(calls[-1]):
                break
            start = following.start("call")
            further = self._read_call(Span(start, start), "it shares a pair of markers with the call before it")
            if further is None:
                break
            own = None if len(calls) == 1 and calls[0].problem == self._unclosed else calls[-1].problem
            calls[-1] = replace(calls[-1], problem=own)
            calls.append(further)
            self._markup.append(Span(following.start(), start))
        return calls

    def _is_closed(self, call: ToolCallAttempt) -> bool:
        return self._text.endswith(self._family.closer, call.char_span.start, call.char_span.stop)

    def _read_headless(self, start: int, closer: Hit) -> list[ToolCallAttempt]:
        """Read a call whose opening marker is missing: `call:NAME{…}` right before a closing marker."""
        for match in deque(_LOOSE.finditer(self._text, start, closer.start), maxlen=_MAX_TRIED):
            call = self._read_call(Span(match.start(), match.start()), self._unopened)
            if call is not None and call.status is CallStatus.COMPLETE and call.char_span.stop == closer.stop:
                return [call]
        return []

    def _take_unmarked(self) -> None:
        """Take calls without any marker around them, where their strings have the quotes that only calls have."""
        if self._calls or self._finder.next(self._family.quote, self._region.start) == -1:
            return
        position = self._region.start
        while (match := _LOOSE.search(self._text, position, self._region.stop)) is not None:
            call = self._read_call(Span(match.start(), match.start()), "the markers around it are missing")
            position = match.end() if call is None else max(call.char_span.stop, match.end())
            has_quotes = call is not None and self._family.quote in call.arguments
            if call is None or not has_quotes or call.status is not CallStatus.COMPLETE:
                continue
            if not self._guard.is_quoted(call.char_span, in_sentence=True):
                self._guard.skip(position)
                self._calls.append(replace(call, problem="the markers around it are missing"))

    def _read_call(self, opener: Span, problem: str | None = None) -> ToolCallAttempt | None:
        text, stop = self._text, self._region.stop
        if opener.stop >= stop:
            problem = "cut after its opening marker"
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
        self._notes = [note for note in (problem, _missing_word(head)) if note]
        if head.group("open") == "(":
            self._notes.append("its arguments are in round brackets")
        arguments = self._read_arguments(head.end() - 1, header.name or "")
        notes = "; ".join(dict.fromkeys(self._notes))
        return build_call(text, opener.start, header, arguments, notes or None)

    @property
    def _unclosed(self) -> str:
        return f"its closing marker {self._family.closer!r} is missing"

    @property
    def _unopened(self) -> str:
        return f"its opening marker {self._family.opener!r} is missing"

    def _read_arguments(self, brace: int, name: str) -> Arguments:
        try:
            value, stop = self._object(brace, 0)
        except _Broken as broken:
            return self._broken_arguments(brace, broken)
        after = skip_space(self._text, stop, self._region.stop)
        is_closed = self._text.startswith(self._family.closer, after) and after < self._region.stop
        problem = None if is_closed else self._unclosed
        end = after + len(self._family.closer) if is_closed else stop
        is_cut = not is_closed and after >= self._region.stop and self._context.finish_reason == "length"
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
            key, position = self._key(position, ":" if closing == "}" else ":=")
            value, position = self._value(self._skip(position + 1), depth)
            members[key] = _PYTHON_WORDS.get(value, value) if closing == ")" and isinstance(value, _Word) else value
            position = self._skip(position)
            if self._char(position) == ",":
                position = self._skip(position + 1)
            elif self._char(position) != closing:
                raise _Broken(position, f"a comma or {closing!r} is missing", is_cut=False)
        return members, position + 1

    def _key(self, position: int, separators: str) -> tuple[str, int]:
        quote = self._family.quote
        if self._text.startswith(quote, position):
            key, position = self._string(position)
            position = self._skip(position)
        else:
            begin = position
            position = self._bare_end(_BARE_KEY if separators == ":" else _ROUND_KEY, position)
            key = self._text[begin:position].strip().strip("\"'")
        if self._char(position) not in separators:
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
        if char in "\"'" and (written := self._plain_string(position)) is not None:
            return written
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

    def _plain_string(self, position: int) -> tuple[JSON, int] | None:
        """Read a string between plain quotation marks, which some checkpoints write; `None` if it does not end so."""
        match = _PLAIN_STRING.match(self._text, position, self._region.stop)
        if match is None:
            return None
        is_closed_twice = self._text.startswith(self._family.quote, match.end(), self._region.stop)
        end = match.end() + (len(self._family.quote) if is_closed_twice else 0)
        if _AFTER_VALUE.match(self._text, end, self._region.stop) is None:
            return None
        try:
            value = decode_json(match.group()) if match.group()[0] == '"' else match.group()[1:-1]
        except (ValueError, RecursionError):
            value = match.group()[1:-1]
        self._notes.append(
            f"a string in plain quotation marks is closed by {self._family.quote!r} as well"
            if is_closed_twice
            else "its strings are in plain quotation marks"
        )
        return value, end

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


def _missing_word(head: re.Match[str]) -> str | None:
    """Say which part of `call:` is missing before a name."""
    if head.group("call"):
        return None
    return (
        "the word `call` before the colon is missing" if head.group("colon") else "`call:` before its name is missing"
    )


class _Word(str):
    """A bare word that is not a JSON literal; its type is up to the schema."""

    __slots__ = ()


class _Number(str):
    """A bare number as it was written: text where the schema wants text."""

    __slots__ = ()


_PYTHON_WORDS: Mapping[str, JSON] = {"True": True, "False": False, "None": None}  # in round brackets


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
