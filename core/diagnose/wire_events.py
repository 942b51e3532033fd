"""The events of a stream as they came over the wire, for rules on APIs whose events say more than a message keeps."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import JSONObject, Trace

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
