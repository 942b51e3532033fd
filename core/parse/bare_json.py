"""Read calls written as bare JSON, with no marker around them.

    {"name": "NAME", "parameters": {…}}; {"name": …}

A JSON object alone is not evidence of a call. It counts as one only on its own line,
outside code fences, with both a name and arguments, and naming a tool of the
request where those are known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.parse.call_object import CallKeys, break_call, read_call
from prompt_debugger.core.parse.mentions import is_about_notation
from prompt_debugger.core.parse.reading import Scan, frame_spans
from prompt_debugger.core.parse.scan import QuoteGuard, skip_space
from prompt_debugger.core.parse.tools import tool_names

_SEPARATORS = ",;"
_AFTER_SENTENCE = re.compile(r"[.!?:][ \t]++(?P<open>\{)\s*+\"")
_MAX_TRIED = 8  # places after a sentence at which calls may begin
_LINE_OR_MARKER = re.compile(r"\n|<\|")
_PARTIAL_END = re.compile(r"\s*<[|/a-z_]{0,20}")  # an end token that is cut


@dataclass(frozen=True, slots=True)
class BareJSONCalls:
    """A scanner for bare objects.

    Attributes:
        keys: Which members hold name and arguments.
        prefixes: Markers that may precede the first object; after one, any name is believed.
        in_list: True if the objects may be in a list.
        unwraps_fence: True if a message that is one code fence with calls counts as calls.
        follows_prose: True if calls of the request's tools may end a text, on the line of the sentence before them.
    """

    keys: CallKeys = field(default_factory=CallKeys)
    prefixes: tuple[str, ...] = ()
    in_list: bool = False
    unwraps_fence: bool = False
    follows_prose: bool = False

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _BareScan(self, text, region, context).run()


class _BareScan:
    def __init__(self, family: BareJSONCalls, text: str, region: Span, context: ReadContext) -> None:
        self._family = family
        self._text = text
        self._region = region
        self._guard = QuoteGuard(text, region.start, region.stop)
        self._names = tool_names(context.tools)
        self._calls: list[ToolCallAttempt] = []
        self._markup: list[Span] = []
        marks = "|".join(re.escape(prefix) for prefix in family.prefixes)
        opening = r"(?:\[\s*+)?\{" if family.in_list else r"\{"
        line = rf"^[ \t]*+(?P<bare>{opening})"
        self._start = re.compile(rf"(?P<prefix>{marks})\s*+(?P<open>{opening})|{line}" if marks else line, re.MULTILINE)

    def run(self) -> Scan:
        fence = self._whole_fence()
        if fence is not None:
            self._take(fence.start, fence, has_prefix=False, is_fenced=True)
            return Scan(tuple(self._calls), tuple(self._markup))
        position = self._take_first()
        while (match := self._start.search(self._text, position, self._region.stop)) is not None:
            has_prefix = bool(self._family.prefixes) and match.group("prefix") is not None
            group = "open" if has_prefix else "bare"
            span = Span(match.start(group), self._region.stop)
            start = match.start() if has_prefix else span.start
            position = self._take(start, span, has_prefix=has_prefix, is_fenced=False)
        if not self._calls and self._family.follows_prose and self._names:
            self._take_last()
        return Scan(tuple(self._calls), tuple(self._markup))

    def _take_last(self) -> None:
        """Take objects that end the region on the line of a sentence, unless that explains what calls look like."""
        for match in islice(_AFTER_SENTENCE.finditer(self._text, self._region.start, self._region.stop), _MAX_TRIED):
            start = match.start("open")
            calls, stop = self._read_objects(start)
            rest = self._text[stop : min(self._region.stop, stop + 40)]
            is_last = not rest.strip() or _PARTIAL_END.fullmatch(rest) is not None
            is_offered = all(call.status is CallStatus.COMPLETE and call.name in self._names for call in calls)
            if not calls or not is_offered or not is_last or _span_at_end(calls[0]) == calls[0].arguments_span:
                continue
            span = Span(start, stop)
            if self._guard.is_quoted(span) or is_about_notation(self._text, span):
                return
            self._calls += [replace(call, problem="text precedes it on its line") for call in calls]
            self._markup += frame_spans(start, calls, stop)
            return

    def _take_first(self) -> int:
        """Take objects at the very start of the region, which need not be the start of a line."""
        start = skip_space(self._text, self._region.start, self._region.stop)
        opening = "[{" if self._family.in_list else "{"
        if start < self._region.stop and self._text[start] in opening:
            return self._take(start, Span(start, self._region.stop), has_prefix=False, is_fenced=False)
        return self._region.start

    def _take(self, start: int, span: Span, *, has_prefix: bool, is_fenced: bool) -> int:
        """Take the objects that begin at `span`; return where to continue."""
        calls, stop = self._read_objects(span.start)
        go_on = max(stop, span.start + 1)
        if not calls or not (has_prefix or self._are_calls(calls, stop)):
            return go_on
        if not is_fenced and self._guard.is_quoted(Span(start, stop)):
            return go_on
        if has_prefix and calls[-1].status is CallStatus.MALFORMED:
            stop = go_on = self._end_of_broken(stop)
            calls[-1] = break_call(self._text, calls[-1], stop, calls[-1].problem or "no valid JSON")
        elif is_fenced:
            calls = [replace(call, problem=call.problem or "it is inside a code fence") for call in calls]
        elif not has_prefix:
            start, stop = self._brackets_around(start, stop)
        self._guard.skip(stop)
        self._calls += calls
        start, stop = (self._region.start, self._region.stop) if is_fenced else (start, stop)
        self._markup += frame_spans(start, calls, stop)
        return go_on

    def _end_of_broken(self, position: int) -> int:
        """Return where a broken object ends that a marker announces: at the next marker, or with its line."""
        found = _LINE_OR_MARKER.search(self._text, position, self._region.stop)
        return self._region.stop if found is None else found.start()

    def _brackets_around(self, start: int, stop: int) -> tuple[int, int]:
        """Return the bounds of calls with the brackets of a list around them, where both are there."""
        before = self._text[self._region.start : start].rstrip()
        after = skip_space(self._text, stop, self._region.stop)
        if not before.endswith("[") or not self._text.startswith("]", after) or after >= self._region.stop:
            return start, stop
        return self._region.start + len(before) - 1, after + 1

    def _read_objects(self, position: int) -> tuple[list[ToolCallAttempt], int]:
        text, stop = self._text, self._region.stop
        in_list = text[position] == "["
        position = skip_space(text, position + 1, stop) if in_list else position
        calls: list[ToolCallAttempt] = []
        end = position
        while position < stop and text[position] == "{":
            call, _ = read_call(text, position, stop, self._family.keys)
            behind = call.char_span.stop
            is_cut = bool(calls) and call.status is CallStatus.TRUNCATED
            if (call.name is None and not is_cut) or (
                not is_cut and calls and call.arguments_span == _span_at_end(call)
            ):
                return ([] if in_list or not calls else calls), end if calls else behind
            calls.append(call)
            end = behind
            if call.status is not CallStatus.COMPLETE:
                break
            separator = skip_space(text, end, stop)
            if separator < stop and text[separator] in _SEPARATORS:
                separator = skip_space(text, separator + 1, stop)
            position = separator
        if in_list and position < stop and text[position] == "]":
            end = position + 1
        return calls, end

    def _are_calls(self, calls: list[ToolCallAttempt], stop: int) -> bool:
        """Return whether bare objects are believable as calls."""
        last = calls[-1]
        whole = [call for call in calls[1:] if call.status is CallStatus.COMPLETE]
        if any(call.arguments_span in (None, _span_at_end(call)) for call in (calls[0], *whole)):
            return False
        if self._names and any(call.name not in self._names for call in (calls[0], *whole)):
            return False
        if last.status is not CallStatus.COMPLETE and not self._names:
            return False
        if last.status is not CallStatus.COMPLETE and self._text[stop - 1] != "}":
            return True
        is_whole = last.status is CallStatus.COMPLETE and bool(self._names)
        if is_whole and not self._text[self._region.start : calls[0].char_span.start].strip(" \t\r\n["):
            return True  # a tool of the request, called by what opens the text
        rest = self._text[stop : min(self._region.stop, stop + 200)]
        return _PARTIAL_END.fullmatch(rest) is not None or not rest.partition("\n")[0].strip(" \t;,`")

    def _whole_fence(self) -> Span | None:
        """Return the inside of the one code fence that the whole region is."""
        if not self._family.unwraps_fence or not self._names:
            return None
        pattern = re.compile(r"\s*```(?:json)?[ \t]*\n\s*(?=[\[{])")
        match = pattern.match(self._text, self._region.start, self._region.stop)
        whole = self._text[self._region.start : self._region.stop].strip()
        if match is None or not whole.endswith("```") or whole.count("```") != 2:
            return None
        return Span(match.end(), self._region.stop)


def _span_at_end(call: ToolCallAttempt) -> Span:
    """Return where a call without arguments has them."""
    return Span(call.char_span.stop, call.char_span.stop)
