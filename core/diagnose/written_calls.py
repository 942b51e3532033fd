"""The census on a field of the message: complete calls that stand there as text, with their markup."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Segment, SegmentKind, Span, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import body_of, request_tools, texts_inside
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.formats import pick_format

_MOST_DIFFERENT = 500  # calls that are looked for in the request, each in all of it
_OF_CALLS = (SegmentKind.MARKUP, SegmentKind.CALL_NAME, SegmentKind.CALL_ID, SegmentKind.CALL_ARGUMENTS)


def written_calls(trace: Trace, text: str) -> Iterator[ToolCallAttempt]:
    """Yield the complete calls of offered tools that a text holds with unquoted markup of its own."""
    markers = list(find_unquoted_markers(text))
    if not markers:
        return
    offered = {tool.name for tool in request_tools(trace.request)}
    asked = "\n".join(texts_inside(body_of(trace)))
    context = ReadContext(tools=trace.request.tools)
    parsed = pick_format(text, context).read(text, context)
    marked = list(_marked_sections(parsed.segments, markers))
    starts = [section.start for section in marked]
    is_asked: dict[str, bool] = {}
    for call in parsed.calls:
        within = bisect_right(starts, call.char_span.start) - 1
        has_markup = within >= 0 and call.char_span.start < marked[within].stop
        is_whole = call.status is CallStatus.COMPLETE and call.arguments_json is not None and call.name in offered
        if not has_markup or not is_whole:
            continue
        written = text[slice(*call.char_span)]
        if written not in is_asked:
            if len(is_asked) == _MOST_DIFFERENT:
                return
            is_asked[written] = written in asked
        if not is_asked[written]:
            yield call


def bare_calls(trace: Trace, text: str) -> tuple[ToolCallAttempt, ...]:
    """Return the calls that a text is made of and nothing else, all of them whole, of offered tools and not asked for.

    Where the request wants JSON, or no call, JSON is an answer.
    """
    body = body_of(trace)
    if body.get("response_format") or body.get("tool_choice") == "none":
        return ()
    offered = {tool.name for tool in request_tools(trace.request)}
    context = ReadContext(tools=trace.request.tools, finish_reason="stop")
    parsed = pick_format(text, context).read(text, context)
    is_all = not (parsed.content or "").strip() and parsed.reasoning is None
    are_whole = all(
        call.status is CallStatus.COMPLETE and call.arguments_json is not None and call.name in offered
        for call in parsed.calls
    )
    is_asked = text.strip() in "\n".join(texts_inside(body))
    return parsed.calls if is_all and are_whole and not is_asked else ()


def _marked_sections(segments: Sequence[Segment], markers: Sequence[Span]) -> Iterator[Span]:
    """Yield the stretches of calls without text between them whose markup, around or inside a call, has a marker."""
    starts = [marker.start for marker in markers]
    for is_section, group in groupby(segments, key=lambda segment: segment.kind in _OF_CALLS):
        parts = list(group)
        markup = [part.char_span for part in parts if part.kind is SegmentKind.MARKUP]
        if is_section and any(bisect_left(starts, a) < bisect_left(starts, b) for a, b in markup):
            yield Span(parts[0].char_span.start, parts[-1].char_span.stop)
