r"""Answers of Cohere's chat API, version 2, whole or streamed.

    {"id": "a", "finish_reason": "TOOL_CALL", "message": {"role": "assistant", "tool_plan": "I will look.",
       "tool_calls": [{"id": "f_1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
     "usage": {"tokens": {"input_tokens": 9, "output_tokens": 3}}}
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi"}}}}
    {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": "{"}}}}}

In a stream, `tool_calls` and `content` are the one object that grows. What the model says of its plan before its calls
(`tool_plan`) is read as reasoning, and so is `thinking`.

Source: https://docs.cohere.com/reference/chat and /reference/chat-stream, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from prompt_debugger.core.base.json_values import as_count, as_number, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject, Usage
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, no_place, of_message

_API = "Cohere's chat API"
REASONS: Mapping[str, str] = MappingProxyType(
    {"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"}
)
_OTHER_REASONS = ("ERROR", "TIMEOUT")
_GROWING = frozenset({"content-start", "content-delta", "tool-plan-delta", "tool-call-start", "tool-call-delta"})
_CLOSING = frozenset({"content-end", "tool-call-end"})
_CITATIONS = frozenset({"citation-start", "citation-end"})


def _is_answer(value: JSONObject) -> bool:
    message = as_object(value.get("message"))
    if "choices" in value or message.get("role") != "assistant" or isinstance(message.get("content"), str):
        return False
    return value.get("finish_reason") in (*REASONS, *_OTHER_REASONS)


def _read_answer(value: JSONObject) -> Answer:
    draft, message = MessageDraft(), as_object(value["message"])
    if plan := as_text(message.get("tool_plan")):
        draft.reasoning.append(plan)
    for part in objects_in(message.get("content")):
        match part.get("type"):
            case "text":
                draft.texts.append(as_text(part.get("text")) or "")
            case "thinking":
                draft.reasoning.append(as_text(part.get("thinking")) or "")
            case other:
                draft.note(no_place(other))
    for call in objects_in(message.get("tool_calls")):
        function = as_object(call.get("function"))
        draft.call(call.get("id"), function.get("name"), function.get("arguments"))
    reason, usage = _reason(value), _usage(value)
    return of_message(_API, draft.message(), reason, whole=value, usage=usage, notes=draft.notes)


def _is_event(value: JSONObject) -> bool:
    kind, delta = as_text(value.get("type")), as_object(value.get("delta"))
    if kind == "message-start":
        return not value.keys() - {"type", "id", "delta"} and ("id" in value or "message" in delta)
    if kind in _GROWING:
        return isinstance(delta.get("message"), dict)
    if kind in _CLOSING:
        return not value.keys() - {"type", "index"}
    if kind in _CITATIONS:
        return "index" in value
    return kind == "message-end" and "finish_reason" in delta


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    draft, is_ended, calls = StreamDraft(), False, -1
    draft.add({"role": "assistant"})
    for event in events:
        delta = as_object(event.get("delta"))
        message = as_object(delta.get("message"))
        match event.get("type"):
            case "content-start" | "content-delta" | "tool-plan-delta":
                _add_text(message, draft)
            case "tool-call-start" | "tool-call-delta" as kind:
                calls = _add_call(message.get("tool_calls"), calls, draft, begins=kind == "tool-call-start")
            case "message-end":
                is_ended = True
                draft.usage = _usage(delta) or draft.usage
                draft.add({}, _reason(delta))
                if error := as_text(delta.get("error")):
                    draft.fail(f"the server reported an error: {error}")
            case _:
                pass  # where a part ends, and citations
    begin = "" if any(event.get("type") == "message-start" for event in events) else "`message-start`"
    return draft.answer(_API, body, is_ended=is_ended, end="`message-end`", begin=begin)


def _add_text(message: JSONObject, draft: StreamDraft) -> None:
    content = as_object(message.get("content"))
    thought = as_text(content.get("thinking")) or as_text(message.get("tool_plan"))
    if thought:
        draft.add({"reasoning": thought})
    if text := as_text(content.get("text")):
        draft.add({"content": text})


def _add_call(given: JSON, calls: int, draft: StreamDraft, *, begins: bool) -> int:
    """Add a piece of a call, and return the number of the call that it belongs to."""
    parts = objects_in(given) if isinstance(given, list) else (as_object(given),)
    for part in parts:
        function = as_object(part.get("function"))
        calls = max(0, calls + 1 if begins else calls)
        draft.call(calls, part.get("id"), function.get("name"), as_text(function.get("arguments")) or "")
    return calls


def _reason(value: JSONObject) -> str | None:
    reason = as_text(value.get("finish_reason"))
    return None if reason is None else REASONS.get(reason, reason)


def _usage(value: JSONObject) -> Usage | None:
    """Return the tokens that the model read and wrote; those that are billed are fewer."""
    tokens = as_object(as_object(value.get("usage")).get("tokens"))
    prompt, written = (_count(tokens.get(name)) for name in ("input_tokens", "output_tokens"))
    if prompt is None and written is None:
        return None
    return Usage(prompt, written, None if prompt is None or written is None else prompt + written)


def _count(value: JSON) -> int | None:
    """Return a count of tokens, which Cohere's clients print with a decimal point."""
    number = as_number(value)
    whole = as_count(value)
    return whole if whole is not None or number is None or not number.is_integer() else int(number)


DIALECT = Dialect(_API, _is_answer, _read_answer, _is_event, _read_events)
