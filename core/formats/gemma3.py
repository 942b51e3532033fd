r"""Gemma 3: Python calls in their own code block.

    CONTENT\n
    ```tool_code\n
    NAME(KEY="text", KEY=3)\n
    ```<end_of_turn>

A call may be wrapped in `print(…)` and prefixed with `default_api.`; neither belongs to its name. A block that has
anything but calls, or a call to no tool of the request, is a program and stays content. Without the fence the word is
above the calls, or is given one: `tool_code = NAME(…)`, `print(tool_code)` below it. That is believed only of tools of
the request, on separate lines.

Source: the function calling guide of Gemma 3, 2025.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.python_calls import PythonCalls, PythonScan
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Hit, skip_space

_OPEN, _CLOSE = "```tool_code", "```"
_CALLS = PythonCalls(openers=(_OPEN,), closers=(_CLOSE,))
_START = re.compile(
    r"(?P<print>print\s*\(\s*)?(?:default_api\.)?(?P<name>(?!print\b)[A-Za-z_]\w{0,255}(?:\.\w{1,256}){0,8})\s*\("
)
_BARE = re.compile(r"(?m)^[ \t]*tool_code[ \t]*(?:=[ \t]*|\n[ \t]*)(?=[A-Za-z_])")
_PRINTED = re.compile(r"\s{0,80}print[ \t]*\([ \t]*tool_code[ \t]*\)")
# The same while it comes: the word, then the beginning of a call, each as far as it goes.
_BEGUN = r"^[ \t]*tool_code[ \t]*(?:\Z|(?:=|\n)[ \t]*(?:\Z|[A-Za-z_][\w.]*\s*(?:\Z|\()))"
_CUT = re.compile(r"(?:`{1,2}|(?:print\s*\(\s*)?[\w.]{1,256})\Z")  # the end of the block, or a further call, cut


class _BlockScan(PythonScan):
    _call_start = _START

    def run(self) -> Scan:
        position = self._region.start
        while (hit := self._finder.first((_OPEN,), position)) is not None:
            position = self._take_region(hit)
        if not self._calls and self._names:
            self._take_bare(self._region.start, self._region.stop)
        return self._found()

    def _take_bare(self, position: int, stop: int) -> int:
        """Take calls below the word, or given to it, where they are the whole of their lines."""
        for match in _BARE.finditer(self._text, position, stop):
            calls = self._read_list(match.end())[0] if match.start() >= position else []
            if any(call.status is CallStatus.TRUNCATED for call in calls):
                break  # nothing after it ends, either
            if not all(call.status is CallStatus.COMPLETE and call.name in self._names for call in calls):
                continue
            end = calls[-1].char_span.stop if calls else match.end()
            line = self._text[end:stop].partition("\n")[0].strip()
            if not calls or (line and not line.startswith(self._stops)):
                continue
            if self._guard.is_quoted(Span(match.start(), end)):
                continue
            printed = _PRINTED.match(self._text, end, stop)
            position = end if printed is None else printed.end()
            self._guard.skip(position)
            self._accept(match.start(), calls, position)
        return position

    def _take_region(self, opener: Hit) -> int:
        before = self._text[max(self._region.start, opener.start - 80) : opener.start]
        if before.rpartition("\n")[2].strip() or self._guard.is_quoted(Span(opener.start, opener.stop)):
            return opener.stop
        calls, stop = self._read_list(opener.stop)
        is_closed = self._text.startswith(_CLOSE, stop) and stop < self._region.stop
        at_end = stop >= self._region.stop
        is_begun = _CUT.match(self._text, stop, self._region.stop) is not None
        is_whole = all(call.status is not CallStatus.MALFORMED for call in calls)
        is_offered = all(call.name in self._names for call in calls) if self._names else is_whole
        if not calls or not is_offered or not (is_closed or at_end or is_begun):
            return opener.stop
        if at_end and calls[-1].status is CallStatus.COMPLETE:
            calls[-1] = replace(calls[-1], status=CallStatus.TRUNCATED, problem="cut before its block ends")
        end = stop + len(_CLOSE) if is_closed else self._region.stop if is_begun else stop
        self._guard.skip(end)
        self._accept(opener.start, calls, end)
        return end

    def _read_call(self, match: re.Match[str]) -> ToolCallAttempt:
        call = super()._read_call(match)
        if match.group("print") is None or call.status is not CallStatus.COMPLETE:
            return call
        bracket = skip_space(self._text, call.char_span.stop, self._region.stop)
        if not self._text.startswith(")", bracket) or bracket >= self._region.stop:
            return call
        return replace(call, char_span=Span(call.char_span.start, bracket + 1))


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the calls of `tool_code` blocks."""
    return _BlockScan(_CALLS, raw, region, context).run()


FORMAT: ModelFormat = TextFormat(
    name="gemma3",
    marks=(Mark(_OPEN, FAIR, r"(?m)^[ \t]*```tool_code[ \t]*(?:\n|\Z)"),),
    bare_score=FAIR,
    bare_hints=("tool_code", "("),
    conventions=Conventions(
        turns=("<start_of_turn>",),
        ends=frozenset({"<end_of_turn>"}),
        before_call=1,
    ),
    scan=scan_calls,
    facts=FamilyFacts(is_plain_words=True, markers_are_plain_words=True, begun_call=_BEGUN, call_markers=()),
)
