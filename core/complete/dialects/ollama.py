"""Answers of Ollama's own API: `/api/chat` and `/api/generate`, whole or as one JSON object a line.

    {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "…", "tool_calls": […]}, "done": true,
     "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 12}
    {"model": "m", "response": "…", "thinking": "…", "done": true, "context": [1, 2, …], …}

Arguments of calls are objects, and calls have no ids. `done_reason` is `stop` with calls, too, so it is read as
`tool_calls` there. `context` is prompt and answer together, tokenized again: not the ids of the output.

Source: https://docs.ollama.com/api, as of 2026-10.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject, Usage
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, of_message

_CHAT, _GENERATE = "Ollama's /api/chat", "Ollama's /api/generate"
_COUNTS = ("eval_count", "total_duration", "prompt_eval_count", "created_at", "done_reason")


def _is_answer(value: JSONObject) -> bool:
    if not isinstance(value.get("done"), bool) or "choices" in value:
        return False
    has_message = isinstance(value.get("message"), dict) or isinstance(value.get("response"), str)
    return has_message and ("model" in value or any(name in value for name in _COUNTS))


def _read_answer(value: JSONObject) -> Answer:
    draft = MessageDraft()
    message = _message_of(value)
    draft.texts.append(as_text(message.get("content")) or "")
    if thinking := as_text(message.get("thinking")):
        draft.reasoning.append(thinking)
    for call in objects_in(message.get("tool_calls")):
        function = as_object(call.get("function"))
        draft.call(call.get("id"), function.get("name"), function.get("arguments", {}))
    read = draft.message()
    read["content"] = as_text(message.get("content"))
    is_done = value["done"] is True
    if not is_done:
        draft.note("`done` is false: it is one event of a stream, or the answer was not finished.")
    answer = of_message(
        _api(value),
        read,
        _reason(value, has_calls=bool(draft.calls)),
        whole=value if is_done and "done_reason" in value else None,
        usage=_usage(value),
        notes=(*draft.notes, *_notes(value)),
    )
    return answer


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    draft, calls, is_done = StreamDraft(), 0, False
    draft.add({"role": "assistant", "content": ""})
    for event in events:
        if event.get("error"):
            draft.fail(f"the server reported an error: {shorten(event['error'])}")
            continue
        message = _message_of(event)
        delta: JSONObject = {}
        for name, wire in (("content", "content"), ("reasoning", "thinking")):
            if text := as_text(message.get(wire)):
                delta[name] = text
        if delta:
            draft.add(delta)
        for call in objects_in(message.get("tool_calls")):
            function = as_object(call.get("function"))
            draft.call(calls, call.get("id"), function.get("name"), function.get("arguments", {}))
            calls += 1
        if event.get("done") is True:
            is_done = True
            draft.usage = _usage(event)
            draft.add({}, _reason(event, has_calls=calls > 0))
            draft.notes += _notes(event)
    first = events[0] if events else {}
    return draft.answer(_api(first), body, is_ended=is_done, end='`"done": true`')


def _api(value: JSONObject) -> str:
    return _GENERATE if isinstance(value.get("response"), str) else _CHAT


def _message_of(value: JSONObject) -> JSONObject:
    if isinstance(value.get("message"), dict):
        return as_object(value["message"])
    return {"content": value.get("response"), "thinking": value.get("thinking"), "tool_calls": value.get("tool_calls")}


def _reason(value: JSONObject, *, has_calls: bool) -> str | None:
    reason = as_text(value.get("done_reason"))
    return "tool_calls" if reason == "stop" and has_calls else reason


def _usage(value: JSONObject) -> Usage | None:
    prompt, written = as_count(value.get("prompt_eval_count")), as_count(value.get("eval_count"))
    if prompt is None and written is None:
        return None
    return Usage(prompt, written, None if prompt is None or written is None else prompt + written)


def _notes(value: JSONObject) -> list[str]:
    context: JSON = value.get("context")
    if not isinstance(context, list) or not context:
        return []
    return [
        f"`context` contains {len(context):,} ids of prompt and answer together, not of the output: it was left out."
    ]


DIALECT = Dialect(_CHAT, _is_answer, _read_answer, _is_answer, _read_events)
