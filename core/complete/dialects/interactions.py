r"""Answers of Gemini's Interactions API, whole or as the events of its stream.

    {"id": "v1_a", "object": "interaction", "status": "requires_action", "steps": [{"type": "thought"},
       {"type": "function_call", "id": "c", "name": "f", "arguments": {}}], "usage": {"total_input_tokens": 9}}
    {"event_type": "step.start", "index": 1, "step": {"type": "function_call", "id": "c", "name": "f"}}
    {"event_type": "step.delta", "index": 1, "delta": {"type": "arguments_delta", "arguments": "{\"a\""}}

Before May 2026 an answer had `outputs` in place of `steps`, and a stream `content.start`, `content.delta` and so on.
`status` is the only word on the end: `completed`, `requires_action` where calls wait for their results, `incomplete`.

Source: https://ai.google.dev/gemini-api/docs/interactions and …/streaming, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSONObject, Usage
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, no_place, of_message

_API = "Gemini's Interactions API"
_REASONS: Mapping[str, str] = MappingProxyType(
    {"completed": "stop", "requires_action": "tool_calls", "incomplete": "length"}
)
_OPEN = ("in_progress", "queued")
_INTERACTION = frozenset({"interaction.created", "interaction.completed", "interaction.start", "interaction.complete"})
_EVENTS = frozenset(
    {"step.start", "step.delta", "step.stop", "content.start", "content.delta", "content.stop"}
    | {"interaction.status_update", *_INTERACTION}
)
_LAST = ("interaction.completed", "interaction.complete")
_INPUTS = ("user_input", "function_result")


def _is_answer(value: JSONObject) -> bool:
    if value.get("object") != "interaction" and not str(value.get("id", "")).startswith("v1_"):
        return False
    return isinstance(value.get("status"), str) and isinstance(value.get("steps", value.get("outputs")), list)


def _read_answer(value: JSONObject) -> Answer:
    draft = MessageDraft()
    for step in objects_in(value.get("steps", value.get("outputs"))):
        match step.get("type"):
            case "model_output" | "text":
                draft.texts += _texts(step)
            case "thought":
                draft.reasoning += [text for part in objects_in(step.get("summary")) if (text := _text(part))]
            case "function_call":
                draft.call(step.get("id"), step.get("name"), step.get("arguments") or {})
            case kind if kind in _INPUTS:
                pass
            case other:
                draft.note(no_place(other))
    status = as_text(value.get("status")) or ""
    whole = value if status not in _OPEN else None
    return of_message(_API, draft.message(), _reason(status), whole=whole, usage=_usage(value), notes=draft.notes)


def _is_event(value: JSONObject) -> bool:
    kind = as_text(value.get("event_type"))
    if kind in _INTERACTION:
        return isinstance(value.get("interaction"), dict)
    return kind in _EVENTS and ("index" in value or "interaction_id" in value)


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    draft, is_ended = StreamDraft(), False
    calls: dict[int, int] = {}
    draft.add({"role": "assistant"})
    for event in events:
        kind = event.get("event_type")
        held = as_object(event.get("interaction"))
        if kind in ("step.start", "content.start"):
            _begin(event, calls, draft)
        elif kind in ("step.delta", "content.delta"):
            _grow(event, calls, draft)
        elif kind in _LAST:
            is_ended = True
            draft.usage = _usage(held) or draft.usage
            draft.add({}, _reason(as_text(held.get("status")) or ""))
        elif kind == "error" or event.get("error"):
            error = as_object(event.get("error"))
            draft.fail(f"the server reported an error: {as_text(error.get('message')) or shorten(event)}")
    is_begun = any(event.get("event_type") in ("interaction.created", "interaction.start") for event in events)
    begin = "" if is_begun else "`interaction.created`"
    return draft.answer(_API, body, is_ended=is_ended, end="`interaction.completed`", begin=begin)


def _begin(event: JSONObject, calls: dict[int, int], draft: StreamDraft) -> None:
    step = as_object(event.get("step", event.get("content")))
    if step.get("type") == "function_call":
        number = calls[as_count(event.get("index")) or 0] = len(calls)
        given = step.get("arguments")
        draft.call(number, step.get("id"), step.get("name"), given if given else "")
    for text in _texts(step) if step.get("type") in ("model_output", "text") else ():
        draft.add({"content": text})


def _grow(event: JSONObject, calls: dict[int, int], draft: StreamDraft) -> None:
    delta, index = as_object(event.get("delta")), as_count(event.get("index")) or 0
    match delta.get("type"):
        case "text":
            draft.add({"content": as_text(delta.get("text")) or ""})
        case "thought_summary":
            draft.add({"reasoning": _text(as_object(delta.get("content")))})
        case "thought_signature" | "thought":
            pass
        case "arguments_delta":
            written = delta.get("arguments", delta.get("partial_arguments"))
            draft.call(calls.setdefault(index, len(calls)), arguments=as_text(written) or "")
        case "function_call":
            number = calls.setdefault(index, len(calls))
            draft.call(number, delta.get("id"), delta.get("name"), delta.get("arguments") or {})
        case other:
            draft.note(no_place(other))


def _texts(step: JSONObject) -> list[str]:
    """Return the texts of a step, or of an output that is one itself."""
    parts: tuple[JSONObject, ...] = objects_in(step.get("content")) or (step,)
    return [text for part in parts if (text := _text(part))]


def _text(part: JSONObject) -> str:
    return as_text(part.get("text")) or ""


def _reason(status: str) -> str | None:
    return None if not status or status in _OPEN else _REASONS.get(status, status)


def _usage(value: JSONObject) -> Usage | None:
    usage = as_object(value.get("usage"))
    prompt, total = as_count(usage.get("total_input_tokens")), as_count(usage.get("total_tokens"))
    written = [as_count(usage.get(f"total_{name}_tokens")) for name in ("output", "thought")]
    known = [count for count in written if count is not None]
    return Usage(prompt, sum(known) if known else None, total) if any((prompt, *known)) else None


DIALECT = Dialect(_API, _is_answer, _read_answer, _is_event, _read_events)
