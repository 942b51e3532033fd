"""Answers that the clients of Google and Cohere print, in the form in which the server sent them."""

from __future__ import annotations

import re

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.python_repr import CUT, plain

_WORD_START = re.compile(r"_([a-z])")


def gemini_of(value: JSONObject) -> JSON:
    """Return an answer of Google's client with the names of its REST API; `None` if it is cut."""
    return None if CUT in value and not value.get("candidates") else _camel(plain(value))


def _camel(value: JSON) -> JSON:
    """Return a value with the names of Google's REST API; what a call holds keeps its own."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        _WORD_START.sub(lambda found: found[1].upper(), name): item if name in ("args", "response") else _camel(item)
        for name, item in value.items()
        if item is not None
    }


def cohere_of(value: JSONObject) -> JSON:
    """Return an answer of Cohere's client; `None` for one that is cut within its message."""
    message = as_object(value.get("message"))
    calls = message.get("tool_calls")
    is_whole = all(CUT not in as_object(call) for call in (calls if isinstance(calls, list) else ()))
    return plain(value) if is_whole and message and CUT not in message else None
