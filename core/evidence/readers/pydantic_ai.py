"""The messages of a run of pydantic-ai, printed or dumped as JSON.

    [ModelRequest(parts=[UserPromptPart(content='Hi', …)], kind='request'),
     ModelResponse(parts=[ToolCallPart(tool_name='f', args='{}', tool_call_id='a')], kind='response')]
    [{"parts": [{"content": "Hi", "part_kind": "user-prompt"}], "kind": "request"}, …]

The last response is the answer, and what precedes it the request; what was sent after it belongs to the request, too.

Source: https://ai.pydantic.dev/api/messages/, as of 2026-10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Server
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import CUT_NOTE
from prompt_debugger.core.evidence.values.python_repr import CLASS, CUT, plain, printed_objects, read_printed
from prompt_debugger.core.request import body_text, read_request

_START = re.compile(r"(?<![\w.'\"])(?:pydantic_ai\.messages\.)?Model(?:Request|Response)\((?=\s*+parts=)")
_CALLS = ("ModelRequest(", "ModelResponse(")
_KINDS = {
    "SystemPromptPart": "system-prompt",
    "InstructionPart": "system-prompt",
    "UserPromptPart": "user-prompt",
    "ToolReturnPart": "tool-return",
    "RetryPromptPart": "retry-prompt",
    "TextPart": "text",
    "ThinkingPart": "thinking",
    "ToolCallPart": "tool-call",
}


def _finds(paste: Paste) -> float:
    if paste.value is not None:
        return 0.95 if _is_dump(paste.value) else 0.0
    found = _START.search(paste.text) if has_any(paste.text, _CALLS) else None
    read = None if found is None else read_printed(paste.text, found.start())
    return 0.0 if read is None or _is_of_program(as_object(read.value)) else 0.92


def _is_dump(value: JSON) -> bool:
    messages = value if isinstance(value, list) else []
    kinds = [as_object(one).get("kind") for one in messages[:20]]
    first = as_object(messages[0]).get("parts") if messages else None
    parts = first if isinstance(first, list) else []
    return bool(parts) and all(kind in ("request", "response") for kind in kinds) and "part_kind" in as_object(parts[0])


def _read(paste: Paste) -> Evidence:
    values = (
        [as_object(one) for one in paste.value]
        if isinstance(paste.value, list)
        else list(printed_objects(paste.text, _START))
    )
    is_cut = any(CUT in value for value in values)
    values = [value for value in values if CUT not in value]
    if not values:
        raise RequestError("The first of the printed messages is cut.", "Paste everything that was printed.")
    last = next((at for at in range(len(values) - 1, -1, -1) if _is_response(values[at])), None)
    is_answer = last is not None and last == len(values) - 1
    sent = values[:-1] if is_answer else values
    messages: list[JSON] = [*_instructions(sent), *(message for value in sent for message in _messages(value))]
    request = read_request(body_text({"messages": messages})) if messages else None
    chat = _answer(values[-1]) if is_answer else None
    words = f"{len(values):,} messages of pydantic-ai"
    form = Form.EXCHANGE if request is not None and chat is not None else Form.OBJECT
    notes = (CUT_NOTE.replace("inside the answer", "inside a message"),) if is_cut else ()
    return Evidence(form, words, request=request, chat=chat, server=_model_of(values[-1]), notes=notes)


def _model_of(value: JSONObject) -> Server | None:
    """Return a server known only by the model that a response names."""
    name = value.get("model_name")
    return Server("", served_models=(name,)) if isinstance(name, str) and name and _is_response(value) else None


def _is_of_program(value: JSONObject) -> bool:
    """Return whether a message is one that a program makes: what is printed has all names, `ToolCallPart('f')` none."""
    main = {"tool-call": "tool_name", "text": "content"}
    return any(kind in main and main[kind] not in part and CUT not in part for kind, part in _parts(value))


def _is_response(value: JSONObject) -> bool:
    return value.get("kind") == "response" or str(value.get(CLASS, "")).endswith("ModelResponse")


def _parts(value: JSONObject) -> list[tuple[str, JSONObject]]:
    parts = value.get("parts")
    found = [as_object(part) for part in (parts if isinstance(parts, list) else [])]
    return [(str(part.get("part_kind") or _KINDS.get(str(part.get(CLASS)), "")), part) for part in found]


def _instructions(values: Sequence[JSONObject]) -> Iterator[JSONObject]:
    """Yield the instructions as the one system message that is sent: those of the last request, above all else."""
    given = [text for value in values if isinstance(text := value.get("instructions"), str) and text]
    if given:
        yield {"role": "system", "content": given[-1]}


def _messages(value: JSONObject) -> Iterator[JSONObject]:
    """Yield a message of pydantic-ai as messages of chat completions."""
    if _is_response(value):
        yield _assistant(value)
        return
    for kind, part in _parts(value):
        content = _text(part.get("content"))
        is_result = kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name"))
        if is_result:
            yield {"role": "tool", "tool_call_id": _id(part), "content": content}
        elif kind:
            yield {"role": "system" if kind == "system-prompt" else "user", "content": content}


def _assistant(value: JSONObject) -> JSONObject:
    parts = _parts(value)
    text = [_text(part.get("content")) for kind, part in parts if kind == "text"]
    thoughts = [_text(part.get("content")) for kind, part in parts if kind == "thinking"]
    calls: list[JSON] = [
        {
            "id": _id(part),
            "type": "function",
            "function": {"name": part.get("tool_name"), "arguments": _arguments(part.get("args"))},
        }
        for kind, part in parts
        if kind == "tool-call"
    ]
    message: JSONObject = {"role": "assistant", "content": "".join(text) if text else None}
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    return {**message, "tool_calls": calls} if calls else message


def _answer(value: JSONObject) -> ChatResult:
    reason = value.get("finish_reason")
    named = {"tool_call": "tool_calls"}.get(str(reason), str(reason)) if isinstance(reason, str) else None
    return ChatResult(_assistant(value), named)


def _id(part: JSONObject) -> JSON:
    found = part.get("tool_call_id")
    return found if isinstance(found, str) else None


def _arguments(value: JSON) -> str:
    """Return the arguments of a call as text; earlier releases wrapped them (`ArgsJson(args_json=…)`)."""
    held = as_object(value)
    for name in ("args_json", "args_dict"):
        if name in held:
            return _arguments(held[name])
    return (
        value if isinstance(value, str) else json.dumps(plain(value) if value is not None else {}, ensure_ascii=False)
    )


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _joined(value)
    return "" if value is None else json.dumps(plain(value), ensure_ascii=False)


def _joined(parts: Sequence[JSON]) -> str:
    """Return the texts of a prompt of several parts; images and files leave no text."""
    if all(not isinstance(part, str) for part in parts):
        return json.dumps([plain(part) for part in parts], ensure_ascii=False)
    return "\n".join(part for part in parts if isinstance(part, str))


READER = Reader(Form.OBJECT, _finds, _read)
