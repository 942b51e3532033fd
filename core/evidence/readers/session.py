"""Sessions of agents and exports of conversations: the last exchange, or the one asked for, counted from the end.

    Claude Code   {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", …}]}, …}
    Codex         {"type": "response_item", "payload": {"type": "function_call", …}}
    codex exec    {"type": "item.completed", "item": {"type": "agent_message", "text": …}}   turns, with --json
    pi            {"type": "message", "message": {"role": "assistant", "content": […], "stopReason": "toolUse"}}
    OpenCode      {"info": {…}, "messages": [{"info": {"role": …}, "parts": […]}]}
    ShareGPT      {"conversations": [{"from": "human", "value": …}, {"from": "gpt", "value": …}]}

Sources: session files that people have posted, 2026. Agents do not keep the tools that they offered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject, Request
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, read_newest
from prompt_debugger.core.evidence.taking import add_answer, forget_end
from prompt_debugger.core.evidence.values.chat_messages import assistant_of
from prompt_debugger.core.evidence.values.framework_messages import is_of_telemetry
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of
from prompt_debugger.core.request import body_text, read_request

_LOOKED_AT = 40  # lines: sessions begin with summaries, snapshots, settings
_ROLES: Mapping[str, str] = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "model": "assistant",
    "chatgpt": "assistant", "system": "system", "tool": "tool", "observation": "tool", "function_response": "tool",
    "function_call": "assistant",
}  # fmt: skip
_PI_REASONS: Mapping[str, str] = {"stop": "stop", "length": "length", "toolUse": "tool_calls"}
_NO_TOOLS = "The session does not contain the tools that were offered, so calls are not checked against them."


class _Exchange(NamedTuple):
    body: JSONObject | None
    answer: JSON
    raw: str | None = None
    has_end: bool = True


def _finds(paste: Paste) -> float:
    if isinstance(paste.value, dict):
        return 0.9 if _is_export(paste.value) else 0.0
    kinds = [_kind(line) for line in _lines(paste.text)[:_LOOKED_AT]]
    return 0.9 if any(kinds) else 0.0


def _lines(text: str) -> list[str]:
    """Return lines that are JSON objects; the first or last may be cut."""
    if '{"' not in text:
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    return lines if json_lines(text) or (len(lines) > 1 and lines[1].startswith('{"')) else []


def _kind(line: str) -> str:
    if not ('"response_item"' in line or '"message"' in line or '"item.completed"' in line or '"turn.failed"' in line):
        return ""
    value = as_object(json_of(line))
    if value.get("type") in ("item.completed", "turn.failed"):
        return "codex exec"
    if value.get("type") == "response_item" and isinstance(value.get("payload"), dict):
        return "Codex"
    if _is_of_pi(value):
        return "pi"
    is_turn = value.get("type") in ("user", "assistant") and isinstance(value.get("message"), dict)
    return "Claude Code" if is_turn and ("uuid" in value or "sessionId" in value or "session_id" in value) else ""


def _is_of_pi(value: JSONObject) -> bool:
    message = as_object(value.get("message"))
    return value.get("type") == "message" and (message.get("role") == "toolResult" or "stopReason" in message)


def _is_export(value: JSONObject) -> bool:
    turns, messages = value.get("conversations"), value.get("messages")
    if isinstance(turns, list) and turns:
        return all("from" in as_object(turn) and "value" in as_object(turn) for turn in turns[:3])
    if not isinstance(messages, list) or not messages or any(map(is_of_telemetry, messages[:20])):
        return False
    return all("parts" in as_object(one) for one in messages[:3])


def _read(paste: Paste) -> Evidence:
    name, exchanges = _exchanges(paste)
    if not exchanges:
        raise RequestError("The session contains no answer from a model.", "Paste the lines around the answer.")
    return read_newest(paste, len(exchanges), lambda row: _read_exchange(name, exchanges, row))


def _read_exchange(name: str, exchanges: Sequence[_Exchange], row: int) -> Evidence:
    """Read an exchange by its number, counted from the newest."""
    found = exchanges[-row]
    words = f"a session of {name}, exchange {row} of {len(exchanges):,} from the end"
    evidence = Evidence(Form.LINES, words, row=row, rows=len(exchanges))
    has_tools = found.body is not None and bool(found.body.get("tools"))
    request = None if found.body is None or not has_tools else _request(found.body)
    if found.answer is not None:
        evidence = add_answer(evidence, read_answer(found.answer))
    if not found.has_end:
        evidence = forget_end(evidence)
    notes = evidence.notes if has_tools else (*evidence.notes, _NO_TOOLS)
    return replace(evidence, request=request, raw=found.raw if found.raw is not None else evidence.raw, notes=notes)


def _request(body: JSONObject) -> Request | None:
    try:
        return read_request(body_text(body))
    except RequestError:
        return None


def _exchanges(paste: Paste) -> tuple[str, list[_Exchange]]:
    if isinstance(paste.value, dict):
        if "conversations" in paste.value:
            return "a ShareGPT export", _read_sharegpt(paste.value)
        return "OpenCode", _read_opencode(paste.value)
    values = [as_object(json_of(line)) for line in _lines(paste.text)]
    if any(value.get("type") == "response_item" for value in values):
        return "Codex", _read_codex(
            [as_object(one.get("payload")) for one in values if one.get("type") == "response_item"]
        )
    if any(value.get("type") in ("item.completed", "turn.failed") for value in values):
        return "codex exec", _read_codex_exec(values)
    if any(map(_is_of_pi, values)):
        return "pi", _read_pi([as_object(value.get("message")) for value in values])
    return "Claude Code", _read_claude(values)


def _read_pi(messages: Sequence[JSONObject]) -> list[_Exchange]:
    """Return the assistant's messages, without those that the user stopped before anything came."""
    exchanges: list[_Exchange] = []
    for message in messages:
        content, reason, error = message.get("content"), message.get("stopReason"), message.get("errorMessage")
        if message.get("role") != "assistant" or not isinstance(content, list):
            continue
        if reason == "error" and isinstance(error, str):
            exchanges.append(_Exchange(None, {"error": {"message": error}}))
        elif content:
            found = _message_of_blocks([as_object(block) for block in content])
            choice: JSONObject = {"index": 0, "message": found, "finish_reason": _PI_REASONS.get(str(reason))}
            is_whole = choice["finish_reason"] is not None
            exchanges.append(
                _Exchange(None, {"model": message.get("model"), "choices": [choice]} if is_whole else found)
            )
    return exchanges


def _message_of_blocks(blocks: Sequence[JSONObject]) -> JSONObject:
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    thoughts = [str(block.get("thinking", "")) for block in blocks if block.get("type") == "thinking"]
    calls = [
        _call(block.get("id"), block.get("name"), block.get("arguments"))
        for block in blocks
        if block.get("type") == "toolCall"
    ]
    return _message(texts, thoughts, calls)


def _call(call_id: JSON, name: JSON, arguments: JSON) -> JSONObject:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
    }


def _message(texts: Sequence[str], thoughts: Sequence[str], calls: list[JSONObject]) -> JSONObject:
    message = assistant_of("".join(texts) or None, calls)
    return {**message, "reasoning_content": "\n".join(thoughts)} if thoughts else message


def _read_claude(values: Sequence[JSONObject]) -> list[_Exchange]:
    """Return the assistant's messages; lines of one message id are blocks of one answer.

    Claude Code logs a block before its answer ends: a `stop_reason` that is null is not known, not absent.
    """
    answers: list[JSONObject] = []
    last_id: JSON = None
    for value in values:
        message = as_object(value.get("message"))
        if value.get("type") != "assistant" or value.get("isSidechain") is True:
            last_id = None if value.get("type") == "user" else last_id
            continue
        content = message.get("content")
        blocks: list[JSON] = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if answers and last_id is not None and message.get("id") == last_id:
            before = answers[-1]["content"]
            answers[-1] = {**message, "content": [*(before if isinstance(before, list) else []), *blocks]}
        else:
            answers.append({**message, "content": blocks})
        last_id = message.get("id")
    return [
        _Exchange(
            None, {**answer, "type": "message", "role": "assistant"}, has_end=answer.get("stop_reason") is not None
        )
        for answer in answers
    ]


def _read_codex(items: Sequence[JSONObject]) -> list[_Exchange]:
    exchanges: list[_Exchange] = []
    output: list[JSON] = []
    for item in items:
        if item.get("type") in ("function_call", "reasoning", "custom_tool_call") or item.get("role") == "assistant":
            output.append(item)
        elif output:
            exchanges.append(_Exchange(None, {"object": "response", "output": output}))
            output = []
    if output:
        exchanges.append(_Exchange(None, {"object": "response", "output": output}))
    return [one for one in exchanges if _says_something(as_object(one.answer).get("output"))]


def _read_codex_exec(events: Sequence[JSONObject]) -> list[_Exchange]:
    """Return each turn's last words, its calls of MCP tools, and why it failed; of commands the call is not logged."""
    exchanges: list[_Exchange] = []
    items: list[JSONObject] = []
    turn: JSONObject = {"type": "turn.started"}
    for event in (*events, turn):
        if event.get("type") == "item.completed":
            items.append(as_object(event.get("item")))
        elif event.get("type") == "turn.failed":
            error: JSON = event.get("error") or {"message": "The turn failed."}
            exchanges.append(_Exchange(None, {"error": error}))
            items = []
        elif event.get("type") == "turn.started":
            exchanges += [_Exchange(None, message)] if (message := _message_of_items(items)) else []
            items = []
    return exchanges


def _message_of_items(items: Sequence[JSONObject]) -> JSONObject:
    """Return the message of a turn's items; empty if a model wrote none of them."""
    texts = [item.get("text") for item in items if item.get("type") == "agent_message"]
    thoughts = [str(item.get("text", "")) for item in items if item.get("type") == "reasoning"]
    calls = [
        _call(item.get("id"), item.get("tool"), item["arguments"])
        for item in items
        if item.get("type") == "mcp_tool_call" and isinstance(item.get("arguments"), dict)
    ]
    if not texts and not calls:
        return {}
    message: JSONObject = {"role": "assistant", "content": texts[-1] if texts else None}
    if thoughts:
        message["reasoning_content"] = "\n".join(thoughts)
    return {**message, "tool_calls": list(calls)} if calls else message


def _says_something(output: JSON) -> bool:
    items = output if isinstance(output, list) else []
    return any(as_object(item).get("type") in ("function_call", "message") for item in items)


def _read_opencode(value: JSONObject) -> list[_Exchange]:
    messages = value.get("messages")
    exchanges: list[_Exchange] = []
    for message in messages if isinstance(messages, list) else []:
        info, parts = as_object(as_object(message).get("info")), as_object(message).get("parts")
        if info.get("role", as_object(message).get("role")) != "assistant" or not isinstance(parts, list):
            continue
        exchanges.append(_Exchange(None, _message_of_parts([as_object(part) for part in parts])))
    return exchanges


def _message_of_parts(parts: Sequence[JSONObject]) -> JSONObject:
    texts = [str(part.get("text", "")) for part in parts if part.get("type") == "text"]
    thoughts = [str(part.get("text", "")) for part in parts if part.get("type") == "reasoning"]
    calls = [
        _call(part.get("callID"), part.get("tool"), as_object(part.get("state")).get("input"))
        for part in parts
        if part.get("type") == "tool"
    ]
    return _message(texts, thoughts, calls)


def _read_sharegpt(value: JSONObject) -> list[_Exchange]:
    """Return what the model wrote in each turn: training data hold raw outputs, not what a server made of them."""
    turns = [as_object(turn) for turn in value["conversations"]] if isinstance(value["conversations"], list) else []
    tools = value.get("tools")
    tools = json_of(tools) if isinstance(tools, str) else tools
    exchanges: list[_Exchange] = []
    messages: list[JSON] = []
    for turn in turns:
        role, text = _ROLES.get(str(turn.get("from")), "user"), turn.get("value")
        if not isinstance(text, str):
            continue
        if role == "assistant":
            body: JSONObject = {"messages": [*messages], **({"tools": tools} if isinstance(tools, list) else {})}
            exchanges.append(_Exchange(body, None, text))
        messages.append({"role": role, "content": text})
    return exchanges


READER = Reader(Form.LINES, _finds, _read)
