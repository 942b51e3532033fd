"""Messages as LangChain's classes stand for them → messages of chat completions.

AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}])
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from prompt_debugger.core.base.types import JSON, JSONObject

ROLE_BY_CLASS: Final[Mapping[str, str]] = {
    "HumanMessage": "user",
    "SystemMessage": "system",
    "AIMessage": "assistant",
    "ToolMessage": "tool",
}


def message_of(name: str, arguments: JSONObject) -> JSONObject:
    """Return the message that a class of LangChain stands for, of its content, calls, call id and name."""
    message: JSONObject = {"role": ROLE_BY_CLASS[name], "content": arguments.get("content", "")}
    calls = arguments.get("tool_calls")
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [_call(call) for call in calls]
        message["content"] = message["content"] or None
    return message | {key: arguments[key] for key in ("tool_call_id", "name") if arguments.get(key) is not None}


def _call(call: JSON) -> JSON:
    if not isinstance(call, dict) or "function" in call:
        return call
    arguments = json.dumps(call.get("args", {}), ensure_ascii=False)
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": call.get("name"), "arguments": arguments},
    }
