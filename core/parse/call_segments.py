"""The stretches of one call: name, id, arguments, and markup between them."""

from __future__ import annotations

from operator import itemgetter

from prompt_debugger.core.base.types import Segment, SegmentKind, Span, ToolCallAttempt


def segments_of_call(call: ToolCallAttempt, call_index: int) -> list[Segment]:
    """Return the segments of one call: name, id, arguments, and markup between them."""
    pieces = _named_pieces(call)
    segments: list[Segment] = []
    position = call.char_span.start
    for span, kind in pieces:
        if span.start > position:
            segments.append(Segment(Span(position, span.start), SegmentKind.MARKUP, call_index))
        segments.append(Segment(span, kind, call_index))
        position = span.stop
    if position < call.char_span.stop:
        segments.append(Segment(Span(position, call.char_span.stop), SegmentKind.MARKUP, call_index))
    return segments


def _named_pieces(call: ToolCallAttempt) -> list[tuple[Span, SegmentKind]]:
    pieces: list[tuple[Span, SegmentKind]] = []
    name, identifier, arguments = call.name_span, call.id_span, call.arguments_span
    if identifier is not None:
        if name is not None and identifier.start <= name.start and name.stop <= identifier.stop:
            pieces.append((Span(identifier.start, name.start), SegmentKind.CALL_ID))
            pieces.append((Span(name.stop, identifier.stop), SegmentKind.CALL_ID))
        else:
            pieces.append((identifier, SegmentKind.CALL_ID))
    if name is not None:
        pieces.append((name, SegmentKind.CALL_NAME))
    if arguments is not None:
        pieces.append((arguments, SegmentKind.CALL_ARGUMENTS))
    return sorted([piece for piece in pieces if piece[0].start < piece[0].stop], key=itemgetter(0))
