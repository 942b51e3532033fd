"""Put a reading together: end tokens, reasoning, calls, and what is left is content.

The order of work on one raw output:

1. end-of-turn texts at its end are cut off;
2. it is split into reasoning and body;
3. a family's scanner finds the calls of each part;
4. whitespace that only frames calls is markup, the rest of the body is content.

Two things always hold: the segments tile the raw text, and content and
reasoning are exactly the segments of their kind, joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    CallStatus,
    ParsedMessage,
    Place,
    Segment,
    SegmentKind,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.base.types.frozen import replace, value
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.conventions import COMMON_ENDS, Conventions
from prompt_debugger.core.parse.cut_markers import cut_marker_start, cut_structure_start
from prompt_debugger.core.parse.mentions import drop_mentions
from prompt_debugger.core.parse.reasoning import Part, Split, reasoning_is_open, split_reasoning
from prompt_debugger.core.parse.tiling import Stretch, citations, fill, join

_MAX_SPACE_AFTER_END = 8
_FRAMES = True  # of a stretch that belongs to a call


@value(frozen=True, slots=True)
class Scan:
    """What a scanner found in one stretch of raw output.

    Attributes:
        calls: The calls, in order; spans are positions in the whole raw text.
        markup: Wrappers that belong to no call, in order.
    """

    calls: tuple[ToolCallAttempt, ...] = ()
    markup: tuple[Span, ...] = ()


# Reads the calls of a stretch of raw output; never raises.
CallScanner = Callable[[str, Span, ReadContext], Scan]


def frame_spans(start: int, calls: Sequence[ToolCallAttempt], stop: int) -> list[Span]:
    """Return the parts of the region `[start, stop)` before, between and after its calls."""
    spans: list[Span] = []
    for call in calls:
        spans.append(Span(start, call.char_span.start))
        start = max(start, call.char_span.stop)
    spans.append(Span(start, stop))
    return [span for span in spans if span.start < span.stop]


def no_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Find no calls: the scanner of a family without them."""
    return Scan()


def read_message(
    name: str, raw: str, context: ReadContext, conventions: Conventions, scan: CallScanner = no_calls
) -> ParsedMessage:
    """Read a raw output by a family's conventions.

    Returns:
        The reading; never raises.
    """
    context = context.ending(conventions.ends)
    end_start = find_end(raw, context, conventions)
    stop = find_cut(raw, end_start, context, conventions)
    split = _split(raw, Span(0, stop), context, conventions, scan)
    calls, marks = _scan_parts(raw, split, context, scan)
    if stop < end_start:
        marks.append(Stretch(Segment(Span(stop, end_start), SegmentKind.MARKUP)))
    for part in split.parts:
        if part.kind != "body":
            kind = SegmentKind.MARKUP if part.kind == "tag" else SegmentKind.REASONING
            marks.append(Stretch(Segment(part.span, kind)))
    if end_start < len(raw):
        marks.append(Stretch(Segment(Span(end_start, len(raw)), SegmentKind.END)))
    return assemble_message(name, raw, marks, calls, context, conventions, has_reasoning=split.has_block)


def assemble_message(
    name: str,
    raw: str,
    stretches: Iterable[Stretch],
    calls: tuple[ToolCallAttempt, ...],
    context: ReadContext,
    conventions: Conventions,
    *,
    has_reasoning: bool,
    joiner: str = "",
) -> ParsedMessage:
    """Assemble a reading from what is known not to be content.

    Args:
        name: The family's name.
        raw: The raw output.
        stretches: Stretches with a meaning of their own; what they leave free is content.
        calls: The calls.
        context: Special tokens, which are not content.
        conventions: Framing line breaks.
        has_reasoning: Whether there is reasoning at all, even if it is empty.
        joiner: What is between separate pieces of content or reasoning.
    """
    segments = fill(raw, list(stretches), context, conventions)
    return ParsedMessage(
        format=name,
        reasoning=join(raw, segments, SegmentKind.REASONING, joiner) if has_reasoning else None,
        content=join(raw, segments, SegmentKind.CONTENT, joiner) or None,
        calls=tuple(_mark_deviation(call) for call in calls),
        segments=segments,
        strippable=() if conventions.citation is None else citations(raw, segments, conventions.citation),
    )


def _mark_deviation(call: ToolCallAttempt) -> ToolCallAttempt:
    """Return a call with what departs from its notation: what is odd about a call that is complete all the same."""
    if call.status is not CallStatus.COMPLETE or call.problem is None or call.deviation is not None:
        return call
    return replace(call, deviation=call.problem)


def find_end(raw: str, context: ReadContext, conventions: Conventions) -> int:
    """Return where the end tokens at the end of `raw` begin; its length if there are none."""
    ends, longest = _end_texts(context.special_texts, conventions.ends, conventions.never_ends)
    found = len(raw)
    while True:
        stop = found
        while stop > max(0, found - _MAX_SPACE_AFTER_END) and raw[stop - 1].isspace():
            stop -= 1
        tail = raw[max(0, stop - longest) : stop]
        if not tail.endswith(ends):
            return found
        found = stop - len(next(end for end in ends if tail.endswith(end)))


def find_cut(raw: str, end_start: int, context: ReadContext, conventions: Conventions) -> int:
    """Return where a marker begins that the end of the text cut in two; `end_start` if there is none."""
    if end_start < len(raw):
        return end_start
    start = cut_marker_start(raw, conventions.markup, context.finish_reason)
    pattern = conventions.cut_structure
    return start if pattern is None else cut_structure_start(raw, start, pattern, context.finish_reason)


def scan_for_calls(scan: CallScanner, raw: str, region: Span, context: ReadContext) -> Scan:
    """Return what a family's scanner finds in a region, less the markers that a sentence only mentions."""
    found = scan(raw, region, context)
    calls = drop_mentions(raw, found.calls, region, context)
    return found if calls is found.calls else replace(found, calls=calls)


def _split(raw: str, bounds: Span, context: ReadContext, conventions: Conventions, scan: CallScanner) -> Split:
    tags = conventions.reasoning
    if tags is None:
        return _all_body(bounds)
    protected: list[Span] = []
    if has_tag := any(tag in raw for tag in (*tags.openers, *tags.closers)):
        for call in scan(raw, bounds, context).calls:
            if call.status is CallStatus.COMPLETE and call.arguments_span is not None:
                protected.append(call.arguments_span)
    is_open = reasoning_is_open(context.prompt_tail, tags, conventions.turn_texts)
    if not (has_tag or is_open or tags.starts_open):
        return _all_body(bounds)
    split = split_reasoning(raw, bounds, tags, is_open, protected)
    return _end_at_call(raw, split, context, conventions, scan) if split.is_open_at_end else split


def _all_body(bounds: Span) -> Split:
    return Split((Part(bounds, "body"),) if bounds.stop else (), has_block=False, is_open_at_end=False)


def _end_at_call(raw: str, split: Split, context: ReadContext, conventions: Conventions, scan: CallScanner) -> Split:
    """End reasoning that was never closed at the first call in it: the model went on to act."""
    last = split.parts[-1]
    found = scan_for_calls(scan, raw, last.span, context)
    if not found.calls:
        return split
    start = min(span.start for span in (*(call.char_span for call in found.calls), *found.markup))
    limit = max(last.span.start, start - conventions.before_call)
    while start > limit and raw[start - 1] == "\n":
        start -= 1
    reasoning = Part(Span(last.span.start, start), "reasoning")
    body = Part(Span(start, last.span.stop), "body")
    return replace(split, parts=(*split.parts[:-1], reasoning, body))


def _scan_parts(
    raw: str, split: Split, context: ReadContext, scan: CallScanner
) -> tuple[tuple[ToolCallAttempt, ...], list[Stretch]]:
    calls: list[ToolCallAttempt] = []
    marks: list[Stretch] = []
    for part in split.parts:
        if part.kind == "tag":
            continue
        found = scan_for_calls(scan, raw, part.span, context)
        if part.kind == "reasoning":
            calls += [replace(call, place=Place.REASONING) for call in found.calls]
            continue
        framing = [Segment(span, SegmentKind.MARKUP) for span in found.markup]
        for index, call in enumerate(found.calls, len(calls)):
            framing += segments_of_call(call, index)
        calls += found.calls
        marks += [Stretch(segment, _FRAMES) for segment in framing]
    return tuple(calls), marks


@lru_cache(maxsize=64)
def _end_texts(special: frozenset[str], own: frozenset[str], never: frozenset[str]) -> tuple[tuple[str, ...], int]:
    """Return the texts that end a turn, longest first, and the length of the longest."""
    ordered = tuple(sorted((COMMON_ENDS | special | own) - never, key=lambda end: (-len(end), end)))
    return ordered, len(ordered[0])
