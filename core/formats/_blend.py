r"""Read an output that contains calls in the notations of two families: one reads, the other what it leaves as text.

<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><function=g>\n<parameter=a>\n1\n</parameter>\n</function>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    CallStatus,
    FormatScore,
    ParsedMessage,
    Place,
    Segment,
    SegmentKind,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.formats._family import TextFormat
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.reading import assemble_message
from prompt_debugger.core.parse.tiling import Stretch
from prompt_debugger.core.parse.tools import tool_names


@dataclass(frozen=True)
class Blend:
    """The family that explains a text best, and others whose markers occur in it as well.

    Attributes:
        best: Reads first; its name is the format's.
        others: Read what it leaves as content; only whole calls with markers of theirs count.
    """

    best: TextFormat
    others: tuple[TextFormat, ...]

    @property
    def name(self) -> str:
        """The name of the family that reads first."""
        return self.best.name

    def match(self, raw: str, context: ReadContext) -> FormatScore:
        """Say how well the family that reads first explains `raw`."""
        return self.best.match(raw, context)

    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        return self.complete(raw, context, self.best.read(raw, context))

    def complete(self, raw: str, context: ReadContext, parsed: ParsedMessage) -> ParsedMessage:
        """Add to the first family's reading the calls of others that it leaves as content."""
        for other in self.others:
            if not any(marker in (parsed.content or "") for marker in other.call_markers):
                continue
            further = other.read(raw, context)
            found = _left_as_text(raw, parsed, further, other, tool_names(context.tools))
            if found and not parsed.calls:
                parsed = further
            elif found:
                parsed = _joined(raw, context, self.best, parsed, _named(found, other.name, self.best.name))
        return parsed


class _Found(NamedTuple):
    """A call of another family that the first one leaves as text, and the markers around it that belong to no call."""

    call: ToolCallAttempt
    frames: tuple[Span, ...]


def _left_as_text(
    raw: str, parsed: ParsedMessage, further: ParsedMessage, other: TextFormat, names: frozenset[str]
) -> list[_Found]:
    """Return the whole calls of another reading that the first one has in its content."""
    free = [s.char_span for s in parsed.segments if s.kind is SegmentKind.CONTENT or _is_frame(s)]
    loose = [s.char_span for s in further.segments if _is_frame(s)]
    found = []
    for call in further.calls:
        is_whole = call.status is CallStatus.COMPLETE and call.arguments_json is not None
        is_known = call.name in names if names else call.name is not None
        frames = tuple(s for s in loose if call.char_span.start in (s.start, s.stop) or s.start == call.char_span.stop)
        written = "".join(raw[slice(*span)] for span in sorted((*frames, call.char_span)))
        has_marker = any(marker in written for marker in other.call_markers)
        if is_whole and is_known and has_marker and call.place is Place.BODY and _is_free(call.char_span, free):
            found.append(_Found(call, frames))
    return found


def _is_frame(segment: Segment) -> bool:
    return segment.kind is SegmentKind.MARKUP and segment.call_index is None


def _is_free(span: Span, free: Sequence[Span]) -> bool:
    """Return whether a stretch is content and loose markup only."""
    position = span.start
    for start, stop in free:
        if start <= position < stop:
            position = stop
    return position >= span.stop


def _named(found: Sequence[_Found], notation: str, best: str) -> list[_Found]:
    deviation = f"it is written in the notation of `{notation}`, but other calls next to it in that of `{best}`"
    return [
        one._replace(call=replace(one.call, deviation="; ".join(filter(None, (deviation, one.call.problem)))))
        for one in found
    ]


def _joined(
    raw: str, context: ReadContext, best: TextFormat, parsed: ParsedMessage, further: Sequence[_Found]
) -> ParsedMessage:
    """Put the calls of both families into one reading."""
    new = [one.call for one in further]
    calls = tuple(sorted((*parsed.calls, *new), key=lambda call: call.char_span))
    number = {id(call): index for index, call in enumerate(calls)}
    taken = [span for one in further for span in (one.call.char_span, *one.frames)]
    stretches = [Stretch(Segment(span, SegmentKind.MARKUP), frames_call=True) for one in further for span in one.frames]
    for index, segment in enumerate(parsed.segments):
        is_taken = any(span.start <= segment.char_span.start < span.stop for span in taken)
        if segment.kind is SegmentKind.CONTENT or (is_taken and _is_frame(segment)):
            continue
        own = segment.call_index
        its = None if own is None else number[id(parsed.calls[own])]
        beside = [s.call_index for s in parsed.segments[max(0, index - 1) : index + 2]]
        stretches.append(Stretch(replace(segment, call_index=its), frames_call=any(i is not None for i in beside)))
    for call in new:
        stretches += [Stretch(piece, frames_call=True) for piece in segments_of_call(call, number[id(call)])]
    return assemble_message(
        parsed.format,
        raw,
        stretches,
        calls,
        context.ending(best.conventions.ends),
        best.conventions,
        has_reasoning=parsed.reasoning is not None,
    )
