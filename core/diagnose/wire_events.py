"""The events of a stream as they came over the wire, for rules on APIs whose events say more than a message keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.types import JSONObject, StreamDelta, Trace

MAX_EVENTS = 200_000


def wire_events(trace: Trace, kinds: str) -> Iterator[tuple[int, JSONObject]]:
    """Yield the events of the stream with their numbers from 1; none where no event names one of the kinds.

    Args:
        trace: The run.
        kinds: What the `type` of the events that are looked for begins with.
    """
    body = "" if trace.chat_stream is None else trace.chat_stream.body
    if f'"{kinds}' not in body:
        return
    number = 0
    for line in body.splitlines():
        text = line.strip().removeprefix("data:").lstrip()
        if text.startswith("{") and number < MAX_EVENTS:
            number += 1
            value = decode_json(text)
            if isinstance(value, dict):
                yield number, value


def first_at(place: int, deltas: Sequence[StreamDelta]) -> str:
    """Say at which event of a stream something begins, as a sentence with a space after it.

    Args:
        place: The place of its delta, from 0.
        deltas: The deltas of the stream; of a text with gaps these are only the heads of its calls, without their
            arguments, and which events they were is unknown: then nothing is said.
    """
    pieces = [as_object(call) for delta in deltas for call in as_list(delta.delta.get("tool_calls"))]
    are_whole = any(delta.delta.keys() - {"tool_calls"} for delta in deltas)
    if not are_whole and not any("arguments" in as_object(piece.get("function")) for piece in pieces):
        return ""
    return f"First at event {place + 1}. "
