"""Shapes in which people hold an answer of chat completions: whole, flattened, a message, a list of calls or deltas.

Each is made a whole answer again, and what was supposed for that is said. Nothing is guessed: where a part is not
there, it is not there in the answer, and `is_whole` is false, so that its absence proves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_count, as_object, begins_as_object, objects_in, text_or_json
from prompt_debugger.core.base.types import JSON, JSONObject

_DELTA_FIELDS = frozenset(
    {"role", "content", "tool_calls", "reasoning", "reasoning_content", "function_call", "refusal", "audio"}
)
_AROUND_DELTA = frozenset({"delta", "index", "finish_reason", "logprobs", "stop_reason"})
_AROUND_CHOICES = frozenset({"id", "object", "created", "usage"})
_OF_CALL = frozenset({"index", "id", "type", "function"})
_OF_MESSAGE = ("content", "tool_calls", "reasoning", "reasoning_content", "function_call")
_FUNCTION = frozenset({"name", "arguments"})
_AROUND_FUNCTION = frozenset({"id", "type", "index"})
_STORED_ID = "_id"  # where a database keeps the id of a call
_MAX_LOOKED_AT = 50
_ID_OF_CALL = re.compile(
    r"(?:call|toolu|tooluse|chatcmpl-tool|fc|functions\.\w{1,64}:\d)(?![a-z])"
)  # as servers give them


class Shaped(NamedTuple):
    """An answer as one of chat completions.

    Attributes:
        value: With `choices`.
        words: What it was, for a person.
        notes: What was supposed, a sentence each.
        is_whole: Whether it is all that a server sends.
    """

    value: JSONObject
    words: str
    notes: tuple[str, ...] = ()
    is_whole: bool = True


_WRAPPERS = ("value", "rawValue", "chunk", "event", "data")  # of an event that was parsed


def shape_answer(value: JSON) -> Shaped | None:
    """Return a JSON value as an answer of chat completions; `None` if it does not look like one."""
    if isinstance(value, list):
        lone = value[0] if len(value) == 1 else None
        generation = _first_generation(lone) if isinstance(lone, dict) else None
        if value and all(map(_is_choice, value)):
            return Shaped({"choices": value}, "the choices of a chat response", is_whole=False)
        return _read_calls(value) if generation is None else _read_generation(generation)
    if not isinstance(value, dict):
        return None
    choices = value.get("choices")
    if isinstance(choices, list):
        is_of_question = bool(choices) and not objects_in(choices) and not _AROUND_CHOICES & value.keys()
        return None if is_of_question else _read_choices(value, choices)
    if (made := _read_other_form(value)) is not None:
        return made
    if isinstance(choices, dict):
        note = "`choices` is an object where the protocol requires a list; it was read as the only choice."
        made = _read_choices({**value, "choices": [choices]}, [choices])
        return made._replace(notes=(note, *made.notes), is_whole=False)
    if call_of_framework(value) is not None:
        return _read_calls([value])
    if "messages" in value or "input" in value or "done" in value:
        return None
    return _read_llama_cpp(value) or _read_part(value)


def _is_choice(value: JSON) -> bool:
    """Return whether a value is one of the `choices` of an answer: a message, and what else a choice has."""
    choice = as_object(value)
    return (
        isinstance(choice.get("message"), dict)
        and "finish_reason" in choice
        and _is_message(as_object(choice["message"]))
    )


def _read_part(value: JSONObject) -> Shaped | None:
    """Return a choice, a message or a call alone as an answer; `None` if a value is none of them."""
    message = value.get("message")
    if isinstance(message, dict) and _is_message(message):
        wrapped = _wrapped_calls(message)
        value = value if wrapped is None else {**value, "message": {**message, "tool_calls": wrapped}}
        return Shaped({"choices": [value]}, "a choice of a chat response", (), is_whole=False)
    if _is_message(value):
        return _read_message(value)
    if _is_call(value) or is_called_function(value):
        return _read_calls([value])
    return None


def _read_other_form(value: JSONObject) -> Shaped | None:
    """Return an answer in a form that is not of chat completions, and that only needs other names."""
    if (generation := _first_generation(value)) is not None:
        return _read_generation(generation)
    held = _workers_ai(value)
    return None if held is None else _read_workers_ai(held)


def _read_llama_cpp(value: JSONObject) -> Shaped | None:
    """Return an answer of llama.cpp's own `/completion` as one of plain completions; `None` for anything else."""
    if not isinstance(value.get("content"), str) or not isinstance(value.get("tokens_predicted"), int):
        return None
    choice: JSONObject = {"index": 0, "text": value["content"]}
    ended = value.get("stop_type", "limit" if value.get("stopped_limit") is True else None)
    if value.get("stop") is True and isinstance(ended, str) and ended != "none":
        choice["finish_reason"] = "length" if ended == "limit" else "stop"
    usage: JSONObject = {"completion_tokens": value["tokens_predicted"]}
    if isinstance(value.get("tokens_evaluated"), int):
        usage["prompt_tokens"] = value["tokens_evaluated"]
    return Shaped({"object": "text_completion", "choices": [choice], "usage": usage}, "an answer of llama.cpp")


def _first_generation(value: JSONObject) -> JSONObject | None:
    """Return the first of LangChain's `generations`, which n8n puts below `response`; `None` where there is none."""
    found = as_object(value.get("response")).get("generations", value.get("generations"))
    first = found[0] if isinstance(found, list) and found else None
    first = first[0] if isinstance(first, list) and first else first
    return first if isinstance(first, dict) and isinstance(first.get("text"), str) else None


def _read_generation(value: JSONObject) -> Shaped:
    info = as_object(value.get("generationInfo", value.get("generation_info")))
    choice: JSONObject = {"message": {"role": "assistant", "content": value["text"]}}
    if isinstance(info.get("finish_reason"), str):
        choice["finish_reason"] = info["finish_reason"]
    model = info.get("model_name")
    whole: JSONObject = {"choices": [choice], **({"model": model} if isinstance(model, str) else {})}
    return Shaped(whole, "a generation of LangChain", is_whole=False)


def _workers_ai(value: JSONObject) -> JSONObject | None:
    """Return what Cloudflare's Workers AI answers in its own form, wrapped by its API or as a worker gets it."""
    is_wrapped = isinstance(value.get("result"), dict) and isinstance(value.get("success"), bool)
    held = as_object(value["result"]) if is_wrapped else value
    calls = objects_in(held.get("tool_calls"))
    is_named = bool(calls) and all(isinstance(one.get("name"), str) and "arguments" in one for one in calls)
    is_text = isinstance(held.get("response"), str) and (is_wrapped or is_named)
    is_known = "response" in held and "done" not in held and (is_text or is_named)
    return held if is_known and isinstance(held["response"], str | None) else None


def _read_workers_ai(held: JSONObject) -> Shaped:
    calls: list[JSON] = []
    for one in objects_in(held.get("tool_calls")):
        given = one.get("arguments")
        arguments = text_or_json(given)
        calls.append({"type": "function", "function": {"name": one.get("name"), "arguments": arguments}})
    message: JSONObject = {"role": "assistant", "content": held["response"]}
    if calls:
        message["tool_calls"] = calls
    notes = ("Arguments are objects in that API; they are shown as JSON text.",) if calls else ()
    usage: JSONObject = {"usage": held["usage"]} if "usage" in held else {}
    return Shaped({"choices": [{"message": message}], **usage}, "an answer of Workers AI", notes, is_whole=False)


def _read_choices(value: JSONObject, choices: list[JSON]) -> Shaped:
    first = choices[0] if choices else None
    has_none = isinstance(first, dict) and not {"message", "delta", "text"} & first.keys()
    if isinstance(first, dict) and has_none and any(name in first for name in _OF_MESSAGE):
        note = "The first choice has no `message`; its own fields were read as the message."
        choice: JSONObject = {**first, "message": first}
        return Shaped({**value, "choices": [choice]}, "a chat response", (note,), is_whole=False)
    is_shortened = isinstance(first, dict) and "finish_reason" not in first and not _AROUND_CHOICES & value.keys()
    return Shaped(value, "a chat response", is_whole=not is_shortened)


_OF_OLLAMA = "Arguments are objects in Ollama's API, whose calls have neither `id` nor `type`; they are shown as text."


def _encoded(calls: Sequence[JSONObject]) -> tuple[list[JSONObject], tuple[str, ...]]:
    """Return calls with the arguments of those in Ollama's form as text, and what is to be said of that."""
    made = [_encoded_call(call) for call in calls]
    return made, (_OF_OLLAMA,) if made != [*calls] else ()


def _encoded_call(call: JSONObject) -> JSONObject:
    function = as_object(call.get("function"))
    if call.get("id") is not None or "type" in call or not isinstance(function.get("arguments"), dict):
        return call
    text = json.dumps(function["arguments"], ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _wrapped_calls(message: JSONObject) -> list[JSON] | None:
    """Return calls that spans of OpenInference keep as `{"tool_call": {…}}` each; `None` of any others."""
    calls = objects_in(message.get("tool_calls"))
    held = [as_object(call.get("tool_call")) for call in calls]
    is_wrapped = bool(calls) and all([*call] == ["tool_call"] for call in calls) and all(map(_is_call, held))
    return list[JSON](held) if is_wrapped else None


def _read_message(message: JSONObject) -> Shaped:
    wrapped = _wrapped_calls(message)
    message = message if wrapped is None else {**message, "tool_calls": wrapped}
    choice: JSONObject = {"message": {name: item for name, item in message.items() if name != "finish_reason"}}
    calls, notes = _encoded(objects_in(message.get("tool_calls")))
    if notes:
        as_object(choice["message"])["tool_calls"] = list[JSON](calls)
    if "finish_reason" in message:
        choice["finish_reason"] = message["finish_reason"]
    words = "a message" if message.get("role") == "assistant" else "a message without its `role`"
    return Shaped({"choices": [choice]}, words, notes, is_whole=False)


def _read_calls(value: list[JSON]) -> Shaped | None:
    calls = tuple(call_of_framework(one) or one for one in objects_in(value))
    if calls and len(calls) == len(value) and are_called_functions(calls):
        calls = tuple(_read_function(call) for call in calls)
    elif not calls or len(calls) < len(value) or not all(_is_call(call) for call in calls[:_MAX_LOOKED_AT]):
        return None
    listed, notes = _encoded(calls)
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": list[JSON](listed)}
    words = "a tool call of a message" if len(calls) == 1 else "tool calls of a message"
    return Shaped({"choices": [{"message": message}]}, words, notes, is_whole=False)


def call_of_framework(value: JSONObject) -> JSONObject | None:
    """Return a call of LangChain, Anthropic (`tool_use`) or Vercel's AI SDK (`tool-call`); `None` if it is none."""
    match value.get("type"):
        case "tool_use":
            name, call_id = value.get("name"), value.get("id")
            arguments = value.get("input") or value.get("input_json", value.get("input"))  # as a client joined it
        case "tool-call":
            name, call_id = value.get("toolName"), value.get("toolCallId")
            arguments = value.get("input", value.get("args"))
        case _:
            return call_of_langchain(value)
    if not isinstance(name, str) or not isinstance(arguments, dict | str):
        return None
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text_or_json(arguments)}}


def call_of_langchain(value: JSONObject) -> JSONObject | None:
    """Return an entry of `tool_calls` or `invalid_tool_calls` of a message of LangChain; `None` if it is none."""
    arguments = value.get("args")
    if value.get("type") not in ("tool_call", "invalid_tool_call") or not isinstance(value.get("name"), str):
        return None
    text = text_or_json(arguments)
    return {"id": value.get("id"), "type": "function", "function": {"name": value["name"], "arguments": text}}


def _is_call(value: JSONObject) -> bool:
    """Return whether an object is a tool call of a message: a function that was called, not one that is declared."""
    function = as_object(value.get("function"))
    return isinstance(function.get("name"), str) and "arguments" in function and "parameters" not in function


def is_called_function(value: JSONObject) -> bool:
    """Return whether an object is what a call holds as its `function`: arguments as a text, as servers send them.

    A model that writes a call in bare JSON writes its arguments as an object. Names with words are no proof of a call:
    it has an id as calls have, or the type of one, or its arguments are empty or begin as JSON that was encoded.
    """
    return _may_be_function(value) and _is_proven(value)


def are_called_functions(values: Sequence[JSONObject]) -> bool:
    """Return whether objects of one list are such calls: what proves it of one, does so of those beside it."""
    looked_at = values[:_MAX_LOOKED_AT]
    return all(map(_may_be_function, looked_at)) and any(map(_is_proven, looked_at))


def _may_be_function(value: JSONObject) -> bool:
    return (
        isinstance(value.get("name"), str)
        and isinstance(value.get("arguments"), str)
        and not value.keys() - (_FUNCTION | _AROUND_FUNCTION | {_STORED_ID})
    )


def _is_proven(value: JSONObject) -> bool:
    given = value.get("id", value.get(_STORED_ID))
    has_id = isinstance(given, str) and _ID_OF_CALL.match(given) is not None
    return has_id or value.get("type") == "function" or begins_as_object(value.get("arguments"))


def _read_function(value: JSONObject) -> JSONObject:
    around: JSONObject = {name: item for name, item in value.items() if name in _AROUND_FUNCTION}
    if isinstance(stored := value.get(_STORED_ID), str):
        around.setdefault("id", stored)
    return {**around, "function": {name: value[name] for name in ("name", "arguments")}}


def _is_message(value: JSONObject) -> bool:
    if value.get("role", "assistant") not in ("assistant", "model", "ai"):
        return False
    if any(_is_call(call) for call in objects_in(value.get("tool_calls"))[:1]):
        return True
    if value.get("role") is not None:
        return any(name in value for name in _OF_MESSAGE)
    if not isinstance(value.get("content", ""), str | None):
        return False
    return "content" in value and bool({"tool_calls", "reasoning", "reasoning_content", "finish_reason"} & value.keys())


def is_chunk(value: JSON) -> bool:
    """Return whether a value is an event of a stream of chat completions or of plain completions."""
    if not isinstance(value, dict):
        return False
    if str(value.get("object", "")).endswith(".chunk"):
        return True
    choices = objects_in(value.get("choices"))
    if not choices:
        is_of_stream = value.get("object") != "chat.completion" and ("usage" in value or "id" in value)
        return isinstance(value.get("choices"), list) and is_of_stream
    return "delta" in choices[0] and "message" not in choices[0]


def chunk_within(value: JSON) -> JSONObject | None:
    """Return the event of a stream that a program wrapped in its own object; `None` for anything else."""
    held = value if isinstance(value, dict) else {}
    return next((found for name in _WRAPPERS if isinstance(found := held.get(name), dict) and is_chunk(found)), None)


def chunk_of_delta(value: JSON) -> JSONObject | None:
    """Return a delta, with or without what is around it, as an event; `None` if it is not one."""
    if not isinstance(value, dict) or not value:
        return None
    if is_chunk(value):
        return value
    if isinstance(value.get("delta"), dict) and not value.keys() - _AROUND_DELTA:
        return {"choices": [value]}
    if not value.keys() - (_DELTA_FIELDS | {"finish_reason"}):
        delta: JSONObject = {name: item for name, item in value.items() if name != "finish_reason"}
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": value.get("finish_reason")}]}
    return None


def chunk_of_call(value: JSONObject) -> JSONObject | None:
    """Return a delta of a call as an event of a stream."""
    function = as_object(value.get("function"))
    is_delta = as_count(value.get("index")) is not None and isinstance(function.get("arguments"), str)
    if not is_delta or value.keys() - _OF_CALL:
        return None
    return {"choices": [{"index": 0, "delta": {"tool_calls": [value]}, "finish_reason": None}]}


def chunks_of_deltas(values: list[JSON]) -> list[JSONObject] | None:
    """Return a list of deltas as the events of a stream; `None` if it is something else, such as a list of messages."""
    if len(values) < 2:
        return None
    roles = [item.get("role") for item in values[:_MAX_LOOKED_AT] if isinstance(item, dict)]
    if any(role not in (None, "assistant") for role in roles) or all(role is not None for role in roles):
        return None
    chunks = [chunk_of_delta(value) for value in values]
    known = [chunk for chunk in chunks if chunk is not None]
    return known if len(known) == len(chunks) else None
