"""Messages of chat completions, built of what other forms have: a call, an answer, the result of a call."""

from __future__ import annotations

import json

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.python_repr import plain


def call_of(name: JSON, arguments: JSON, call_id: JSON) -> JSONObject:
    """Return a call; arguments that are not a text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(plain(arguments) or {}, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def assistant_of(text: str | None, calls: list[JSONObject]) -> JSONObject:
    """Return an answer's message of its text and its calls."""
    message: JSONObject = {"role": "assistant", "content": text}
    return {**message, "tool_calls": list(calls)} if calls else message


def result_of(call_id: JSON, content: JSON) -> JSONObject:
    """Return the message with the result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text_of_content(content)}


def text_of_content(value: JSON) -> str:
    """Return content as one text: of parts that are texts, all of them; of anything else, its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [one if isinstance(one, str) else as_object(one).get("text") for one in value]
        if all(isinstance(part, str) for part in parts):
            return "".join(str(part) for part in parts)
    return "" if value is None else json.dumps(plain(value), ensure_ascii=False)
