"""Read calls of built-in tools: a marker, then `NAME.call(KEY="text", …)`.

    <|python_tag|>brave_search.call(query="weather in Paris")

Other Python behind the marker is a program for an interpreter and no call. A
program may begin with `NAME.call(` as well (`subprocess.call([…])`): a name
that nobody declared is believed only with named arguments and nothing behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.parse.python_calls import PythonCalls, PythonScan
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Hit, skip_space

_CALL_START = re.compile(r"(?P<name>[A-Za-z_][\w\-]*+(?:\.(?!call\s*\()[A-Za-z_][\w\-]*+)*+)\.call\s*\(")
_CUT_START = re.compile(r"(?P<name>[A-Za-z_][\w\-]*+)\.(?:c(?:a(?:ll?)?)?)?\Z")


@dataclass(frozen=True, slots=True)
class BuiltInCalls:
    """A scanner for the calls of built-in tools.

    Attributes:
        opener: Marker before the first call.
        names: Tools that the family brings along, whatever the request declares.
    """

    opener: str
    names: frozenset[str] = frozenset()

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _BuiltInScan(self, text, region, context).run()


class _BuiltInScan(PythonScan):
    _call_start = _CALL_START

    def __init__(self, family: BuiltInCalls, text: str, region: Span, context: ReadContext) -> None:
        super().__init__(PythonCalls(openers=(family.opener,)), text, region, context)
        self._opener = family.opener
        self._known = self._names | family.names

    def run(self) -> Scan:
        position = self._region.start
        while (hit := self._finder.first((self._opener,), position)) is not None:
            position = self._take_calls(hit)
        return self._found()

    def _take_calls(self, opener: Hit) -> int:
        """Take the calls behind one marker; return where to go on."""
        start = skip_space(self._text, opener.stop, self._region.stop)
        calls, stop = ([], start) if self._text.startswith("[", start) else self._read_list(start)
        calls = calls or self._cut_before_bracket(start)
        if not calls or not self._are_calls(calls):
            return opener.stop
        stop = max(stop, calls[-1].char_span.stop)
        if self._guard.is_quoted(Span(opener.start, calls[-1].char_span.stop), in_sentence=True):
            return stop
        self._guard.skip(stop)
        self._accept(opener.start, calls, calls[-1].char_span.stop)
        return stop

    def _are_calls(self, calls: list[ToolCallAttempt]) -> bool:
        if all(call.name in self._known for call in calls):
            return True
        is_last = not self._text[calls[-1].char_span.stop : self._region.stop].strip(" \t\r\n;")
        return is_last and all(call.status is not CallStatus.MALFORMED for call in calls)

    def _cut_before_bracket(self, start: int) -> list[ToolCallAttempt]:
        """Read a call that the text ends in between its name and its bracket."""
        match = _CUT_START.match(self._text, start, self._region.stop)
        if match is None or match.group("name") not in self._known:
            return []
        return [
            ToolCallAttempt(
                match.group("name"), "", None, None, CallStatus.TRUNCATED, Place.BODY,
                Span(match.start(), self._region.stop), name_span=Span(*match.span("name")),
                problem="cut before its arguments",
            )
        ]  # fmt: skip
