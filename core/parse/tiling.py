"""What is left is content: tile a raw output by the stretches with a meaning of their own and content between them.

Whitespace that only frames calls is markup, and so are special tokens, unless they are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import Segment, SegmentKind, Span
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.parse.conventions import TURN_ENDS, Conventions
from prompt_debugger.core.parse.scan import is_quoted_inline


class Stretch(NamedTuple):  # an output has a dozen, and a tuple is made in half the time
    """A stretch that is not content, and whether it belongs to a call or to a wrapper of calls."""

    segment: Segment
    frames_call: bool = False


def fill(raw: str, marks: list[Stretch], context: ReadContext, conventions: Conventions) -> tuple[Segment, ...]:
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
    sayable = conventions.ends - conventions.unseen - context.special_texts - TURN_ENDS
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
def _special_pattern(special_texts: frozenset[str], ends: frozenset[str]) -> re.Pattern[str]:
    texts = sorted((special_texts | ends | TURN_ENDS) - {""}, key=lambda text: (-len(text), text))
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


def citations(raw: str, segments: Iterable[Segment], pattern: re.Pattern[str]) -> tuple[Span, ...]:
    """Return the marks of citations within content, which a server may take out."""
    spans = (s.char_span for s in segments if s.kind is SegmentKind.CONTENT)
    return tuple(Span(*match.span()) for span in spans for match in pattern.finditer(raw, *span))


def join(raw: str, segments: Iterable[Segment], kind: SegmentKind, joiner: str) -> str:
    """Return the text of all segments of a kind."""
    return joiner.join([raw[s.char_span.start : s.char_span.stop] for s in segments if s.kind is kind])
