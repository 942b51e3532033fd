"""Messages as agent frameworks hold them → messages of chat completions.

    HumanMessage(content='Hi')   AIMessage(tool_calls=[…])   {"type": "ai", …}   {"lc": 1, "kwargs": {…}}   LangChain
    ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(…), ToolCallBlock(…)])                  LlamaIndex
    {"role": "assistant", "content": [{"type": "tool-call", "toolName": …, "args": {…}}]}         Vercel's AI SDK
    {"role": "assistant", "parts": [{"type": "tool-read", "input": {…}, "output": …}]}            the same, for a page
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": …, "name": …, "input": {…}}}]}    Bedrock's Converse
    {"role": "assistant", "content": [{"type": "toolRequest", "toolCall": {"value": {…}}}]}       Goose
    {"info": {"role": "assistant"}, "parts": [{"type": "tool", "tool": …, "state": {…}}]}         OpenCode
    {"role": "assistant", "parts": [{"type": "tool_call", "id": …, "name": …, "arguments": {…}}]}       OpenTelemetry
    {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": […]}}            LangChain's as well
    {"role": "tool", "content": …, "message_type": "observation", "tool_call_ids": ["a"]}                   SWE-agent
    AssistantMessage(content=[FunctionCall(id=…, arguments=…, name=…)])                           AutoGen
    AssistantMessage(content='', tool_calls=[ToolCall(function=FunctionCall(name=…, arguments=…), id=…)])   Mistral

Those of .NET's packages are in `dotnet_messages`.

Sources: the public documentation of each, and what people have posted, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of, result_of, text_of_content
from prompt_debugger.core.evidence.values.dotnet_messages import is_of_dotnet, messages_of_dotnet
from prompt_debugger.core.evidence.values.printed_objects import answer_of, class_of
from prompt_debugger.core.evidence.values.python_repr import CLASS, CUT

_ROLES: Mapping[str, str] = {
    "human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "system": "system",
    "developer": "developer", "tool": "tool", "function": "tool",
}  # fmt: skip
_CLASSES: Mapping[str, str] = {
    "HumanMessage": "user", "HumanMessageChunk": "user", "UserMessage": "user", "SystemMessage": "system",
    "DeveloperMessage": "developer", "AIMessage": "assistant", "AIMessageChunk": "assistant",
    "AssistantMessage": "assistant", "ToolMessage": "tool", "FunctionMessage": "tool",
}  # fmt: skip
_OF_TELEMETRY = ("tool_call", "tool_call_response")
AUTOGENS_RESULTS = "FunctionExecutionResultMessage"
CLASSES = (*_CLASSES, AUTOGENS_RESULTS, "ChatMessage")
REASONS: Mapping[str, str] = {
    "tool-calls": "tool_calls", "function_calls": "tool_calls", "tool_use": "tool_calls", "toolcalls": "tool_calls",
    "end_turn": "stop", "stop": "stop", "max_tokens": "length", "length": "length", "content-filter": "content_filter",
}  # fmt: skip


def messages_of(value: JSON) -> list[JSONObject]:
    """Return the messages that an object of a framework represents; none if it is not known, or cut."""
    if not isinstance(value, dict) or CUT in value:
        return []
    for is_it, read in _READERS:
        if is_it(value):
            return read(value)
    parts = _parts_of(value)
    are_texts = bool(parts) and all(_text_of_part(part) is not None for part in parts)
    return _read_parts(value) if "role" in value and are_texts else []


def is_of_framework(value: JSON) -> bool:
    """Return whether an object is a message in a framework's own form, and not in that of chat completions."""
    return isinstance(value, dict) and any(is_it(value) for is_it, _ in _READERS)


def is_of_telemetry(value: JSON) -> bool:
    """Return whether a message has a call or a result as OpenTelemetry records them."""
    return any(part.get("type") in _OF_TELEMETRY for part in _items(as_object(value).get("parts")))


def _items(value: JSON) -> list[JSONObject]:
    return [as_object(one) for one in value] if isinstance(value, list) else []


def _parts_of(value: JSONObject) -> list[JSONObject]:
    """Return the parts that a message has in `content` or in `parts`."""
    return _items(value.get("content")) or _items(value.get("parts"))


# Haystack, by the names of its fields: printed, or dumped.


def _is_haystacks(value: JSONObject) -> bool:
    is_dumped = any({"tool_call", "tool_call_result"} & one.keys() for one in _items(value.get("content")))
    return ("_role" in value and "_content" in value) or (is_dumped and "role" in value)


def _haystacks(value: JSONObject) -> list[JSONObject]:
    parts = _items(value.get("_content", value.get("content")))
    role = _ROLES.get(str(value.get("_role", value.get("role"))), "user")
    results = [held for one in parts if (held := as_object(one.get("tool_call_result", one))) and "origin" in held]
    if results:
        return [result_of(as_object(one["origin"]).get("id"), one.get("result")) for one in results]
    texts = [str(one["text"]) for one in parts if isinstance(one.get("text"), str)]
    made = [held for one in parts if (held := as_object(one.get("tool_call", one))) and "tool_name" in held]
    calls = [call_of(one["tool_name"], one.get("arguments"), one.get("id")) for one in made]
    text = "\n".join(texts)
    return [assistant_of(text or None, calls) if role == "assistant" else {"role": role, "content": text}]


# LangChain and AutoGen, by their classes.


def _class_name(value: JSONObject) -> str:
    path = value.get("id")
    if value.get("lc") == 1 and isinstance(path, list) and path:
        return str(path[-1])
    return class_of(value)


def _is_langchain(value: JSONObject) -> bool:
    is_typed = value.get("type") in ("human", "ai", "system", "tool") and ("content" in value or "data" in value)
    return is_typed or _class_name(value) in _CLASSES or _class_name(value) == AUTOGENS_RESULTS


def _langchain(value: JSONObject) -> list[JSONObject]:
    kind = _class_name(value)
    role = _CLASSES.get(kind) or _ROLES.get(str(value.get("type")), "user")
    held = as_object(value.get("kwargs") if value.get("lc") == 1 else value.get("data")) or value
    if kind == AUTOGENS_RESULTS:
        return [result_of(one.get("call_id"), one.get("content")) for one in _items(held.get("content"))]
    if kind == "FunctionMessage":  # the result of a call in the older form, which has no id
        return [{"role": "function", "name": held.get("name"), "content": text_of_content(held.get("content"))}]
    if role == "tool":
        return [result_of(held.get("tool_call_id"), held.get("content"))]
    content = held.get("content")
    if role != "assistant":
        return [{"role": role, "content": text_of_content(content)}]
    if any(class_of(one) == "FunctionCall" for one in _items(content)):
        return [autogens_answer(content)]
    if any(as_object(one.get("function")) for one in _items(held.get("tool_calls"))):
        answer = answer_of({**held, CLASS: "ChatMessage"})  # of Mistral's client, as the server sent it
        return [as_object(answer)] if isinstance(answer, dict) else []
    answer = answer_of({"additional_kwargs": {}, **held})
    choices = _items(as_object(answer).get("choices"))
    return [as_object(choices[0].get("message"))] if choices else []


def autogens_event(value: JSONObject) -> list[JSONObject]:
    """Return the messages of an event of a chat of AutoGen, printed as fields."""
    content = value.get("content")
    match value.get("type"):
        case "ToolCallRequestEvent":
            return [autogens_answer(content)]
        case "ToolCallExecutionEvent":
            return [result_of(one.get("call_id"), one.get("content")) for one in _items(content)]
        case "TextMessage" if isinstance(content, str):
            return [{"role": "user" if value.get("source") == "user" else "assistant", "content": content}]
        case _:
            return []


def autogens_answer(content: JSON) -> JSONObject:
    """Return a model's answer as AutoGen represents it: a text, or a list of calls."""
    calls = [call_of(one.get("name"), one.get("arguments"), one.get("id")) for one in _items(content)]
    return assistant_of(content if isinstance(content, str) else None, calls)


# LlamaIndex.


def _is_llama_index(value: JSONObject) -> bool:
    return "role" in value and ("blocks" in value or class_of(value) == "ChatMessage") and "tool_calls" not in value


def _llama_index(value: JSONObject) -> list[JSONObject]:
    role, extra = _ROLES.get(str(value.get("role")), "user"), as_object(value.get("additional_kwargs"))
    blocks = _items(value.get("blocks"))
    texts = [str(one.get("text") or "") for one in blocks if "text" in one]
    text = "".join(texts) if "blocks" in value else text_of_content(value.get("content"))
    if role == "tool":
        return [result_of(extra.get("tool_call_id"), text)]
    if role != "assistant":
        return [{"role": role, "content": text}]
    calls = [_called(one) for one in _items(extra.get("tool_calls"))]
    calls = calls or [
        call_of(one.get("tool_name"), one.get("tool_kwargs"), one.get("tool_call_id"))
        for one in blocks
        if "tool_name" in one
    ]
    return [assistant_of(text or None, calls)]


def _called(call: JSONObject) -> JSONObject:
    function = as_object(call.get("function"))
    return call_of(function.get("name"), function.get("arguments"), call.get("id"))


# Vercel's AI SDK, Goose and Bedrock: parts in `content`, or in `parts`.


def _has_parts(value: JSONObject) -> bool:
    parts = _parts_of(value)
    return "role" in value and any(map(_is_part, parts))


def _is_part(part: JSONObject) -> bool:
    kind = str(part.get("type", ""))
    if {"toolUse", "toolResult"} & part.keys() or kind in ("toolRequest", "toolResponse", "tool-invocation"):
        return True
    if kind in _OF_TELEMETRY:
        return "id" in part and isinstance(part.get("name", ""), str)
    return kind.startswith("tool-") and ("toolCallId" in part or "toolName" in part)


def _read_parts(value: JSONObject) -> list[JSONObject]:
    parts = _parts_of(value)
    texts = [text for part in parts if (text := _text_of_part(part)) is not None]
    calls: list[JSONObject] = []
    results: list[JSONObject] = []
    for part in parts:
        call, result = _read_part(part)
        calls += [call] if call is not None else []
        results += [result] if result is not None else []
    role = _ROLES.get(str(value.get("role")), "user")
    own: list[JSONObject] = []
    if role == "assistant":
        own = [assistant_of("".join(texts) or None, calls)]
    elif texts:
        own = [{"role": "user" if role == "tool" else role, "content": "".join(texts)}]
    return [*own, *results] if role == "assistant" else [*results, *own]


def _text_of_part(part: JSONObject) -> str | None:
    """Return the text of a part; `None` of one that has none, or is reasoning."""
    text = part.get("text", part.get("content") if part.get("type") == "text" else None)
    return text if isinstance(text, str) and part.get("type") != "reasoning" else None


def _read_part(part: JSONObject) -> tuple[JSONObject | None, JSONObject | None]:
    """Return the call and the result that a part is; `None` for what it is not."""
    kind = str(part.get("type", ""))
    if kind in ("toolRequest", "toolResponse"):
        return _read_gooses(part)
    if kind == "tool_call":
        return call_of(part.get("name"), part.get("arguments"), part.get("id")), None
    if kind == "tool_call_response":
        return None, result_of(part.get("id"), part.get("response", part.get("result")))
    used, back = as_object(part.get("toolUse")), as_object(part.get("toolResult"))
    if used:
        return call_of(used.get("name"), used.get("input"), used.get("toolUseId")), None
    if back:
        return None, result_of(back.get("toolUseId"), back.get("content"))
    part = as_object(part.get("toolInvocation")) or part
    if not _is_part(part) and "toolCallId" not in part:
        return None, None
    name = part.get("toolName") or kind.removeprefix("tool-")
    given = part.get("input", part.get("args"))
    held = part.get("output", part.get("result", part.get("errorText")))
    result = None if held is None else result_of(part.get("toolCallId"), as_object(held).get("value", held))
    is_result = kind == "tool-result"
    return None if is_result else call_of(name, given, part.get("toolCallId")), result


def _read_gooses(part: JSONObject) -> tuple[JSONObject | None, JSONObject | None]:
    if part.get("type") == "toolResponse":
        return None, result_of(part.get("id"), as_object(part.get("toolResult")).get("value"))
    called = as_object(as_object(part.get("toolCall")).get("value"))
    return call_of(called.get("name"), called.get("arguments"), part.get("id")), None


# OpenCode.


def _is_opencode(value: JSONObject) -> bool:
    return "role" in as_object(value.get("info")) and isinstance(value.get("parts"), list)


def _opencode(value: JSONObject) -> list[JSONObject]:
    parts, role = _items(value.get("parts")), str(as_object(value.get("info")).get("role"))
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    if role != "assistant":
        return [{"role": "user", "content": text}]
    tools = [part for part in parts if part.get("type") == "tool"]
    states = [as_object(part.get("state")) for part in tools]
    calls = [
        call_of(one.get("tool"), state.get("input"), one.get("callID"))
        for one, state in zip(tools, states, strict=True)
    ]
    results = [
        result_of(one.get("callID"), state.get("output", state.get("error")))
        for one, state in zip(tools, states, strict=True)
        if {"output", "error"} & state.keys()
    ]
    return [assistant_of(text or None, calls), *results]


# SWE-agent, and LangChain's messages with the roles of chat completions.


def _is_swe_agent(value: JSONObject) -> bool:
    ids = value.get("tool_call_ids")
    has_ids = value.get("role") == "tool" and isinstance(ids, list) and bool(ids) and "tool_call_id" not in value
    return has_ids or ("role" in value and {"agent", "message_type"} <= value.keys())


def _swe_agent(value: JSONObject) -> list[JSONObject]:
    message = {key: value[key] for key in ("role", "content", "tool_calls", "tool_call_id", "name") if value.get(key)}
    ids = value.get("tool_call_ids")
    given = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
    if value.get("role") == "tool" and given:  # one observation for all calls of a step
        return [result_of(one, value.get("content")) for one in given]
    return [{"content": None, **message}]


def _keeps_calls_aside(value: JSONObject) -> bool:
    calls = as_object(value.get("additional_kwargs")).get("tool_calls")
    return value.get("role") == "assistant" and bool(_items(calls)) and not value.get("tool_calls")


def _calls_from_aside(value: JSONObject) -> list[JSONObject]:
    calls = as_object(value.get("additional_kwargs")).get("tool_calls")
    return [{"role": "assistant", "content": value.get("content"), "tool_calls": calls}]


_READERS: tuple[tuple[Callable[[JSONObject], bool], Callable[[JSONObject], list[JSONObject]]], ...] = (
    (_is_langchain, _langchain),
    (_is_haystacks, _haystacks),
    (_is_opencode, _opencode),
    (is_of_dotnet, messages_of_dotnet),
    (_is_swe_agent, _swe_agent),
    (_keeps_calls_aside, _calls_from_aside),
    (_has_parts, _read_parts),
    (_is_llama_index, _llama_index),
)
