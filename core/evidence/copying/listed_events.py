"""The lines of a stream as a script collected them: a list of strings, one for each line that came.

["data: {…}", "", "data: {…}", "data: [DONE]"]
['{"id": …, "choices": […]}', '{"id": …}', '[DONE]']
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.answers.shapes import is_chunk
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.printed_values import value_at

_BEGINS = re.compile(r"\s{0,40}\[\s{0,40}b?[\"'](?:data:|event:|: |\{)")
_MAX_CHARS = 2_000_000
_MIN_EVENTS = 2
_DONE = "[DONE]"


def join_listed(text: str) -> str:
    """Return the lines of a stream that are listed as strings, as they came over the wire; any other text as it is."""
    if len(text) > _MAX_CHARS or _BEGINS.match(text) is None:
        return text
    value = value_at(text.strip(), 0)
    lines = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(lines) != len(value):
        return text
    events = [one.strip() for one in lines if one.strip()]
    if all(one.startswith(("data:", "event:", ":", "id:")) for one in events) and len(events) >= _MIN_EVENTS:
        return "\n".join(f"\n{one}" if one.startswith(("data:", "event:")) else one for one in events).lstrip("\n")
    if len(events) >= _MIN_EVENTS and all(one == _DONE or _is_event(one) for one in events):
        return "\n\n".join(f"data: {one}" for one in events)
    return text


def _is_event(text: str) -> bool:
    value = json_of(text)
    return isinstance(value, dict) and is_chunk(value)
