r"""Answers of OpenAI's Responses API, whole or streamed.

    {"object": "response", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
     "output": [{"type": "reasoning", …}, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"}]}
    event: response.function_call_arguments.delta
    data: {"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "fc_1", "delta": "{\"a\""}

vLLM's answers with `enable_response_messages` show, besides the message, the prompt and the text that the model
wrote, with their ids.

Source: https://platform.openai.com/docs/api-reference/responses, as of 2026-10; vLLM 0.32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.comparable import OTHER_ITEM, UNFINISHED
from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Usage
from prompt_debugger.core.base.wire import name_in
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, of_message
from prompt_debugger.core.complete.shapes import ids_of

_API = "OpenAI's Responses API"
_ITEMS = frozenset({"message", "function_call", "custom_tool_call", "reasoning"})
_WHOLE = {  # events that end a text, and the field that has all of it
    "response.output_text.done": "text",
    "response.reasoning_text.done": "text",
    "response.function_call_arguments.done": "arguments",
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _is_answer(value: JSONObject) -> bool:
    output = value.get("output")
    if not isinstance(output, list) or "choices" in value:
        return False
    if value.get("object") == "response":
        return True
    items = objects_in(output)
    known = [
        item for item in items if as_text(item.get("type")) in _ITEMS and item.get("role", "assistant") == "assistant"
    ]
    return bool(items) and len(known) == len(items) == len(output)


def _read_answer(value: JSONObject) -> Answer:
    draft = MessageDraft()
    for item in objects_in(value["output"]):
        _take_item(item, draft)
    is_whole = "status" in value
    if (status := value.get("status")) in ("queued", "in_progress"):
        draft.note(f"The response has the status `{status}`: {UNFINISHED}")
        is_whole = False
    error = as_object(value.get("error"))
    answer = of_message(
        _API,
        draft.message(),
        _reason(value, has_calls=bool(draft.calls)),
        whole=value if is_whole else None,
        usage=_usage(value.get("usage")),
        error=None
        if not any(error.values())
        else f"the server reported an error: {as_text(error.get('message')) or shorten(error)}",
        notes=draft.notes,
    )
    return _add_messages(answer, value)


def _take_item(item: JSONObject, draft: MessageDraft) -> None:
    match item.get("type"):
        case "message":
            for part in objects_in(item.get("content")):
                draft.texts.append(as_text(part.get("text")) or "")
                draft.refusals += [refusal] if (refusal := as_text(part.get("refusal"))) else []
        case "function_call":
            draft.call(item.get("call_id") or item.get("id"), _name(item), item.get("arguments", ""))
        case "custom_tool_call":  # its text is shown to the model, and written by it, as one argument
            draft.call(item.get("call_id") or item.get("id"), item.get("name"), {"input": item.get("input", "")})
        case "reasoning":
            parts = (*objects_in(item.get("content")), *objects_in(item.get("summary")))
            draft.reasoning += [as_text(part.get("text")) or "" for part in parts]
        case other:
            draft.note(f"{OTHER_ITEM} `{str(other)[:40]}` of the response does not exist in chat messages.")


def _name(item: JSONObject) -> JSON:
    """Return the name that a model writes to call a function; one of a namespace is returned in two fields."""
    return name_in(item.get("namespace"), item.get("name"))


def _reason(value: JSONObject, *, has_calls: bool) -> str | None:
    match value.get("status"):
        case "completed":
            return "tool_calls" if has_calls else "stop"
        case "incomplete":
            why = as_text(as_object(value.get("incomplete_details")).get("reason")) or "incomplete"
            return "length" if why == "max_output_tokens" else why
        case "queued" | "in_progress":
            return None  # it is not finished, as a note says
        case "failed" if value.get("error"):
            return None  # the error says how it ended
        case str(other):
            return other
        case _:
            return None


def _add_messages(answer: Answer, value: JSONObject) -> Answer:
    """Add the prompt and the raw output of this very run, where vLLM shows them."""
    written, asked = (objects_in(value.get(name)) for name in ("output_messages", "input_messages"))
    if not written or not all(item.get("type") == "raw_message_tokens" for item in written):
        return answer
    return answer._replace(
        raw="".join(as_text(item.get("message")) or "" for item in written),
        token_ids=_joined_ids(written),
        prompt="".join(as_text(item.get("message")) or "" for item in asked) or None,
        prompt_ids=_joined_ids(asked),
    )


def _joined_ids(items: Sequence[JSONObject]) -> tuple[int, ...] | None:
    ids = [ids_of(item.get("tokens")) for item in items]
    known = [one for one in ids if one is not None]
    return tuple(number for one in known for number in one) if items and len(known) == len(items) else None


def _is_event(value: JSONObject) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind.startswith("response.") and kind.count(".") <= 4


@dataclass(slots=True)
class _Stream:
    draft: StreamDraft = field(default_factory=StreamDraft)
    calls: dict[str, int] = field(default_factory=dict)
    with_arguments: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    last: JSONObject | None = None


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    stream = _Stream()
    is_begun = any(event.get("type") in ("response.created", "response.in_progress") for event in events)
    for event in events if is_begun else _complete(events):
        _take(event, stream)
    last, draft = stream.last, stream.draft
    if last is not None:
        draft.add({}, _reason(last, has_calls=bool(stream.calls)))
        draft.usage = _usage(last.get("usage"))
        if error := as_object(last.get("error")):
            draft.fail(f"the server reported an error: {as_text(error.get('message')) or shorten(error)}")
    begin = "" if is_begun else "`response.created`"
    answer = draft.answer(_API, body, is_ended=last is not None, end="`response.completed`", begin=begin)
    return answer if last is None else _add_messages(answer, last)


def _complete(events: Sequence[JSONObject]) -> list[JSONObject]:
    """Return events with what came before the first piece of a text, where its last event has the text whole."""
    completed = list(events)
    pieces: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(events):
        if isinstance(one.get("delta"), str):
            pieces.setdefault((str(one.get("type")), _place(one)), []).append(number)
    for done in events:
        kind = str(done.get("type"))
        whole = as_text(done.get(_WHOLE[kind])) if kind in _WHOLE else None
        numbers = pieces.pop((f"{kind.removesuffix('.done')}.delta", _place(done)), []) if whole else []
        shown = "".join(str(events[number]["delta"]) for number in numbers)
        if numbers and whole and len(shown) < len(whole) and whole.endswith(shown):
            first = events[numbers[0]]
            completed[numbers[0]] = {**first, "delta": whole[: len(whole) - len(shown)] + str(first["delta"])}
    return completed


def _take(event: JSONObject, stream: _Stream) -> None:
    kind, draft = str(event.get("type")), stream.draft
    place = _place(event)
    match kind:
        case "response.output_text.delta":
            stream.texts.add(place)
            draft.add({"content": as_text(event.get("delta")) or ""})
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            stream.texts.add(place)
            draft.add({"reasoning": as_text(event.get("delta")) or ""})
        case "response.function_call_arguments.delta":
            stream.with_arguments.add(place)
            draft.call(_call_at(place, stream), arguments=as_text(event.get("delta")) or "")
        case "response.output_item.added":
            _begin(as_object(event.get("item")), place, stream)
        case "response.output_item.done":
            _end(as_object(event.get("item")), place, stream)
        case "error" | "response.error":
            message = as_text(event.get("message")) or as_text(as_object(event.get("error")).get("message"))
            draft.fail(f"the server reported an error: {message or shorten(event)}")
        case _ if kind in _ENDS:
            stream.last = as_object(event.get("response"))
        case _:
            pass


def _place(event: JSONObject) -> str:
    """Return what tells the items of a stream apart: their number in the output, else their id."""
    index = as_count(event.get("output_index"))
    return str(event.get("item_id") or as_object(event.get("item")).get("id")) if index is None else str(index)


def _call_at(place: str, stream: _Stream) -> int:
    return stream.calls.setdefault(place, len(stream.calls))


def _begin(item: JSONObject, place: str, stream: _Stream) -> None:
    if item.get("type") == "function_call":
        arguments = as_text(item.get("arguments")) or ""
        if arguments:
            stream.with_arguments.add(place)
        call_id = item.get("call_id") or item.get("id")
        stream.draft.call(_call_at(place, stream), call_id, _name(item), arguments)


def _end(item: JSONObject, place: str, stream: _Stream) -> None:
    """Take from a whole item what no delta gave."""
    if item.get("type") == "function_call":
        if place not in stream.calls:
            _begin(item, place, stream)
        elif place not in stream.with_arguments:
            stream.draft.call(_call_at(place, stream), arguments=as_text(item.get("arguments")) or "")
    elif item.get("type") == "custom_tool_call":
        call_id, at = item.get("call_id") or item.get("id"), _call_at(place, stream)
        stream.draft.call(at, call_id, item.get("name"), {"input": item.get("input", "")})
    elif place not in stream.texts:
        whole = MessageDraft()
        _take_item(item, whole)
        message = whole.message()
        for note in whole.notes:
            stream.draft.note(note)
        delta: JSONObject = {name: text for name in ("content", "reasoning", "refusal") if (text := message.get(name))}
        if delta:
            stream.draft.add(delta)


def _usage(value: JSON) -> Usage | None:
    usage = as_object(value)
    counts = [as_count(usage.get(name)) for name in ("input_tokens", "output_tokens", "total_tokens")]
    return Usage(*counts) if any(counts) else None


DIALECT = Dialect(_API, _is_answer, _read_answer, _is_event, _read_events, Api.RESPONSES)
