"""Read an output that is a row of messages, each with a header that says what it is.

    HEADER body END HEADER body END …

The families differ in headers and ends; a body is reasoning, content, or calls
that the family's scanner reads. Text in a message of calls that is not a call is
content: nothing that a model wrote may vanish.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import ParsedMessage, Segment, SegmentKind, Span, ToolCallAttempt
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reading import CallScanner, assemble_message, find_cut, find_end, scan_for_calls
from prompt_debugger.core.parse.scan import PatternFinder, is_quoted_inline
from prompt_debugger.core.parse.tiling import Stretch

BodyKind = Literal["reasoning", "content", "calls"]


@dataclass(frozen=True, slots=True)
class Channels:
    """How a family frames its messages.

    Attributes:
        header: What opens a message; its group `open`, if there is one, already belongs to a call.
        end: What ends one; the next header does, too.
        kind_of: Says what a header's message is.
        scan: Reads the calls of a message of calls.
        conventions: End texts of the turn.
        ends_calls: True if the end of a message of calls is the closing marker of its call.
        headless: Reads the calls of an output without any header; `None` if such an output is all content.
    """

    header: re.Pattern[str]
    end: re.Pattern[str]
    kind_of: Callable[[re.Match[str]], BodyKind]
    scan: CallScanner
    conventions: Conventions
    ends_calls: bool = False
    headless: CallScanner | None = None

    def read(self, name: str, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises. Segments tile it."""
        context = context.ending(self.conventions.ends)
        end_start = find_end(raw, context, self.conventions)
        stop = find_cut(raw, end_start, context, self.conventions)
        stretches: list[Stretch] = []
        calls: list[ToolCallAttempt] = []
        has_reasoning = False
        finder = PatternFinder(raw, stop)
        position = 0
        kind = self._open_in_prompt(context.prompt_tail)
        if kind == "reasoning":
            has_reasoning = True
            body = self._body_from(finder, 0)
            stretches.append(Stretch(Segment(body, SegmentKind.REASONING)))
            position = body.stop
        elif kind is None and self.headless is not None and finder.next(self.header, 0) is None:
            stretches += self._read_calls(raw, Span(0, stop), context, calls, self.headless)
        while position < stop:
            header = finder.next(self.header, position)
            following = stop if header is None else header.start()
            stretches += self._ends_in(raw, Span(position, following))
            if header is None:
                break
            body = self._body_of(finder, header)
            stretches.append(_mark(Span(header.start(), body.start)))
            kind = self.kind_of(header)
            if kind == "reasoning":
                has_reasoning = True
                stretches.append(Stretch(Segment(body, SegmentKind.REASONING)))
            elif kind == "calls":
                body = self._include_end(raw, body) if self.ends_calls else body
                stretches += self._read_calls(raw, body, context, calls, self.scan)
            position = max(body.stop, header.end())
        if stop < end_start:
            stretches.append(Stretch(Segment(Span(stop, end_start), SegmentKind.MARKUP)))
        if end_start < len(raw):
            stretches.append(Stretch(Segment(Span(end_start, len(raw)), SegmentKind.END)))
        return assemble_message(
            name, raw, stretches, tuple(calls), context, self.conventions, has_reasoning=has_reasoning
        )

    def _open_in_prompt(self, prompt_tail: str) -> BodyKind | None:
        """Return what the message is whose header ends the prompt, `None` if the prompt ends without one."""
        last = None
        for header in self.header.finditer(prompt_tail):
            last = header
        if last is None or "<|" in prompt_tail[last.end() :]:
            return None
        return self.kind_of(last)

    def _body_of(self, finder: PatternFinder, header: re.Match[str]) -> Span:
        body = self._body_from(finder, header.end())
        return body if header.groupdict().get("open") is None else Span(header.start("open"), body.stop)

    def _body_from(self, finder: PatternFinder, start: int) -> Span:
        end = finder.next(self.end, start)
        while end is not None and self._is_mention(finder.text, end, finder.stop):
            end = finder.next(self.end, end.end())
        ends = (end, finder.next(self.header, start))
        return Span(start, min((match.start() for match in ends if match is not None), default=finder.stop))

    def _is_mention(self, raw: str, end: re.Match[str], stop: int) -> bool:
        """Return whether a text only speaks of the end of a message: its sentence goes on, and no header follows."""
        is_quoted = is_quoted_inline(raw, Span(*end.span()), stop, in_sentence=True)
        return is_quoted and self.header.match(raw, end.end()) is None

    def _ends_in(self, raw: str, region: Span) -> list[Stretch]:
        return [
            Stretch(Segment(Span(*match.span()), SegmentKind.MARKUP))
            for match in self.end.finditer(raw, region.start, region.stop)
            if not self._is_mention(raw, match, region.stop)
        ]

    def _include_end(self, raw: str, body: Span) -> Span:
        end = self.end.match(raw, body.stop)
        return body if end is None else Span(body.start, end.end())

    def _read_calls(
        self, raw: str, body: Span, context: ReadContext, calls: list[ToolCallAttempt], scan: CallScanner
    ) -> list[Stretch]:
        found = scan_for_calls(scan, raw, body, context)
        stretches = [_mark(span) for span in found.markup]
        for call in found.calls:
            stretches += [Stretch(segment, frames_call=True) for segment in segments_of_call(call, len(calls))]
            calls.append(call)
        return stretches


def _mark(span: Span) -> Stretch:
    return Stretch(Segment(span, SegmentKind.MARKUP), frames_call=True)
