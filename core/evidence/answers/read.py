"""What a server answered, in any of the shapes in which people copy it → a `ChatResult`, or a raw output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Refusal
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.backends.error_words import words_of
from prompt_debugger.core.complete.chat_stream import ChatStreamReader
from prompt_debugger.core.complete.dialects import Answer, Dialect, dialect_of_answer, dialect_of_event
from prompt_debugger.core.evidence.answers.events import Events, events_of_objects, events_of_sse
from prompt_debugger.core.evidence.answers.native import objects_are_pieces, read_native, read_pieces
from prompt_debugger.core.evidence.answers.shapes import (
    Shaped,
    chunk_of_call,
    chunk_of_delta,
    chunks_of_deltas,
    is_chunk,
    shape_answer,
)
from prompt_debugger.core.evidence.errors.values import error_of_value
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of

_MIN_DELTAS = 3  # that are no messages of a conversation
_GATHERED = "The message was assembled from a stream."


def is_answer(value: JSON) -> bool:
    """Return whether a JSON value is a server's answer, or a part of one, in any of the APIs."""
    return _dialect_of(value) is not None or shape_answer(value) is not None or read_native(value) is not None


def _dialect_of(value: JSON) -> Dialect | None:
    """Return the dialect of an answer; a list may be the `output` of a response, or the `content` of a message."""
    return dialect_of_answer(_whole(value))


def _whole(value: JSON) -> JSON:
    if isinstance(value, dict) and _is_item(value):
        value = [value]
    if not isinstance(value, list):
        return value
    output: JSONObject = {"output": value}
    content: JSONObject = {"content": value}
    return next((one for one in (output, content) if dialect_of_answer(one) is not None), None)


def _is_item(value: JSONObject) -> bool:
    """Return whether an object is an item of the `output` of a response."""
    match value.get("type"):
        case "function_call":
            return isinstance(value.get("name"), str) and "arguments" in value
        case "custom_tool_call":
            return isinstance(value.get("name"), str) and isinstance(value.get("input"), str)
        case "message":
            parts = objects_in(value.get("content"))
            return bool(parts) and all(part.get("type") in ("output_text", "refusal") for part in parts)
        case _:
            return False


def is_event_list(values: Sequence[JSON]) -> bool:
    """Return whether JSON values are the events of one stream."""
    first = values[0] if values else None
    if are_call_deltas(values) or objects_are_pieces(values) or are_deltas_alone(values) or _are_choices(values):
        return True
    if dialect_of_event(first) is not None or is_chunk(first):
        others = values[1:20]
        is_of_chunks = is_chunk(first)
        return all(
            dialect_of_event(one) is not None or is_chunk(one) or is_error(one) or (is_of_chunks and _ends_chunks(one))
            for one in others
        )
    return False


def _are_choices(values: Sequence[JSON]) -> bool:
    """Return whether values are choices of chunks, each with a piece of a call: `{"delta": {"tool_calls": […]}}`."""
    chunks = [chunk_of_delta(value) for value in values[:20]]
    deltas = [as_object(as_object(value).get("delta")) for value in values[:20]]
    return bool(deltas) and None not in chunks and all(isinstance(delta.get("tool_calls"), list) for delta in deltas)


def are_deltas_alone(values: Sequence[JSON]) -> bool:
    """Return whether values are deltas of one message, without the chunks around them: the first names the role."""
    first, *others = values or [None]
    is_opened = isinstance(first, dict) and first.get("role") == "assistant" and not is_chunk(first)
    if not is_opened or len(others) < _MIN_DELTAS - 1 or any("role" in as_object(one) for one in others):
        return False
    return chunks_of_deltas([*values]) is not None


def _ends_chunks(value: JSON) -> bool:
    """Return whether a value is the last of a stream whose chunks someone shortened: a finish reason, or the usage."""
    held = as_object(value)
    if set(held) == {"usage"}:
        return isinstance(held["usage"], dict)
    choices = objects_in(held.get("choices"))
    return len(choices) == 1 and "finish_reason" in choices[0] and not choices[0].keys() - {"finish_reason", "index"}


def are_call_deltas(values: Sequence[JSON]) -> bool:
    """Return whether values are bare deltas of calls; later ones continue a call by its index."""
    chunks = [_chunk_of(value) for value in values[:20]]
    if len(values) < 2 or is_chunk(values[0]) or not all(chunk is not None for chunk in chunks):
        return False
    calls = [call for chunk in chunks for call in objects_in(_delta_in(chunk).get("tool_calls"))]
    goes_on = any(not as_text(as_object(call.get("function")).get("name")) for call in calls)
    return goes_on and all(as_count(call.get("index")) is not None for call in calls)


def _chunk_of(value: JSON) -> JSONObject | None:
    """Return a delta of a message, or of a call alone, as an event."""
    return chunk_of_delta(value) or (chunk_of_call(value) if isinstance(value, dict) else None)


def _delta_in(chunk: JSONObject | None) -> JSONObject:
    choices = objects_in(as_object(chunk).get("choices"))
    return as_object(choices[0].get("delta")) if choices else {}


def _as_chunks(objects: list[JSONObject]) -> list[JSONObject]:
    is_of_deltas = are_call_deltas(objects) or are_deltas_alone(objects) or _are_choices(objects)
    return [_chunk_of(one) or one for one in objects] if is_of_deltas else objects


def read_answer(value: JSON) -> Answer:
    """Read an answer as a JSON value or as the text that came over the wire.

    Raises:
        RequestError: It is none that is known.
    """
    if isinstance(value, str):
        return _answer_of_text(value)
    if isinstance(value, list) and (events := events_in_list(value)) is not None:
        return _read_events(events, json.dumps(value, ensure_ascii=False))
    dialect, whole = _dialect_of(value), _whole(value)
    if dialect is not None and isinstance(whole, dict):
        return dialect.read_answer(whole)
    shaped = shape_answer(value)
    if shaped is not None:
        return _read_chat(shaped)
    if (native := read_native(value)) is not None:
        return native
    if isinstance(value, dict) and is_error(value):
        return Answer(error=refusal_of(value), words="an error instead of an answer")
    raise RequestError(
        f"This is not a response of a known form: {_describe(value)}.",
        "Expected an object with `choices`, `content`, `candidates`, `output` or `message`, or an `error`.",
    )


def events_in_list(values: list[JSON]) -> Events | None:
    """Return the events of a stream that was pasted as one list; `None` if it is another list."""
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) == len(values) and is_event_list(values):
        return events_of_objects(_as_chunks(objects))
    chunks = chunks_of_deltas(values)
    return None if chunks is None else events_of_objects(chunks)


def lines_of_events(events: Iterable[JSONObject]) -> str:
    """Return events as the transcript of a stream, one JSON object a line."""
    return "\n".join(json.dumps(event, ensure_ascii=False) for event in events)


def read_stream(text: str) -> Answer:
    """Read the transcript of a stream: server-sent events, one JSON object a line, or one list of events.

    Raises:
        RequestError: It is a stream of another API, or contains no event.
    """
    value = json_of(text)
    if value is None and text.lstrip().startswith("{'") and (printed := lenient_json_of(text)) is not None:
        value = printed[0]
    if isinstance(value, list) and (listed := events_in_list(value)) is not None:
        return _read_events(listed, text)
    if isinstance(value, dict) and (is_event_list([value]) or chunk_of_delta(value) is not None):
        return _read_events(events_of_objects([chunk_of_delta(value) or value]), text)
    if lines := json_lines(text):
        read = [json_of(line) for line in lines]
        whole = [one for one in read if isinstance(one, dict)]
        answer = _read_events(events_of_objects(_as_chunks(whole)), text)
        if len(whole) < len(read):
            note = f"{len(read) - len(whole)} of {len(read):,} lines are not JSON objects and were left out."
            return answer._replace(notes=(*answer.notes, note))
        return answer
    return _read_events(events_of_sse(text), text)


def refusal_of(value: JSONObject) -> Refusal:
    """Return an error that came in place of an answer."""
    return error_of_value(value) or Refusal(None, words_of(value) or shorten(value, 400))


def is_error(value: JSON) -> bool:
    """Return whether a JSON value is an error that a server answered with; not the form of one, with dots for words."""
    if not isinstance(value, dict):
        return False
    words = as_object(value.get("error")).get("message")
    if isinstance(words, str) and words and not words.strip("\u2026. "):
        return False
    return bool(value.get("error")) or value.get("type") == "error"


def _describe(value: JSON) -> str:
    if not isinstance(value, dict):
        return f"it is {shorten(value)}"
    names = ", ".join(f"`{name[:40]}`" for name in list(value)[:12])
    return f"it has {names}" if names else "it is an empty object"


def _answer_of_text(text: str) -> Answer:
    start = text.lstrip()
    if start.startswith(("data:", "event:", ":")):
        return read_stream(text)
    value = json_of(text)
    if value is not None and not isinstance(value, str):
        return read_answer(value)
    lines = json_lines(text)
    if lines and is_event_list([json_of(line) for line in lines[:20]]):
        return read_stream(text)
    return Answer(raw=text)


def _read_events(found: Events, body: str) -> Answer:
    """Read the events of a stream, of whichever API they are.

    Raises:
        RequestError: They are of an API that is not known, or there is none.
    """
    dialect = next((one for value in found.objects[:50] if (one := dialect_of_event(value)) is not None), None)
    if dialect is not None:
        answer = dialect.read_events(found.objects, body)
    elif any(isinstance(value.get("choices"), list) for value in found.objects) or _is_end_alone(found):
        answer = _chat_stream(found, body)
    elif (native := read_pieces(found.objects)) is not None:
        answer = native
    elif any(is_error(value) for value in found.objects):
        answer = _only_error(found, body)
    else:
        raise _unknown_stream(found)
    return answer._replace(notes=(*found.notes, *answer.notes))


def _is_end_alone(found: Events) -> bool:
    """Return whether a stream has an end and nothing before it."""
    return bool(found.events) and all(event.data.strip() == "[DONE]" for event in found.events)


def _chat_stream(found: Events, body: str) -> Answer:
    texts = [piece for chunk in found.objects for piece in _texts_of(chunk)]
    if texts:
        reasons = [reason for chunk in found.objects if (reason := _reason_of(chunk)) is not None]
        return Answer(
            raw="".join(texts),
            finish_reason=reasons[-1] if reasons else None,
            notes=("The raw output was assembled from a stream of completions.",),
            words="a stream of plain completions",
        )
    reader = ChatStreamReader()
    for event in found.events:
        reader.feed(event, 0.0)
    chat, legacy = _add_legacy_call(reader.finish(body, 0.0))
    notes = [_GATHERED, *legacy]
    choices = [one for chunk in found.objects for one in objects_in(chunk.get("choices"))]
    indexes = {index for one in choices if (index := as_count(one.get("index")))}
    if indexes:
        notes.append(f"Only the first of {len(indexes) + 1} streamed answers was read.")
    return Answer(chat, chat, finish_reason=chat.finish_reason, notes=tuple(notes), words="a streamed response")


def _add_legacy_call(chat: ChatResult) -> tuple[ChatResult, tuple[str, ...]]:
    """Return an answer whose `function_call`, the form before `tool_calls`, is among its calls, and say so."""
    legacy, reason = chat.message.get("function_call"), chat.finish_reason
    if not isinstance(legacy, dict) or not legacy or chat.message.get("tool_calls"):
        return chat, ()
    if not any(legacy.get(name) for name in ("name", "arguments")):  # a gateway's blank for what the model did not do
        return replace(chat, message={key: value for key, value in chat.message.items() if key != "function_call"}), ()
    calls: list[JSON] = [{"type": "function", "function": legacy}]
    reason = "tool_calls" if reason == "function_call" else reason
    note = "The answer has `function_call`, the older form of `tool_calls`: it was read as one call without an id."
    return replace(chat, message={**chat.message, "tool_calls": calls}, finish_reason=reason), (note,)


def _only_error(found: Events, body: str) -> Answer:
    """Read a stream that contains an error and nothing else."""
    refusal = refusal_of(next(value for value in found.objects if is_error(value)))
    stream = ChatResult({}, None, body=body, error=f"the server reported an error: {refusal.message}")
    return Answer(None, stream, error=refusal, words="a stream that contains an error and no answer")


def _unknown_stream(found: Events) -> RequestError:
    kinds = sorted({str(value["type"])[:40] for value in found.objects if "type" in value})[:3]
    if kinds:
        problem = f"its events belong to an unknown API: {', '.join(kinds)}"
    elif found.events:
        problem = "none of its events contains `choices`"
    else:
        problem = "it contains no event"
    apis = "chat completions, plain completions, Responses, Messages, Gemini, Converse, Cohere or Ollama"
    return RequestError(f"The stream cannot be read: {problem}.", f"Paste a stream of {apis}.")


def _texts_of(chunk: JSONObject) -> list[str]:
    first = _first_choice_of(chunk)
    text = first.get("text")
    return [text] if isinstance(text, str) else []


def _reason_of(chunk: JSONObject) -> str | None:
    return as_text(_first_choice_of(chunk).get("finish_reason"))


def _first_choice_of(chunk: JSONObject) -> JSONObject:
    choices = objects_in(chunk.get("choices"))
    return choices[0] if choices else {}


def _read_chat(shaped: Shaped) -> Answer:
    choices = shaped.value["choices"]
    count = len(choices) if isinstance(choices, list) else 0
    notes = (*shaped.notes, *((f"Only the first of {count} answers was read.",) if count > 1 else ()))
    first = _first_choice_of(shaped.value)
    if isinstance(first.get("text"), str) and "message" not in first:
        reason = as_text(first.get("finish_reason"))
        words = "an answer of plain completions"
        return Answer(raw=str(first["text"]), finish_reason=reason, notes=notes, words=words)
    if "delta" in first and "message" not in first:
        return _read_events(events_of_objects([shaped.value]), json.dumps(shaped.value, ensure_ascii=False))
    body = json.dumps(shaped.value, ensure_ascii=False) if shaped.is_whole else ""
    chat, legacy = _add_legacy_call(read_chat(shaped.value, body, 0.0))
    notes = (*notes, *legacy)
    if chat.error is not None and not chat.message and is_error(shaped.value):
        return Answer(error=refusal_of(shaped.value), words="an error instead of an answer")
    if not shaped.is_whole:
        chat = replace(chat, elapsed_s=None)
    return Answer(chat=chat, finish_reason=chat.finish_reason, notes=notes, words=shaped.words)
