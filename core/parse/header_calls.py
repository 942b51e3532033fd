"""Read calls written as a header and a JSON text between markers.

    OPENER header SEPARATOR {arguments} CLOSER

with wrappers around several of them. The header contains the name, or an id with
the name in it; what it means is up to the family.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.base.types.frozen import replace, value
from prompt_debugger.core.parse.arguments import Arguments, read_arguments
from prompt_debugger.core.parse.call_object import CallKeys, call_from_object
from prompt_debugger.core.parse.json_scan import scan_json
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Hit, stops_of, trim_span
from prompt_debugger.core.parse.stretch_scan import StretchScan

MAX_HEADER_CHARS = 256
_BLANK_LINE = re.compile(r"\n[ \t\r]{0,40}\n")
_LOOSE_HEADER = re.compile(r"(?:functions[.])?[\w.\-]+:\d+\s*\Z")


@value(frozen=True, slots=True)
class Header:
    """What a call's header says.

    Attributes:
        name: Tool name; `None` if the header has none.
        name_span: Where the name is.
        id: The id as written; `None` if the family writes none.
        id_span: Where the id is.
        problem: What is wrong with the header, in plain words.
    """

    name: str | None
    name_span: Span | None
    id: str | None = None
    id_span: Span | None = None
    problem: str | None = None


# Reads the header at a span, given the names of the request's tools; `None` if it is prose.
HeaderReader = Callable[[str, Span, frozenset[str]], Header | None]


def plain_header(text: str, span: Span, names: frozenset[str]) -> Header | None:
    """Read a header that is the tool name and nothing else."""
    name = trim_span(text, span.start, span.stop)
    written = text[name.start : name.stop]
    if len(written) > MAX_HEADER_CHARS or re.search(r"\s", written):
        return None
    return Header(written or None, name if written else None, problem=None if written else "the name is missing")


@dataclass(frozen=True)
class HeaderCalls:
    """A scanner for one family's markers.

    Attributes:
        opener: Opens a call.
        separators: Stand between header and arguments.
        closers: Close a call; empty if the family closes none and the JSON decides.
        wrappers: Markers around calls that belong to none.
        read_header: Says what a header means.
        reads_headless: True if a separator alone betrays a call whose opener is missing.
        needs_separator: False if the arguments' first brace will do.
    """

    opener: str
    separators: tuple[str, ...]
    closers: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()
    read_header: HeaderReader = plain_header
    reads_headless: bool = False
    needs_separator: bool = True

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """Markers at which something begins or ends."""
        headless = self.separators if self.reads_headless else ()
        return tuple(dict.fromkeys((self.opener, *headless, *self.closers, *self.wrappers)))

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _HeaderScan(self, text, region, context).run()


class _After(NamedTuple):
    """Markers that may follow a header.

    Attributes:
        stops: Those that end a call without closing it.
        markers: All of them.
    """

    stops: tuple[str, ...]
    markers: tuple[str, ...]


@lru_cache(maxsize=128)
def _after(calls: HeaderCalls, ends: frozenset[str]) -> _After:
    stops = tuple(marker for marker in (*calls.markers, *stops_of(ends)) if marker not in calls.closers)
    return _After(stops, tuple(dict.fromkeys((*calls.separators, *stops, *calls.closers))))


class _HeaderScan(StretchScan):
    def __init__(self, calls: HeaderCalls, text: str, region: Span, context: ReadContext) -> None:
        super().__init__(text, region, context)
        self._family = calls
        # With the opener and the wrappers, which are stops.
        after = _after(calls, context.ends)
        self._after_header = there = self._finder.occurring(after.markers, region.start)
        self._markers = [marker for marker in calls.markers if marker in there]
        self._stops = tuple(marker for marker in after.stops if marker in there)

    def run(self) -> Scan:
        if not self._markers:
            return self._found()
        position = self._region.start
        while (hit := self._finder.first(self._markers, position)) is not None:
            position = self._read(hit, position)
        return self._found()

    def _read(self, hit: Hit, position: int) -> int:
        """Read what a marker begins; return where to continue."""
        if hit.marker == self._family.opener:
            return self._accept(self._read_call(hit), hit)
        if hit.marker in self._family.separators:
            return self._accept(self._read_headless(hit, position), hit)
        return self._accept(None, hit)

    def _accept(self, call: ToolCallAttempt | None, hit: Hit) -> int:
        span = Span(hit.start, hit.stop) if call is None else call.char_span
        if self._guard.is_quoted(span):
            return span.stop
        self._guard.skip(span.stop)
        if call is not None:
            self._calls.append(call)
        elif hit.marker != self._family.opener or hit.stop == self._region.stop:
            self._markup.append(span)
        return span.stop

    def _read_call(self, opener: Hit) -> ToolCallAttempt | None:
        after = self._finder.first(self._after_header, opener.stop)
        header_stop = self._region.stop if after is None else after.start
        brace = self._text.find("{", opener.stop, min(header_stop, opener.stop + MAX_HEADER_CHARS))
        is_first = not self._family.needs_separator and brace != -1  # a separator after the brace is in a string
        if after is not None and after.marker in self._family.separators and not is_first:
            return self._build_with_arguments(opener.start, Span(opener.stop, header_stop), after.stop)
        end = None if brace == -1 else _BLANK_LINE.search(self._text, opener.stop, brace)
        if end is not None and self._text[opener.stop : end.start()].strip():  # what is below is no part of a cut call
            return self._build_without_arguments(opener, Span(opener.stop, end.start()), None)
        if brace != -1:
            missing = f"the marker {self._family.separators[0]!r} before the arguments is missing"
            if self._family.needs_separator:
                return self._build_with_arguments(opener.start, Span(opener.stop, brace), brace, missing)
            call = self._build_with_arguments(opener.start, Span(opener.stop, brace), brace)
            return call and replace(call, deviation=missing if call.status is CallStatus.COMPLETE else None)
        return self._build_without_arguments(opener, Span(opener.stop, header_stop), after)

    def _read_headless(self, separator: Hit, position: int) -> ToolCallAttempt | None:
        """Read a call whose opening marker is missing: only its separator shows it."""
        low = max(position, separator.start - MAX_HEADER_CHARS)
        before = self._text[low : separator.start]
        match = _LOOSE_HEADER.search(before)
        follows_markup = bool(self._markup or self._calls) and position == low
        if match is None and not (follows_markup and before.strip()):
            return None
        start = low if match is None else low + match.start()
        problem = f"its opening marker {self._family.opener!r} is missing"
        return self._build_with_arguments(start, Span(start, separator.start), separator.stop, problem)

    def _build_with_arguments(
        self, start: int, header_span: Span, arguments_start: int, problem: str | None = None
    ) -> ToolCallAttempt | None:
        header = self._family.read_header(self._text, header_span, self._names)
        if header is None:
            return None
        arguments = read_arguments(
            self._finder, arguments_start, closers=self._family.closers, stops=self._stops, is_cut=self._is_cut
        )
        call = build_call(self._text, start, header, arguments, problem)
        return self._read_name_inside(call) if call.name is None and arguments.value else call

    def _read_name_inside(self, call: ToolCallAttempt) -> ToolCallAttempt:
        """Read `{"name": …, "arguments": …}` where the header is an id without a name (vllm-project/vllm#32146)."""
        span = call.arguments_span
        if span is None or not self._text.startswith("{", span.start):
            return call
        inner = call_from_object(self._text, scan_json(self._text, span.start, span.stop), CallKeys())
        if inner.status is not CallStatus.COMPLETE or inner.name not in self._names:
            return call
        problem = f"{call.problem}; its name is in its arguments"
        return replace(inner, id=call.id, id_span=call.id_span, char_span=call.char_span, problem=problem)

    def _build_without_arguments(self, opener: Hit, span: Span, after: Hit | None) -> ToolCallAttempt | None:
        header = self._family.read_header(self._text, span, self._names)
        if header is None or self._text.startswith(" ", span.start):
            return None
        is_closed = after is not None and after.marker in self._family.closers
        stop = after.stop if after is not None and is_closed else trim_span(self._text, span.start, span.stop).stop
        at_end = after is None
        status = CallStatus.TRUNCATED if at_end else CallStatus.MALFORMED
        problem = "cut inside its header" if at_end else "it has no arguments"
        arguments = Arguments(Span(stop, stop), None, status, problem, max(stop, opener.stop))
        return build_call(self._text, opener.start, header, arguments)


def build_call(
    text: str, start: int, header: Header, arguments: Arguments, problem: str | None = None
) -> ToolCallAttempt:
    """Return a call from its header and its arguments.

    Returns:
        The call; without a name it is malformed, unless it was cut.
    """
    status = arguments.status
    if header.name is None and status is CallStatus.COMPLETE:
        status = CallStatus.MALFORMED
    problems = [p for p in (problem, header.problem, arguments.problem) if p]
    return ToolCallAttempt(
        name=header.name,
        arguments=text[arguments.span.start : arguments.span.stop],
        arguments_json=arguments.value,
        id=header.id,
        status=status,
        place=Place.BODY,
        char_span=Span(start, max(arguments.stop, start)),
        name_span=header.name_span,
        id_span=header.id_span,
        arguments_span=arguments.span,
        problem="; ".join(problems) or None,
    )
