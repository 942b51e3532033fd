"""Messages as .NET's packages write them in JSON → messages of chat completions.

    {"Role": {"Label": "assistant"}, "Items": [{"$type": "FunctionCallContent", …}]}             Semantic Kernel
    {"role": "assistant", "contents": [{"$type": "functionCall", "callId": …}]}           Microsoft.Extensions.AI
    {"Content": [{"Kind": 0, "Text": …}], "ToolCalls": [{"FunctionName": …}], "FinishReason": 3}    OpenAI for .NET

The names of the fields are capitalized unless the program chose the Web's options, so both are read. OpenAI's package
holds arguments as bytes, which .NET writes in base64, and ends as numbers.

Source: the public documentation of each (`ChatMessageContent`, `AIContent`, `ChatCompletion`), as of 2026-11.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object, decode_json, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of, result_of

_ROLES = ("system", "developer", "user", "assistant", "tool")
_ENDS = ("stop", "length", "content_filter", "tool_calls", "function_call")  # of OpenAI's package, by their numbers


def is_of_dotnet(value: JSONObject) -> bool:
    """Return whether an object is a message, or an answer, of one of these packages."""
    return _is_kernels(value) or _is_extensions(value) or _is_openais(value)


def messages_of_dotnet(value: JSONObject) -> list[JSONObject]:
    """Return the messages that such an object holds: several where it has the results of several calls."""
    if _is_kernels(value):
        items = [_lowered(one) for one in objects_in(value["Items"])]
        return _read_items(_role(as_object(value["Role"]).get("Label")), items)
    if _is_extensions(value):
        return _read_items(_role(value.get("role")), objects_in(value.get("contents")))
    return [_read_openai(_lowered(value))]


def end_of_dotnet(value: JSONObject) -> str | None:
    """Return how an answer ended, where that is a number, in the words of chat completions; else `None`."""
    ended = value.get("FinishReason", value.get("finishReason"))
    if not isinstance(ended, int) or isinstance(ended, bool):
        return None
    return _ENDS[ended] if 0 <= ended < len(_ENDS) else None


def _is_kernels(value: JSONObject) -> bool:
    return "Label" in as_object(value.get("Role")) and isinstance(value.get("Items"), list)


def _is_extensions(value: JSONObject) -> bool:
    contents = objects_in(value.get("contents"))
    return "role" in value and bool(contents) and all(isinstance(one.get("$type"), str) for one in contents)


def _is_openais(value: JSONObject) -> bool:
    held = _lowered(value)
    calls = objects_in(held.get("toolCalls"))
    if calls:
        return all("functionName" in one and "functionArguments" in one for one in map(_lowered, calls))
    texts = objects_in(held.get("content"))
    has_fields = isinstance(held.get("toolCalls"), list) and isinstance(held.get("finishReason"), int)
    return has_fields and bool(texts) and all("text" in _lowered(one) for one in texts)


def _read_items(role: str, items: Sequence[JSONObject]) -> list[JSONObject]:
    """Return the messages of a list of contents: a text, calls, or the results of calls."""
    kinds = [
        (str(one["$type"]).removesuffix("Content").lower(), one) for one in items if isinstance(one.get("$type"), str)
    ]
    results = [one for kind, one in kinds if kind == "functionresult"]
    if role == "tool" or results:
        return [result_of(one.get("callId"), one.get("result")) for one in results]
    text = "".join(str(one.get("text") or "") for kind, one in kinds if kind == "text")
    if role != "assistant":
        return [{"role": role, "content": text}]
    thoughts = "".join(str(one.get("text") or "") for kind, one in kinds if kind.endswith("reasoning"))
    calls = [
        call_of(_name(one), one.get("arguments"), one.get("callId", one.get("id")))
        for kind, one in kinds
        if kind == "functioncall"
    ]
    message = assistant_of(text or None, calls)
    return [{**message, "reasoning_content": thoughts} if thoughts else message]


def _name(item: JSONObject) -> JSON:
    """Return the name of the tool that was called; Semantic Kernel offers a function under its plug-in's name, too."""
    if "functionName" not in item:
        return item.get("name")
    return "-".join(str(item[name]) for name in ("pluginName", "functionName") if item.get(name))


def _read_openai(value: JSONObject) -> JSONObject:
    parts = map(_lowered, objects_in(value.get("content")))
    text = "".join(str(part.get("text") or "") for part in parts)
    calls = [
        call_of(one.get("functionName"), _of_bytes(one.get("functionArguments")), one.get("id"))
        for one in map(_lowered, objects_in(value.get("toolCalls")))
    ]
    return assistant_of(text or None, calls)


def _of_bytes(value: JSON) -> JSON:
    """Return the text of bytes in base64; what is anything else as it is."""
    if not isinstance(value, str) or decode_json(value) is not None:
        return value
    try:
        text = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return value
    return text if text.lstrip().startswith("{") else value


def _role(value: JSON) -> str:
    name = str(value).lower()
    return name if name in _ROLES else "user"


def _lowered(value: JSONObject) -> JSONObject:
    """Return an object whose own keys begin in small letters."""
    return {name[:1].lower() + name[1:]: one for name, one in value.items()}
