"""Returned calls that the raw output does hold, but that our reading leaves as text of content or reasoning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.diagnose.fields import CallField, returned_calls
from prompt_debugger.core.types import JSON, CallOutcome, SegmentKind, Span, Trace

_TEXT = (SegmentKind.CONTENT, SegmentKind.REASONING)
_BEHIND_NAME = re.compile(r"[\"']\s*[,}]|\s*[({\[<]|:\d+\s*<|\s*\n\s*[{<]")  # no prose goes on like this
_MARGIN = 160  # markup around name and arguments
_MOST_PLACES = 32


class CallAsText(NamedTuple):
    """A returned call without an origin among the calls of our reading.

    Attributes:
        call: The call as returned.
        name_span: Its name where the raw output holds the call as text; `None` if no text explains it.
        kind: The kind of that text.
    """

    call: CallField
    name_span: Span | None
    kind: SegmentKind | None


def invented_calls(trace: Trace) -> Iterator[CallAsText]:
    """Yield the returned calls that answer to no call of our reading, each with the text that explains it."""
    if trace.parse is None:
        return
    invented = {m.message_index for m in trace.parse.ledger.matches if m.outcome is CallOutcome.INVENTED}
    fields = {f"tool_calls[{index}]" for index in invented}
    for call in returned_calls(trace):
        if call.field in fields:
            yield _located(trace, call)


def _located(trace: Trace, call: CallField) -> CallAsText:
    assert trace.parse is not None
    raw, leaves = trace.parse.raw, _leaves(call.arguments)
    if call.name:
        pattern = re.compile(rf"(?<![\w\-]){re.escape(call.name)}(?![\w\-])")
        for segment in trace.parse.parsed.segments:
            if segment.kind in _TEXT:
                span = _find(raw, segment.char_span, pattern, leaves)
                if span is not None:
                    return CallAsText(call, span, segment.kind)
    return CallAsText(call, None, None)


def _find(raw: str, text: Span, pattern: re.Pattern[str], leaves: tuple[str, ...]) -> Span | None:
    """Return where a name stands in a text as a call's name, with all of its arguments around it."""
    width = 2 * sum(map(len, leaves)) + 16 * len(leaves) + _MARGIN
    for count, match in enumerate(pattern.finditer(raw, text.start, text.stop)):
        if count == _MOST_PLACES:
            return None
        around = raw[max(text.start, match.start() - width) : min(text.stop, match.end() + width)]
        if _BEHIND_NAME.match(raw, match.end(), text.stop) and all(leaf in around for leaf in leaves):
            return Span(*match.span())
    return None


def _leaves(arguments: JSON) -> tuple[str, ...]:
    """Return what must stand in a text that holds these arguments, whatever the notation: keys and plain values."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else arguments
        return tuple(_walk(value))
    except (ValueError, RecursionError):
        return (str(arguments).strip(),)


def _walk(value: JSON) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)
    elif isinstance(value, str):
        yield from re.split(r"[\\\"\n\t\r/]|[^\x00-\x7f]", value)  # escapes are written in many ways
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
