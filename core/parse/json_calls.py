r"""Read calls written as JSON objects between tags.

    <tool_call>{"name": "NAME", "arguments": {…}}</tool_call>     one per tag
    [TOOL_CALLS][{…}, {…}]                                        a list of them
    <tool_calls>\n{…}\n{…}\n</tool_calls>                         several in a tag

The JSON decides where a call ends, so that tags inside strings do no harm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.parse.call_object import CallKeys, break_call, call_from_object, read_call
from prompt_debugger.core.parse.json_scan import scan_json
from prompt_debugger.core.parse.mentions import is_sure
from prompt_debugger.core.parse.reading import Scan, frame_spans
from prompt_debugger.core.parse.scan import Hit, skip_space, trim_span
from prompt_debugger.core.parse.stretch_scan import StretchScan

_LONGEST_TAG = 64
_OBJECT_LINE = re.compile(r"^[ \t]*+(?P<open>\{)", re.MULTILINE)
_FENCE = re.compile(r"```(?:json)?\s*+(?=\{)")
_NEXT_OBJECT = re.compile(r",\s*+(?P<open>\{)\s*+\"")
_MAX_TRIED = 8  # objects inside a broken one that may be their own calls
_STRAY = re.compile(r"[\]})\"'`,;\s]{1,16}")
_PLACEHOLDER = re.compile(r"\{\s*(?:\"[^\"\n]{0,40}\"\s*:\s*)?[<….]")  # where a name or its value is due


@dataclass(frozen=True, slots=True)
class JSONCalls:
    """A scanner for one family's tags.

    Attributes:
        openers: Tags that open a region of one or more calls.
        closers: Tags that close it; empty if the family closes none.
        keys: Which members of an object hold name, arguments and id.
        guards_prose: True if the tags are ordinary text that a sentence may mention.
        one_per_tag: True if a tag contains one call and belongs to it.
        separators: Texts between calls of one region, besides commas and whitespace.
        wrappers: Markers around visible text that belong to no call.
    """

    openers: tuple[str, ...]
    closers: tuple[str, ...] = ()
    keys: CallKeys = field(default_factory=CallKeys)
    guards_prose: bool = False
    one_per_tag: bool = True
    separators: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _JSONScan(self, text, region, context).run()


class _Region(NamedTuple):
    """The calls of one region, the markup around them, and where the region stops."""

    calls: list[ToolCallAttempt]
    markup: list[Span]
    stop: int


class _JSONScan(StretchScan):
    def __init__(self, family: JSONCalls, text: str, region: Span, context: ReadContext) -> None:
        super().__init__(text, region, context)
        self._family = family

    def run(self) -> Scan:
        family = self._family
        position = self._region.start
        markers = (*family.openers, *family.closers, *family.wrappers)
        while (hit := self._finder.first(markers, position)) is not None:
            if hit.marker in family.openers:
                position = self._region_at(hit)
            else:
                self._take_headless(position, hit)
                position = self._stray_marker(hit)
        return self._found()

    def _take_headless(self, start: int, closer: Hit) -> None:
        """Take a call whose opening tag is missing: an object that ends right before a closing tag."""
        if closer.marker in self._family.wrappers or not self._text[start : closer.start].rstrip().endswith("}"):
            return
        line = _OBJECT_LINE.search(self._text, start, closer.start)
        first = start if line is None else line.start("open")
        begin = self._text.find("{", first, closer.start)
        scan = scan_json(self._text, begin, closer.start) if begin != -1 else None
        if scan is None or self._text[scan.span.stop : closer.start].strip():
            return
        call = call_from_object(self._text, scan, self._family.keys)
        span = Span(begin, closer.stop if self._family.one_per_tag else scan.span.stop)
        if call.status is not CallStatus.COMPLETE or not call.arguments or self._guard.is_quoted(span):
            return
        self._calls.append(replace(call, char_span=span, problem="its opening tag is missing"))
        self._guard.skip(span.stop)

    def _stray_marker(self, hit: Hit) -> int:
        """Take a closing tag without an opening one, or a wrapper."""
        span = Span(hit.start, hit.stop)
        if self._calls and self._calls[-1].char_span.stop >= hit.stop:
            return hit.stop
        line_start = self._text.rfind("\n", max(self._region.start, hit.start - 2), hit.start)
        is_framing = (
            hit.marker in self._family.wrappers
            or line_start != -1
            or hit.start == self._region.start
            or self._follows_call(hit.start)
        )
        if is_framing and not self._guard.is_quoted(span):
            self._markup.append(span)
        return hit.stop

    def _follows_call(self, position: int) -> bool:
        stop = max((span.stop for span in (*self._markup[-1:], *(c.char_span for c in self._calls[-1:]))), default=-1)
        return stop != -1 and not self._text[stop:position].strip()

    def _region_at(self, opener: Hit) -> int:
        """Read one region and return where to continue."""
        calls, markup, stop = self._read_region(opener)
        span = Span(opener.start, stop)
        if not calls and not markup:
            return opener.stop
        is_example = self._family.guards_prose and any(_is_placeholder(self._text, call) for call in calls)
        is_meant = bool(calls) and all(is_sure(self._text, call, span, self._names) for call in calls)
        if is_example or self._guard.is_quoted(span, in_sentence=self._family.guards_prose and not is_meant):
            return stop
        self._guard.skip(stop)
        self._calls += calls
        self._markup += markup
        return stop

    def _read_region(self, opener: Hit) -> _Region:
        text, stop = self._text, self._region.stop
        position = skip_space(text, opener.stop, stop)
        fence = _FENCE.match(text, position, stop)
        if fence is not None:
            return self._read_fenced(opener, fence.end())
        is_list = position < stop and text[position] == "["
        position = skip_space(text, position + 1, stop) if is_list else position
        calls: list[ToolCallAttempt] = []
        while position < stop and text[position] == "{":
            call, position = self._read_object(position)
            calls.append(call)
            if call.status is not CallStatus.COMPLETE:
                following = None if self._family.one_per_tag else self._next_whole(call.char_span.start, position)
                if following is None:
                    break
                comma = self._text.rindex(",", call.char_span.start, following)
                stop_of_broken = trim_span(self._text, call.char_span.start, comma).stop
                calls[-1] = break_call(self._text, call, stop_of_broken, call.problem or "no valid JSON")
                position = following
                continue
            position = self._skip_separators(position)
        if not calls and is_list and not self._family.guards_prose and text.startswith("]", position, stop):
            return _Region([], [Span(opener.start, position + 1)], position + 1)
        if not calls:
            return self._read_without_object(opener, position)
        end = calls[-1].char_span.stop
        if is_list and position < stop and text[position] == "]":
            end = position + 1
        return self._close(opener, calls, end, is_list=is_list)

    def _read_fenced(self, opener: Hit, position: int) -> _Region:
        """Read an object in a code fence between the tags: no JSON reader takes it, but it is known what it means."""
        call, position = self._read_object(position)
        calls, markup, stop = self._close(opener, [call], position, is_list=False)
        if call.name is None or not self._text.endswith(self._family.closers, opener.stop, stop):
            return _Region([], [], opener.stop)
        calls[0] = replace(calls[0], status=CallStatus.MALFORMED, problem="its JSON is inside a code fence")
        return _Region(calls, markup, stop)

    def _skip_separators(self, position: int) -> int:
        text, stop = self._text, self._region.stop
        while True:
            position = skip_space(text, position, stop)
            texts = (separator for separator in (",", *self._family.separators) if text.startswith(separator, position))
            found = next(texts, None)
            if found is None or position >= stop:
                return position
            position += len(found)

    def _read_object(self, position: int) -> tuple[ToolCallAttempt, int]:
        call, has_end = read_call(self._text, position, self._region.stop, self._family.keys)
        if has_end:
            return call, call.char_span.stop
        # Broken JSON does not say where it ends: the next tag does.
        hit = self._finder.first((*self._family.closers, *self._family.openers, *self._stops), position + 1)
        stop = self._region.stop if hit is None else hit.start
        return break_call(self._text, call, stop, call.problem or "no valid JSON"), stop

    def _next_whole(self, start: int, stop: int) -> int | None:
        """Return where a further, whole call begins that a broken one would swallow: an object after a comma."""
        for match in islice(_NEXT_OBJECT.finditer(self._text, start + 1, stop), _MAX_TRIED):
            call, _ = read_call(self._text, match.start("open"), stop, self._family.keys)
            is_known = call.name in self._names if self._names else call.name is not None
            has_arguments = call.arguments_json is not None and call.arguments
            if call.status is CallStatus.COMPLETE and is_known and has_arguments:
                return match.start("open")
        return None

    def _close(self, opener: Hit, calls: list[ToolCallAttempt], end: int, *, is_list: bool) -> _Region:
        """End a region at its closer, if it is there."""
        family, last = self._family, calls[-1]
        if last.status is CallStatus.TRUNCATED:
            # The JSON swallowed the rest; a closing tag in it says that its writer thought it finished.
            hit = self._finder.first((*family.closers, *family.openers, *self._stops), last.char_span.start)
            if hit is not None:
                calls[-1] = break_call(self._text, last, hit.start, f"invalid JSON: {last.problem}")
                end = calls[-1].char_span.stop
        position = skip_space(self._text, end, self._region.stop)
        closer = next((tag for tag in family.closers if self._text.startswith(tag, position)), None)
        stray = None if closer or is_list else self._stray_before_closer(position)
        if stray is not None:
            calls[-1] = replace(last, status=CallStatus.MALFORMED, problem=f"text follows its JSON: {stray!r}")
            position += len(stray)
            closer = next(tag for tag in family.closers if self._text.startswith(tag, position))
        if closer is None and (closer := self._miswritten_closer(position)) and calls[-1].deviation is None:
            calls[-1] = replace(calls[-1], deviation=f"`{closer}` closes it, not `{family.closers[0]}`")
        stop = end if closer is None else position + len(closer)
        stop = min(stop, self._region.stop)
        if closer is None and family.closers and not is_list and calls[-1].status is CallStatus.COMPLETE:
            calls[-1] = self._unclosed(calls[-1])
        if family.one_per_tag and len(calls) == 1:
            calls[0] = replace(calls[0], char_span=Span(opener.start, stop))
            return _Region(calls, [], stop)
        return _Region(calls, frame_spans(opener.start, calls, stop), stop)

    def _stray_before_closer(self, position: int) -> str | None:
        """Return surplus closing brackets and quotation marks between an object and its closing tag."""
        match = _STRAY.match(self._text, position, self._region.stop)
        is_stray = match is not None and self._text.startswith(self._family.closers, match.end())
        return match.group() if match is not None and is_stray else None

    def _miswritten_closer(self, position: int) -> str | None:
        """Return an opening tag that ends the text right after a call: it was meant to close the call."""
        rest = self._text[position : min(self._region.stop, position + _LONGEST_TAG)]
        is_last = self._family.closers and position + len(rest) == self._region.stop
        return next((tag for tag in self._family.openers if is_last and rest.strip() == tag), None)

    def _unclosed(self, call: ToolCallAttempt) -> ToolCallAttempt:
        is_last = not self._text[call.char_span.stop : self._region.stop].strip()
        if is_last and self._is_cut:
            return replace(call, status=CallStatus.TRUNCATED, problem="cut before its closing tag")
        missing = f"its closing tag {self._family.closers[0]!r} is missing"
        return replace(call, problem=call.problem or missing)

    def _read_without_object(self, opener: Hit, position: int) -> _Region:
        """Read a tag with no object in it: cut, empty, or a broken call; prose gives nothing."""
        closer = self._finder.first((*self._family.closers, *self._family.openers, *self._stops), position)
        if position >= self._region.stop and self._may_be_cut(opener):
            call = ToolCallAttempt(
                None, "", None, None, CallStatus.TRUNCATED, Place.BODY, Span(opener.start, opener.stop),
                problem="cut after its opening tag",
            )  # fmt: skip
            return _Region([call], [], opener.stop)
        if closer is None or closer.marker not in self._family.closers:
            return _Region([], [], opener.stop)
        if closer.start == position or not self._text[opener.stop : closer.start].strip("[] \t\r\n"):
            return _Region([], [Span(opener.start, closer.stop)], closer.stop)
        return self._read_broken(opener, closer)

    def _may_be_cut(self, opener: Hit) -> bool:
        """Return whether an opening tag at the end of the text announces a call."""
        before = self._text[max(self._region.start, opener.start - 1) : opener.start]
        return opener.marker.startswith(("<|", "[")) or self._is_cut or before in ("", "\n", ">")

    def _read_broken(self, opener: Hit, closer: Hit) -> _Region:
        body = self._text[opener.stop : closer.start].strip()
        if not any(body.startswith(name) for name in self._names):
            return _Region([], [], opener.stop)
        call = ToolCallAttempt(
            next(name for name in sorted(self._names, key=len, reverse=True) if body.startswith(name)),
            "", None, None, CallStatus.MALFORMED, Place.BODY, Span(opener.start, closer.stop),
            problem="there is no JSON object between its tags",
        )  # fmt: skip
        return _Region([call], [], closer.stop)


def _is_placeholder(text: str, call: ToolCallAttempt) -> bool:
    """Return whether an object is a pattern to fill in, such as `{"name": <function-name>, …}`."""
    is_broken = call.name is None and call.status is CallStatus.MALFORMED
    start, stop = call.char_span
    return is_broken and _PLACEHOLDER.search(text, start, stop) is not None
