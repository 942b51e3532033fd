"""Read calls written as Python calls.

    [get_weather(city="Paris", days=3), ping()]

bare or between markers, in a list or one per line. Nothing is evaluated. Bare
ones count only where a call can be: on a line of their own, naming a
tool of the request where those are known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Place, Span, ToolCallAttempt
from prompt_debugger.core.parse.call_object import CallKeys, read_call
from prompt_debugger.core.parse.python_values import PythonValue, read_loose_string, read_python_value
from prompt_debugger.core.parse.reading import Scan, frame_spans
from prompt_debugger.core.parse.scan import Hit, skip_space
from prompt_debugger.core.parse.stretch_scan import StretchScan
from prompt_debugger.core.parse.tools import parameter_schemas

_CALL_START = re.compile(r"(?P<name>[A-Za-z_][\w.\-]*)\s*\(")
_BARE_LIST = re.compile(r"\[\s*(?P<name>[A-Za-z_][\w.\-]*)\s*\(")
_PARTIAL_NAME = re.compile(r"(?P<name>[A-Za-z_][\w.\-]*)\s*\Z")
_KEYWORD = re.compile(r"(?P<key>[A-Za-z_]\w*|\"[^\"\n]*\"|'[^'\n]*')\s*=(?!=)\s*")
_SENTENCE_END = (".", "!", "?", ":", "\n", ">", "]")


@dataclass(frozen=True, slots=True)
class PythonCalls:
    """A scanner for one family's Python calls.

    Attributes:
        openers: Markers that open a region of calls; empty if the family writes bare lists.
        closers: Markers that close it.
        reads_bare: True if a bare list on its own line is a region, too.
    """

    openers: tuple[str, ...] = ()
    closers: tuple[str, ...] = ()
    reads_bare: bool = False

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return PythonScan(self, text, region, context).run()


class PythonScan(StretchScan):
    """The scan of one stretch; another notation of the same calls overrides how one begins."""

    _call_start = _CALL_START

    def __init__(self, family: PythonCalls, text: str, region: Span, context: ReadContext) -> None:
        super().__init__(text, region, context)
        self._family = family
        self._no_end_after: dict[str, int] = {}  # by quotation mark: from here on no argument ends with it

    def run(self) -> Scan:
        """Find the calls; never raises."""
        position = self._region.start
        while True:
            hit = self._finder.first((*self._family.openers, *self._family.closers), position)
            if self._family.reads_bare:
                position = self._take_bare(position, self._region.stop if hit is None else hit.start)
                if hit is not None and hit.start < position:
                    continue
            if hit is None:
                return self._found()
            position = self._take_region(hit) if hit.marker in self._family.openers else self._take_closer(hit)

    def read_one(self) -> ToolCallAttempt | None:
        """Read the call at the very start; `None` if there is none."""
        match = self._call_start.match(self._text, self._region.start, self._region.stop)
        return None if match is None else self._read_call(match)

    def _take_closer(self, hit: Hit) -> int:
        if not self._guard.is_quoted(Span(hit.start, hit.stop)):
            self._markup.append(Span(hit.start, hit.stop))
        return hit.stop

    def _take_region(self, opener: Hit) -> int:
        calls, stop = self._read_list(opener.stop)
        if not calls:
            calls, stop = self._read_json(opener.stop, stop)
        if not calls:
            at_end = stop >= self._region.stop and opener.marker.startswith("<|")
            if at_end:
                calls = [_cut_call(self._text, Span(opener.start, opener.stop), "cut after its opening marker")]
                self._calls += calls
            return opener.stop if at_end else self._take_empty(opener)
        closer = next((c for c in self._family.closers if self._text.startswith(c, stop)), None)
        end = stop if closer is None else stop + len(closer)
        if self._guard.is_quoted(Span(opener.start, end)):
            return end
        self._guard.skip(end)
        if closer is None and calls[-1].status is CallStatus.COMPLETE and self._family.closers:
            missing = f"the closing marker {self._family.closers[0]!r} is missing"
            calls[-1] = replace(calls[-1], problem=calls[-1].problem or missing)
        self._accept(opener.start, calls, end)
        return end

    def _take_empty(self, opener: Hit) -> int:
        """Take an empty region: no call in it, and no text either."""
        start = skip_space(self._text, opener.stop, self._region.stop)
        closer = next((c for c in self._family.closers if self._text.startswith(c, start, self._region.stop)), None)
        if closer is None or self._guard.is_quoted(Span(opener.start, start + len(closer)), in_sentence=True):
            return opener.stop
        self._markup.append(Span(opener.start, start + len(closer)))
        return start + len(closer)

    def _read_json(self, start: int, stop: int) -> tuple[list[ToolCallAttempt], int]:
        """Read a call in JSON between the markers; none, and `stop`, where there is something else."""
        at = skip_space(self._text, start, self._region.stop)
        if not self._text.startswith("{", at, self._region.stop):
            return [], stop
        call = read_call(self._text, at, self._region.stop, CallKeys()).call
        if call.status is not CallStatus.COMPLETE:
            return [], stop
        return [replace(call, deviation="it is JSON between markers for Python calls")], call.char_span.stop

    def _take_bare(self, position: int, stop: int) -> int:
        """Take bare lists before `stop`; return where to continue."""
        while (match := _BARE_LIST.search(self._text, position, stop)) is not None:
            calls, end = self._read_list(match.start()) if self._can_start(match) else ([], match.end())
            span = Span(match.start(), max(end, match.end()))
            if not calls or not self._can_end(match.start(), calls, end) or self._guard.is_quoted(span):
                position = match.end()
                continue
            self._guard.skip(end)
            self._accept(match.start(), calls, end)
            position = max(end, match.end())
        return max(position, stop)

    def _accept(self, start: int, calls: list[ToolCallAttempt], stop: int) -> None:
        self._calls += calls
        self._markup += frame_spans(start, calls, stop)

    def _can_start(self, match: re.Match[str]) -> bool:
        if self._names and match.group("name") not in self._names:
            return False
        before = self._text[max(self._region.start, match.start() - 200) : match.start()]
        if not before.strip() or before.rstrip(" \t").endswith("\n"):
            return True
        return bool(self._names) and before.rstrip().endswith(_SENTENCE_END)

    def _can_end(self, start: int, calls: list[ToolCallAttempt], stop: int) -> bool:
        """Return whether a bare list ends its line or opens the text, or the text ends inside it."""
        if self._names and any(call.name not in self._names for call in calls if call.status is CallStatus.COMPLETE):
            return False
        if calls[-1].status is CallStatus.TRUNCATED:
            return bool(self._names)
        if calls[-1].status is CallStatus.MALFORMED and not self._names:
            return False
        rest = self._text[stop : min(self._region.stop, stop + 200)]
        opens_text = not self._text[self._region.start : start].strip()
        if self._names and opens_text and calls[-1].status is CallStatus.COMPLETE and rest.lstrip()[:1].isupper():
            return True  # a new sentence after it is prose, as is one before a list that ends the text
        on_line = not rest.partition("\n")[0].strip()
        line_start = self._text.rfind("\n", self._region.start, start) + 1
        starts_line = not self._text[max(line_start, self._region.start) : start].strip()
        return on_line and (starts_line or not rest.strip())

    def _read_list(self, start: int) -> tuple[list[ToolCallAttempt], int]:
        """Read `[call, call]`, or calls one per line; return them and where they end."""
        text, stop = self._text, self._region.stop
        position = skip_space(text, start, stop)
        in_list = text.startswith("[", position) and position < stop
        position = skip_space(text, position + 1, stop) if in_list else position
        calls: list[ToolCallAttempt] = []
        while (match := self._call_start.match(text, position, stop)) is not None:
            call = self._read_call(match)
            calls.append(call)
            position = skip_space(text, call.char_span.stop, stop)
            if call.status is not CallStatus.COMPLETE:
                break
            while position < stop and text[position] in ",;":
                position = skip_space(text, position + 1, stop)
        if in_list and position < stop and (cut := _PARTIAL_NAME.match(text, position, stop)) is not None:
            calls.append(_cut_call(text, Span(position, stop), "cut inside its name", Span(*cut.span("name"))))
            return calls, stop
        if in_list and position < stop and text[position] == "]":
            return calls, skip_space(text, position + 1, stop) if self._family.openers else position + 1
        return calls, position if calls else stop if position >= stop else start

    def _read_call(self, match: re.Match[str]) -> ToolCallAttempt:
        """Read one call, `name(` being matched."""
        members: dict[str, JSON] = {}
        start = position = skip_space(self._text, match.end(), self._region.stop)
        problem: str | None = None
        while position < self._region.stop and self._text[position] != ")":
            keyword = _KEYWORD.match(self._text, position, self._region.stop)
            value = self._value(position if keyword is None else keyword.end(), named=keyword is not None)
            if value.problem is not None:
                status = CallStatus.TRUNCATED if value.is_cut else CallStatus.MALFORMED
                return self._broken(match, start, value.stop, status, value.problem)
            if keyword is None:
                problem = "an argument has no name"
            else:
                members[keyword.group("key").strip("\"'")] = value.value
            position = skip_space(self._text, value.stop, self._region.stop)
            if self._text.startswith(",", position) and position < self._region.stop:
                position = skip_space(self._text, position + 1, self._region.stop)
            elif position < self._region.stop and self._text[position] != ")":
                return self._broken(match, start, position, CallStatus.MALFORMED, "a comma or ')' is missing")
        if position >= self._region.stop:
            return self._broken(match, start, position, CallStatus.TRUNCATED, "cut inside its arguments")
        stop = start + len(self._text[start:position].rstrip())
        call = self._call(match, Span(start, stop), position + 1)
        if problem is None:
            return replace(call, arguments_json=members)
        if not members and (given := self._given_at_once(call)) is not None:
            return replace(call, arguments_json=given)
        return replace(call, status=CallStatus.MALFORMED, problem=problem)

    def _given_at_once(self, call: ToolCallAttempt) -> JSONObject | None:
        """Return the arguments of a call that has an object for its only one, if its members are the tool's own."""
        given = decode_json(call.arguments)
        own = parameter_schemas(self._context.tools, call.name or "")
        return given if isinstance(given, dict) and given and given.keys() <= own.keys() else None

    def _value(self, start: int, *, named: bool) -> PythonValue:
        """Read one argument; a string with its own quotation mark in it is read to where the argument ends."""
        value = read_python_value(self._text, start, self._region.stop)
        after = skip_space(self._text, value.stop, self._region.stop)
        if not named or value.is_cut or (value.problem is None and self._text[after : after + 1] in ("", ",", ")")):
            return value
        quotes = self._text[start : start + 1]
        if start >= self._no_end_after.get(quotes, self._region.stop):
            return value
        loose = read_loose_string(self._text, start, self._region.stop)
        if loose is None:
            self._no_end_after[quotes] = start
        return loose or value

    def _broken(
        self, match: re.Match[str], start: int, position: int, status: CallStatus, problem: str
    ) -> ToolCallAttempt:
        stop = position
        if status is CallStatus.TRUNCATED:
            # A string without its end swallowed the rest; a marker in it says that its writer thought it finished.
            hit = self._finder.first((*self._family.closers, *self._stops), start)
            status, position = (status, position) if hit is None else (CallStatus.MALFORMED, hit.start)
        if status is CallStatus.MALFORMED:
            line = self._text.find("\n", position, self._region.stop)
            hit = self._finder.first((*self._family.closers, *self._stops), position)
            ends = [end for end in (line, -1 if hit is None else hit.start) if end != -1]
            stop = min(ends, default=self._region.stop)
        written = self._text[start:stop].rstrip()
        if status is CallStatus.MALFORMED:
            written = written.removesuffix("]").rstrip().removesuffix(")")
        call = self._call(match, Span(start, start + len(written)), stop)
        return replace(call, status=status, problem=problem)

    def _call(self, match: re.Match[str], arguments: Span, stop: int) -> ToolCallAttempt:
        return ToolCallAttempt(
            name=match.group("name"),
            arguments=self._text[arguments.start : arguments.stop],
            arguments_json=None,
            id=None,
            status=CallStatus.COMPLETE,
            place=Place.BODY,
            char_span=Span(match.start(), max(stop, arguments.stop)),
            name_span=Span(*match.span("name")),
            arguments_span=arguments,
        )


def read_python_call(text: str, region: Span, context: ReadContext) -> ToolCallAttempt | None:
    """Return the call `name(…)` that begins a region; `None` if none does. It may be broken."""
    return PythonScan(PythonCalls(), text, region, context).read_one()


def _cut_call(text: str, span: Span, problem: str, name_span: Span | None = None) -> ToolCallAttempt:
    name = None if name_span is None else text[name_span.start : name_span.stop]
    return ToolCallAttempt(
        name, "", None, None, CallStatus.TRUNCATED, Place.BODY, span, name_span=name_span, problem=problem
    )
