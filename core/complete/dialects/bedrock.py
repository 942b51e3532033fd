r"""Answers of Amazon Bedrock's Converse, whole or as the events that AWS' clients print.

    {"output": {"message": {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "…"}}},
       {"text": "…"}, {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]}}, "stopReason": "tool_use",
     "usage": {"inputTokens": 9, "outputTokens": 3, "totalTokens": 12}, "metrics": {"latencyMs": 800}}
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{\"a\""}}}}

Nova answers `InvokeModel` in the same form.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and …_ConverseStream.html,
as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSONObject, Usage
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, no_place, of_message

_API = "Bedrock's Converse API"
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
_EVENTS = frozenset({"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"})


def _is_answer(value: JSONObject) -> bool:
    return isinstance(as_object(value.get("output")).get("message"), dict) and isinstance(value.get("stopReason"), str)


def _read_answer(value: JSONObject) -> Answer:
    draft = MessageDraft()
    for block in objects_in(as_object(as_object(value["output"])["message"]).get("content")):
        call = as_object(block.get("toolUse"))
        if call.get("type") == "server_tool_use":
            draft.note("A tool that Bedrock runs itself was used; that is no call for the client, and was left out.")
        elif call:
            draft.call(call.get("toolUseId"), call.get("name"), call.get("input", {}))
        elif thought := as_text(as_object(as_object(block.get("reasoningContent")).get("reasoningText")).get("text")):
            draft.reasoning.append(thought)
        elif (text := as_text(block.get("text"))) is not None:
            draft.texts.append(text)
        else:
            draft.note(no_place(next(iter(block), "")))
    message = draft.message("")
    return of_message(_API, message, _reason(value), whole=value, usage=_usage(value), notes=draft.notes)


def _is_event(value: JSONObject) -> bool:
    if len(value) != 1:
        return False
    name, held = next(iter(value.items()))
    is_end = name == "metadata" and bool({"usage", "metrics"} & as_object(held).keys())
    return isinstance(held, dict) and (name in _EVENTS or is_end)


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    draft, calls, is_ended = StreamDraft(), -1, False
    draft.add({"role": "assistant"})
    for event in events:
        started = as_object(as_object(as_object(event.get("contentBlockStart")).get("start")).get("toolUse"))
        delta = as_object(as_object(event.get("contentBlockDelta")).get("delta"))
        if started:
            calls += 1
            draft.call(calls, started.get("toolUseId"), started.get("name"), "")
        if written := as_text(as_object(delta.get("toolUse")).get("input")):
            calls = max(calls, 0)
            draft.call(calls, arguments=written)
        if thought := as_text(as_object(delta.get("reasoningContent")).get("text")):
            draft.add({"reasoning": thought})
        if text := as_text(delta.get("text")):
            draft.add({"content": text})
        if (reason := _reason(as_object(event.get("messageStop")))) is not None:
            is_ended = True
            draft.add({}, reason)
        draft.usage = _usage(as_object(event.get("metadata"))) or draft.usage
    begin = "" if any("messageStart" in event for event in events) else "`messageStart`"
    return draft.answer(_API, body, is_ended=is_ended, end="`messageStop`", begin=begin)


def _reason(value: JSONObject) -> str | None:
    reason = as_text(value.get("stopReason"))
    return None if reason is None else _REASONS.get(reason, reason)


def _usage(value: JSONObject) -> Usage | None:
    usage = as_object(value.get("usage"))
    counts = [as_count(usage.get(name)) for name in ("inputTokens", "outputTokens", "totalTokens")]
    return None if counts[:2] == [None, None] else Usage(*counts)


DIALECT = Dialect(_API, _is_answer, _read_answer, _is_event, _read_events)
