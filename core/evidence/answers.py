"""What a server answered, in any of the shapes in which people copy it → a `ChatResult`, or a raw output."""

from __future__ import annotations

import json
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.backends.sse import SseParser
from prompt_debugger.core.complete.chat_stream import ChatStreamReader
from prompt_debugger.core.evidence.json_of import json_of


class Answer(NamedTuple):
    """What was read: a message or a raw output, and what was left out on the way."""

    chat: ChatResult | None = None
    stream: ChatResult | None = None
    raw: str | None = None
    finish_reason: str | None = None
    notes: tuple[str, ...] = ()


def read_answer(value: JSON) -> Answer:
    """Read an answer as a JSON value or as the text that came over the wire.

    Raises:
        RequestError: It is none that is known.
    """
    if isinstance(value, str):
        return _answer_of_text(value)
    if not isinstance(value, dict):
        raise RequestError("The answer is no object.", "Paste the whole body that the server sent.")
    choices = value.get("choices")
    if isinstance(choices, list):
        return _first_choice(value, choices)
    if isinstance(value.get("output"), list):
        return _responses_answer(value)
    if isinstance(value.get("content"), list) and value.get("type") == "message":
        return _anthropic_answer(value)
    return _of_message(value, None)


def read_stream(text: str) -> Answer:
    """Read the transcript of a stream of chat completion chunks, or of plain completion chunks.

    Raises:
        RequestError: It is a stream of another API, or holds no event.
    """
    parser, reader = SseParser(), ChatStreamReader()
    events = (*parser.feed(text.encode("utf-8", "replace")), *parser.finish())
    chunks = [chunk for event in events if isinstance(chunk := json_of(event.data), dict)]
    if not any(isinstance(chunk.get("choices"), list) for chunk in chunks):
        kinds = sorted({str(chunk["type"])[:40] for chunk in chunks if "type" in chunk})[:3]
        what = f"its events are of another API: {', '.join(kinds)}" if kinds else "it holds no chunk with `choices`"
        raise RequestError(f"The stream cannot be read: {what}.", "Paste the stream of /v1/chat/completions.")
    texts = [piece for chunk in chunks for piece in _texts_of(chunk)]
    if texts:
        return Answer(raw="".join(texts), notes=("The raw output was put together from a stream of completions.",))
    for event in events:
        reader.feed(event, 0.0)
    chat = reader.finish(text, 0.0)
    return Answer(
        chat=chat, stream=chat, finish_reason=chat.finish_reason, notes=("The message was put together from a stream.",)
    )


def _answer_of_text(text: str) -> Answer:
    start = text.lstrip()
    if start.startswith(("data:", "event:", ":")):
        return read_stream(text)
    value = json_of(text)
    return Answer(raw=text) if value is None or isinstance(value, str) else read_answer(value)


def _texts_of(chunk: JSONObject) -> list[str]:
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    text = first.get("text") if isinstance(first, dict) else None
    return [text] if isinstance(text, str) else []


def _first_choice(value: JSONObject, choices: list[JSON]) -> Answer:
    first = choices[0] if choices else None
    more = (f"Only the first of {len(choices)} answers was read.",) if len(choices) > 1 else ()
    if isinstance(first, dict) and isinstance(first.get("text"), str) and "message" not in first:
        reason = first.get("finish_reason")
        return Answer(raw=str(first["text"]), finish_reason=reason if isinstance(reason, str) else None, notes=more)
    chat = read_chat(value, "", 0.0)
    if chat.error is not None and not chat.message:
        raise RequestError(f"The response holds no message: {chat.error}.", "Paste the whole body of the response.")
    return Answer(chat=chat, finish_reason=chat.finish_reason, notes=more)


def _of_message(message: JSONObject, reason: str | None, notes: tuple[str, ...] = ()) -> Answer:
    return Answer(chat=ChatResult(message, reason), finish_reason=reason, notes=notes)


def _responses_answer(value: JSONObject) -> Answer:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[JSON] = []
    lost: list[str] = []
    for item in _objects(value["output"]):
        match item.get("type"):
            case "message":
                texts += [str(part.get("text", "")) for part in _objects(item.get("content"))]
            case "function_call":
                calls.append(_call(item.get("call_id"), item.get("name"), str(item.get("arguments", ""))))
            case "reasoning":
                parts = (*_objects(item.get("content")), *_objects(item.get("summary")))
                reasoning += [str(part.get("text", "")) for part in parts]
            case other:
                lost.append(f"An item of type `{str(other)[:40]}` of the response has no place in a message.")
    message = _message("".join(texts), "\n".join(reasoning), calls)
    return _of_message(message, None, ("A response of OpenAI's Responses was read as a message.", *lost))


def _anthropic_answer(value: JSONObject) -> Answer:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[JSON] = []
    for block in _objects(value["content"]):
        match block.get("type"):
            case "text":
                texts.append(str(block.get("text", "")))
            case "thinking":
                reasoning.append(str(block.get("thinking", "")))
            case "tool_use":
                calls.append(_call(block.get("id"), block.get("name"), json.dumps(block.get("input", {}))))
            case _:
                pass
    reasons = {"tool_use": "tool_calls", "max_tokens": "length", "end_turn": "stop", "stop_sequence": "stop"}
    reason = reasons.get(str(value.get("stop_reason")))
    message = _message("".join(texts), "\n".join(reasoning), calls)
    return _of_message(message, reason, ("A message of Anthropic's API was read as one of chat completions.",))


def _message(text: str, reasoning: str, calls: list[JSON]) -> JSONObject:
    message: JSONObject = {"role": "assistant", "content": text or None}
    if reasoning:
        message["reasoning"] = reasoning
    return {**message, "tool_calls": calls} if calls else message


def _call(call_id: JSON, name: JSON, arguments: str) -> JSON:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _objects(value: JSON) -> list[JSONObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
