"""Put a reading together: end tokens, reasoning, calls, and what is left is content.

The order of work on one raw output:

1. end-of-turn texts at its end are cut off;
2. it is split into reasoning and body;
3. a family's scanner finds the calls of each part;
4. white space that only frames calls is markup, the rest of the body is content.

Two things always hold: the segments tile the raw text, and content and
reasoning are exactly the segments of their kind, joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import NamedTuple

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
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.cut_markers import cut_marker_start, cut_structure_start
from prompt_debugger.core.parse.mentions import drop_mentions
from prompt_debugger.core.parse.reasoning import Part, ReasoningTags, Split, reasoning_is_open, split_reasoning
from prompt_debugger.core.parse.scan import is_quoted_inline

# Texts that end a turn in one family or another.
COMMON_ENDS = frozenset({
    "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "</s>",
    "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<turn|>", "<eos>", "[EOS]", "<｜end▁of▁sentence｜>",
    "<|end_of_sentence|>", "<|END_OF_TURN_TOKEN|>", "<|END_OF_RESPONSE|>", "<|endofprompt|>", "<|im_sep|>",
    "[e~[", "<seed:eos>", "<eoa>", "<|user|>", "<|observation|>", "<|end_of_role|>", "<|message_sep|>", "<|eos|>",
    "</longcat_s>", "<SPECIAL_12>", "<|end_of_msg|>",
    "[|endofturn|]",
    "<|endofresponse|>", "<|assistant_end|>", "<|role_end|>", "<|hy_eos|>", "<|hy_end|>", "<|tool_response>",
})  # fmt: skip
_MAX_SPACE_AFTER_END = 8
_FRAMES = True  # of a stretch that belongs to a call
# End tokens that no family writes for another purpose: markup even in the middle of a text.
_TURN_ENDS = frozenset({"<|im_end|>", "<|eot_id|>", "<｜end▁of▁sentence｜>", "<|endoftext|>"})


@value(frozen=True, slots=True)
class Scan:
    """What a scanner found in one stretch of raw output.

    Attributes:
        calls: The calls, in order; spans are positions in the whole raw text.
        markup: Wrappers that belong to no call, in order.
    """

    calls: tuple[ToolCallAttempt, ...] = ()
    markup: tuple[Span, ...] = ()


class Stretch(NamedTuple):  # an output has a dozen, and a tuple is made in half the time
    """A stretch that is not content, and whether it belongs to a call or to a wrapper of calls."""

    segment: Segment
    frames_call: bool = False


# Reads the calls of a stretch of raw output; never raises.
CallScanner = Callable[[str, Span, ReadContext], Scan]


@dataclass(frozen=True)
class Conventions:
    """What a family does around reasoning and calls.

    Attributes:
        reasoning: Its reasoning tags; `None` if it has no reasoning.
        turns: Texts that open a turn of any role; they occur in prompts.
        ends: Texts that end its turn, besides the usual ones.
        markers: Its structural texts, which are never end tokens.
        before_call: Line breaks before a call that its template writes, at most.
        after_call: Line breaks after a call that its template writes before more text, at most.
        cut_texts: Further texts of its markup; an output may be cut in the middle of one.
        unseen: Control tokens around or within content that no client is shown.
        citation: Marks around cited words of content, which servers may take out.
        block: Text that opens the block around calls; in an output that has one, calls outside of it are examples.
        cut_structure: Whole markers and what may follow them, where an output was cut inside a header.
    """

    reasoning: ReasoningTags | None = None
    turns: tuple[str, ...] = ()
    ends: frozenset[str] = frozenset()
    markers: frozenset[str] = frozenset()
    before_call: int = 0
    after_call: int = 0
    cut_texts: frozenset[str] = frozenset()
    cut_structure: re.Pattern[str] | None = None
    unseen: frozenset[str] = frozenset()
    citation: re.Pattern[str] | None = None
    block: str = ""

    @cached_property
    def markup(self) -> frozenset[str]:
        """All texts that are not content, wherever they are cut."""
        tags = () if self.reasoning is None else (*self.reasoning.openers, *self.reasoning.closers)
        return self.markers | self.cut_texts | self.ends | COMMON_ENDS | frozenset(tags)

    @cached_property
    def never_ends(self) -> frozenset[str]:
        """Texts that end no turn, whatever a tokenizer says of them."""
        tags = () if self.reasoning is None else (*self.reasoning.openers, *self.reasoning.closers)
        return self.markers | {"", *(tag.strip() for tag in tags)}

    @cached_property
    def turn_texts(self) -> tuple[str, ...]:
        """Texts that open or end a turn."""
        thoughts = () if self.reasoning is None else (*self.reasoning.openers, *self.reasoning.closers)
        return (*self.turns, *(end for end in self.ends if end not in thoughts))


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
    segments = _fill(raw, list(stretches), context, conventions)
    return ParsedMessage(
        format=name,
        reasoning=_join(raw, segments, SegmentKind.REASONING, joiner) if has_reasoning else None,
        content=_join(raw, segments, SegmentKind.CONTENT, joiner) or None,
        calls=tuple(_mark_deviation(call) for call in calls),
        segments=segments,
        strippable=() if conventions.citation is None else _citations(raw, segments, conventions.citation),
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


def _fill(raw: str, marks: list[Stretch], context: ReadContext, conventions: Conventions) -> tuple[Segment, ...]:
    """Tile `raw`: the marks, and content between them."""
    segments: list[Segment] = []
    position = 0
    has_content = False
    frames_before = False
    for segment, frames_call in sorted(marks, key=_place_of):
        start, stop = segment.char_span
        if start == stop:
            continue
        if start > position:
            frames = frames_before, frames_call
            run = _content_run(raw, Span(position, start), frames, context, conventions, is_first=not has_content)
            has_content = has_content or any(s.kind is SegmentKind.CONTENT for s in run)
            segments += run
            position = start
        if stop > position:
            left = replace(segment, char_span=Span(position, stop)) if position > start else segment
            segments += _seen(raw, left, conventions.unseen) if left.kind is SegmentKind.REASONING else (left,)
            position = stop
        frames_before = frames_call
    if position < len(raw):
        rest, frames = Span(position, len(raw)), (frames_before, False)
        segments += _content_run(raw, rest, frames, context, conventions, is_first=not has_content)
    return _merge(segments)


_place_of = attrgetter("segment.char_span")


def _seen(raw: str, segment: Segment, unseen: frozenset[str]) -> list[Segment]:
    """Take the control tokens out of reasoning that no client is shown."""
    start, stop = segment.char_span
    if not unseen or not any(text in raw for text in unseen):
        return [segment]
    split: list[Segment] = []
    for match in _special_pattern(frozenset(), unseen).finditer(raw, start, stop):
        if match.group() not in unseen:
            continue
        split += [replace(segment, char_span=Span(start, match.start()))]
        split += [Segment(Span(*match.span()), SegmentKind.MARKUP)]
        start = match.end()
    return [*split, replace(segment, char_span=Span(start, stop))]


def _content_run(
    raw: str, span: Span, frames: tuple[bool, bool], context: ReadContext, conventions: Conventions, *, is_first: bool
) -> list[Segment]:
    """Return a stretch between marks as content, framing line breaks and special tokens as markup.

    Args:
        raw: The whole raw output.
        span: The stretch.
        frames: Whether what is before it belongs to calls, and whether what is after it does.
        context: Special tokens.
        conventions: Framing line breaks.
        is_first: Whether there is no content before it.
    """
    start, stop = span
    follows_call, precedes_call = frames
    if (follows_call or precedes_call) and raw[start:stop].isspace():
        return [Segment(span, SegmentKind.MARKUP)]
    if follows_call:
        limit = stop if is_first else min(stop, start + conventions.after_call)
        while start < limit and raw[start] == "\n":
            start += 1
    if precedes_call:
        limit = max(start, stop - conventions.before_call)
        while stop > limit and raw[stop - 1] == "\n":
            stop -= 1
    run = [Segment(Span(start, stop), SegmentKind.CONTENT)]
    if span.start < start:
        run.insert(0, Segment(Span(span.start, start), SegmentKind.MARKUP))
    if stop < span.stop:
        run.append(Segment(Span(stop, span.stop), SegmentKind.MARKUP))
    return _drop_specials(raw, run, context, conventions)


def _drop_specials(raw: str, run: list[Segment], context: ReadContext, conventions: Conventions) -> list[Segment]:
    """Take special tokens out of content: a server shows none of them.

    A quoted one is ordinary text, and so is the end of a turn in the middle of a sentence.
    """
    pattern = _special_pattern(context.special_texts, conventions.ends | conventions.unseen)
    sayable = conventions.ends - conventions.unseen - context.special_texts - _TURN_ENDS
    if pattern.search(raw, run[0].char_span.start, run[-1].char_span.stop) is None:
        return run
    split: list[Segment] = []
    for segment in run:
        start, stop = segment.char_span
        if segment.kind is not SegmentKind.CONTENT:
            split.append(segment)
            continue
        for match in pattern.finditer(raw, start, stop):
            if is_quoted_inline(raw, Span(*match.span()), stop, in_sentence=match.group() in sayable):
                continue
            split.append(Segment(Span(start, match.start()), SegmentKind.CONTENT))
            split.append(Segment(Span(match.start(), match.end()), SegmentKind.MARKUP))
            start = match.end()
        split.append(Segment(Span(start, stop), SegmentKind.CONTENT))
    return split


@lru_cache(maxsize=64)
def _end_texts(special: frozenset[str], own: frozenset[str], never: frozenset[str]) -> tuple[tuple[str, ...], int]:
    """Return the texts that end a turn, longest first, and the length of the longest."""
    ordered = tuple(sorted((COMMON_ENDS | special | own) - never, key=lambda end: (-len(end), end)))
    return ordered, len(ordered[0])


@lru_cache(maxsize=64)
def _special_pattern(special_texts: frozenset[str], ends: frozenset[str]) -> re.Pattern[str]:
    texts = sorted((special_texts | ends | _TURN_ENDS) - {""}, key=lambda text: (-len(text), text))
    return re.compile("|".join(re.escape(text) for text in texts))


def _merge(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    merged: list[Segment] = []
    last: Segment | None = None
    for segment in segments:
        start, stop = segment.char_span
        if start == stop:
            continue
        if last is not None and last.kind is segment.kind and last.call_index == segment.call_index:
            last = merged[-1] = Segment(Span(last.char_span.start, stop), last.kind, last.call_index)
        else:
            last = segment
            merged.append(segment)
    return tuple(merged)


def _citations(raw: str, segments: Iterable[Segment], pattern: re.Pattern[str]) -> tuple[Span, ...]:
    spans = (s.char_span for s in segments if s.kind is SegmentKind.CONTENT)
    return tuple(Span(*match.span()) for span in spans for match in pattern.finditer(raw, *span))


def _join(raw: str, segments: Iterable[Segment], kind: SegmentKind, joiner: str) -> str:
    return joiner.join([raw[s.char_span.start : s.char_span.stop] for s in segments if s.kind is kind])
