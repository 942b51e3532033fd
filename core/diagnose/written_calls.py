"""The census on a field of the message: complete calls that stand there as text, with their markup."""

from __future__ import annotations

from collections.abc import Iterator

from core.diagnose.fields import body_of, request_tools, texts_inside
from core.diagnose.markers import find_unquoted_markers
from core.formats import pick_format
from core.protocols import ReadContext
from core.types import CallStatus, ToolCallAttempt, Trace


def written_calls(trace: Trace, text: str) -> Iterator[ToolCallAttempt]:
    """Yield the complete calls of offered tools that a text holds with unquoted markup of its own."""
    markers = list(find_unquoted_markers(text))
    if not markers:
        return
    offered = {tool.name for tool in request_tools(trace.request)}
    asked = "\n".join(texts_inside(body_of(trace)))
    context = ReadContext(tools=trace.request.tools)
    for call in pick_format(text, context).read(text, context).calls:
        span = call.char_span
        has_markup = any(span.start <= marker.start < span.stop for marker in markers)
        is_whole = call.status is CallStatus.COMPLETE and call.arguments_json is not None and call.name in offered
        if has_markup and is_whole and text[slice(*span)] not in asked:
            yield call
