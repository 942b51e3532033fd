"""Objects that Python printed → the JSON that servers send: answers, and messages of frameworks.

ChatCompletion(id='…', choices=[Choice(…)])     Message(content=[TextBlock(…), ToolUseBlock(…)])
AIMessage(content='', additional_kwargs={…}, tool_calls=[…])
Response(output=[ResponseFunctionToolCall(…)])  RequestOutput(prompt='…', outputs=[CompletionOutput(…)])
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.shapes import is_called_function
from prompt_debugger.core.evidence.values.printed_classes import (
    BLOCK_TYPES,
    BLOCKS,
    CALLS,
    CHOICES,
    COHERE,
    COMPLETIONS,
    GEMINI,
    ITEMS,
    LANGCHAIN,
    MESSAGES,
    RESPONSES,
)
from prompt_debugger.core.evidence.values.python_repr import CLASS, CUT, plain

_KEPT_NULLS = ("content", "finish_reason", "logprobs", "usage")
_NESTED = re.compile(r"(?<!\A)(?=[A-Z])")
_WORD_START = re.compile(r"_([a-z])")


def class_of(value: JSON) -> str:
    """Return the class that was printed; "" of anything else."""
    return str(as_object(value).get(CLASS, ""))


def drop_nulls(value: JSONObject) -> JSONObject:
    """Return an object as it is sent: fields that a class prints though nothing was set are left out."""
    found: JSONObject = {}
    for name, item in value.items():
        if name in (CLASS, CUT) or name.startswith("$") or (item is None and name not in _KEPT_NULLS):
            continue
        if isinstance(item, dict) and CLASS in item:
            found[name] = drop_nulls(item)
        elif isinstance(item, list):
            found[name] = [drop_nulls(one) if isinstance(one, dict) and CLASS in one else plain(one) for one in item]
        else:
            found[name] = plain(item)
    return found


def answer_of(value: JSON) -> JSON:
    """Return an answer as a server sends it; `None` if the object is not one, or too little of it was read.

    Args:
        value: As `read_printed` returns it.
    """
    if isinstance(value, list):
        return _read_list(value)
    if not isinstance(value, dict):
        return None
    make = _BY_CLASS.get(class_of(value)) or _reader_by_fields(value)
    return None if make is None else make(value)


def has_cut_answer(value: JSON) -> bool:
    """Return whether the text ended inside the message of an answer, not only after it."""
    if not isinstance(value, dict):
        return isinstance(value, list) and any(has_cut_answer(item) for item in value)
    choices = value.get("choices")
    if isinstance(choices, list) and choices:
        choice = as_object(choices[0])
        message = choice.get("message")
        if isinstance(choice.get("text"), str):  # of plain completions
            return CUT in choice
        return not isinstance(message, dict) or CUT in message
    return CUT in value


def offline_run(value: JSONObject) -> JSONObject:
    """Return prompt, text, ids and finish reason of a run of `LLM.generate` that was printed."""
    outputs = value.get("outputs")
    first = outputs[0] if isinstance(outputs, list) and outputs else value
    output = as_object(first)
    return as_object(
        plain(
            {
                "prompt": value.get("prompt"),
                "raw": output.get("text"),
                "token_ids": output.get("token_ids"),
                "finish_reason": output.get("finish_reason"),
            }
        )
    )


def _read_list(values: list[JSON]) -> JSON:
    names = {class_of(value) for value in values}
    if names and names <= set(BLOCKS):
        return _anthropic({"content": values, **({CUT: True} if any(has_cut_answer(v) for v in values) else {})})
    if names and names <= set(ITEMS):
        return {"object": "response", "output": [_item(as_object(value)) for value in values if not _is_cut(value)]}
    if names and names <= set(CALLS):
        return _message({"role": "assistant", "content": None, "tool_calls": values})
    return None


def _reader_by_fields(value: JSONObject) -> Callable[[JSONObject], JSON] | None:
    """Return how an object without a class, or a dict, is read, by what it holds."""
    if "candidates" in value:
        return _gemini_of
    if class_of(value.get("content")) == "Content":  # of an event of Google's Agent Development Kit
        return _event_of
    choices = value.get("choices")
    if isinstance(choices, list) and any(_is_choice(as_object(choice)) for choice in choices):
        return _completion
    message = value.get("message")
    if isinstance(message, dict) and "finish_reason" in value:
        return _one_choice
    if "additional_kwargs" in value or "response_metadata" in value:
        return _langchain
    is_message = value.get("role") == "assistant" and ("tool_calls" in value or "content" in value)
    if is_message or (isinstance(value.get("tool_calls"), list) and "role" not in value and "messages" not in value):
        return _anthropic if isinstance(value.get("content"), list) and value.get("type") == "message" else _message
    return _call_alone if is_called_function(value) else None


def _gemini_of(value: JSONObject) -> JSON:
    """Return an answer of Google's client with the names of its REST API; `None` if it is cut."""
    return None if CUT in value and not value.get("candidates") else _camel(plain(value))


def _event_of(value: JSONObject) -> JSON:
    """Return an event of a model as the answer that it keeps; `None` for one of a user, or one that is cut."""
    content = as_object(value.get("content"))
    if CUT in content or content.get("role") != "model":
        return None
    return _gemini_of({"candidates": [{"content": content, "finish_reason": value.get("finish_reason")}]})


def _camel(value: JSON) -> JSON:
    """Return a value with the names of Google's REST API; what a call holds keeps its own."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        _WORD_START.sub(lambda found: found[1].upper(), name): item if name in ("args", "response") else _camel(item)
        for name, item in value.items()
        if item is not None
    }


def _cohere_of(value: JSONObject) -> JSON:
    """Return an answer of Cohere's client; `None` for one that is cut within its message."""
    message = as_object(value.get("message"))
    calls = message.get("tool_calls")
    is_whole = all(CUT not in as_object(call) for call in (calls if isinstance(calls, list) else ()))
    return plain(value) if is_whole and message and CUT not in message else None


def _call_alone(value: JSONObject) -> JSON:
    """Return the message of a call whose function alone was copied: its arguments are a text, as servers send them."""
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": plain(value)}]}


def _is_choice(choice: JSONObject) -> bool:
    return "message" in choice or (isinstance(choice.get("text"), str) and "finish_reason" in choice)


def _completion(value: JSONObject) -> JSON:
    choices = value.get("choices")
    read = [_choice(as_object(choice)) for choice in choices] if isinstance(choices, list) else []
    kept: list[JSON] = [choice for choice in read if choice is not None]
    rest = as_object(plain({name: item for name, item in value.items() if name != "choices"}))
    return {**rest, "choices": kept} if kept else None


def _choice(value: JSONObject) -> JSONObject | None:
    message = value.get("message")
    if "message" not in value:
        return None if "text" not in value else as_object(plain(value))
    read = _message(as_object(message))
    if not isinstance(read, dict):
        return None
    rest = as_object(plain({name: item for name, item in value.items() if name != "message"}))
    if CUT in as_object(message):
        rest.pop("finish_reason", None)  # it ends a message whose beginning alone is known
    return {**rest, "message": read}


def _one_choice(value: JSONObject) -> JSON:
    choice = _choice(value)
    return None if choice is None else {"choices": [choice]}


def _message(value: JSONObject) -> JSON:
    """Return a message; of one that is cut only whole calls and whole texts, and `None` if there are none."""
    calls = value.get("tool_calls")
    whole = [call for call in calls if _is_whole_call(call)] if isinstance(calls, list) else []
    rest = {name: item for name, item in value.items() if name != "tool_calls"}
    message = drop_nulls(rest)
    message.setdefault("role", "assistant")
    if isinstance(message.get("thinking"), str) and class_of(value) == "Message":  # of Ollama's client
        message["reasoning_content"] = message.pop("thinking")
    if isinstance(calls, list):
        message["tool_calls"] = [{"type": "function", **drop_nulls(_encoded(as_object(call)))} for call in whole]
    elif calls is not None:
        message["tool_calls"] = plain(calls)
    is_empty = not whole and not message.get("content")
    return None if CUT in value and is_empty else message


def _encoded(call: JSONObject) -> JSONObject:
    """Return a call with its arguments as a text.

    Clients of Ollama and Mistral, whose class is `ToolCall`, print them as the object that the API sends.
    """
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    if class_of(call) != "ToolCall" or not isinstance(arguments, dict) or CLASS in arguments:
        return call
    text = json.dumps(plain(arguments), ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _lone_call(value: JSONObject) -> JSON:
    return None if _is_cut(value) else _message({"role": "assistant", "content": None, "tool_calls": [value]})


def _anthropic(value: JSONObject) -> JSON:
    blocks = value.get("content")
    if isinstance(blocks, str):
        return _message(value)
    is_short = isinstance(blocks, list) and any(map(_is_shortened, blocks))
    whole = [_block(as_object(one)) for one in as_list(blocks) if not _is_cut(one) and not _is_shortened(one)]
    if not whole and (CUT in value or is_short):
        return None
    rest = as_object(plain({name: item for name, item in value.items() if name != "content"}))
    if CUT in value and any(map(_is_cut, blocks if isinstance(blocks, list) else ())):
        rest.pop("stop_reason", None)
    return {**rest, "type": "message", "role": "assistant", "content": list(whole)}


def _is_shortened(block: JSON) -> bool:
    """Return whether JavaScript printed a word in place of a call's input, as it does deep within an object."""
    return as_object(block).get("input") in (["Object"], ["Array"])


def _lone_block(value: JSONObject) -> JSON:
    return _anthropic({"content": [value], **({CUT: True} if _is_cut(value) else {})})


def _block(value: JSONObject) -> JSON:
    kind = BLOCK_TYPES.get(class_of(value))
    return {**({"type": kind} if kind else {}), **drop_nulls(value)}


def _responses(value: JSONObject) -> JSON:
    output = value.get("output")
    if not isinstance(output, list):
        return None
    whole: list[JSON] = [_item(kept) for item in output if (kept := _whole_part(as_object(item))) is not None]
    rest = as_object(plain({name: item for name, item in value.items() if name != "output"}))
    return {**rest, "object": "response", "output": whole} if whole or CUT not in value else None


def _whole_part(item: JSONObject) -> JSONObject | None:
    """Return an item of an answer; of a message that is cut behind a text, with the texts before the cut."""
    if not _is_cut(item):
        return item
    texts: list[JSON] = [part for part in as_list(item.get("content")) if not _is_cut(part)]
    return {CLASS: ITEMS[1], "content": texts} if texts and class_of(item) == ITEMS[1] else None


def _item(value: JSONObject) -> JSON:
    kinds = dict(zip(ITEMS, ("function_call", "message", "reasoning"), strict=True))
    kind = kinds.get(class_of(value))
    return {**({"type": kind} if kind else {}), **drop_nulls(value)}


def _lone_item(value: JSONObject) -> JSON:
    return None if _is_cut(value) else {"object": "response", "output": [_item(value)]}


def _langchain(value: JSONObject) -> JSON:
    extra, metadata = as_object(value.get("additional_kwargs")), as_object(value.get("response_metadata"))
    message: JSONObject = {"role": "assistant", "content": plain(value.get("content"))}
    calls = extra.get("tool_calls")  # as the server sent them, unless JavaScript printed `[Object]` in their place
    if not isinstance(calls, list) or not all(as_object(as_object(call).get("function")) for call in calls):
        kept, invalid = value.get("tool_calls"), value.get("invalid_tool_calls")
        both = [*(kept if isinstance(kept, list) else []), *(invalid if isinstance(invalid, list) else [])]
        calls = [_langchain_call(as_object(call)) for call in both if not _is_cut(call)]
    whole = [call for call in calls if not _is_cut(call)]
    if whole:
        message["tool_calls"] = plain(whole)
    function = extra.get("function_call")  # the older form of a call
    if not whole and isinstance(function, dict) and not _is_cut(function):
        message["function_call"] = plain(function)
    if isinstance(extra.get("reasoning_content"), str):
        message["reasoning_content"] = extra["reasoning_content"]
    if CUT in value and not whole and "function_call" not in message and not message["content"]:
        return None
    reason = metadata.get("finish_reason", metadata.get("stop_reason"))
    if metadata.get("done_reason") == "load":  # Ollama's word for an answer to no message
        reason = "load"
    usage = metadata.get("token_usage", metadata.get("usage"))
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": reason}
    return {"choices": [choice], **({"usage": plain(usage)} if isinstance(usage, dict) else {})}


def _langchain_call(call: JSONObject) -> JSON:
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) else json.dumps(plain(arguments), ensure_ascii=False)
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("name"), "arguments": text}}


def _is_cut(value: JSON) -> bool:
    return not isinstance(value, dict) or CUT in value


def _is_whole_call(call: JSON) -> bool:
    """Return whether a call can be read: it is complete, or cut only after its function."""
    function = as_object(as_object(call).get("function"))
    return not _is_cut(call) or (CUT not in function and "name" in function and "arguments" in function)


def _read_message_class(value: JSONObject) -> JSON:
    """Return what a `Message(…)` is: Anthropic's with blocks, or LiteLLM's with a text."""
    return _anthropic(value) if isinstance(value.get("content"), list) else _message(value)


_BY_CLASS: Mapping[str, Callable[[JSONObject], JSON]] = {
    **dict.fromkeys(COMPLETIONS, _completion),
    "ModelResponse": lambda value: _responses(value) if "output" in value else _completion(value),
    **dict.fromkeys(CHOICES, _one_choice),
    **dict.fromkeys(MESSAGES, _message),
    **dict.fromkeys(CALLS, _lone_call),
    **dict.fromkeys(RESPONSES, _responses),
    **dict.fromkeys(ITEMS, _lone_item),
    **dict.fromkeys(BLOCKS, _lone_block),
    **dict.fromkeys(LANGCHAIN, _langchain),
    **dict.fromkeys(GEMINI, _gemini_of),
    **dict.fromkeys(COHERE, _cohere_of),
    "Message": _read_message_class,
    "BetaMessage": _read_message_class,
    "ToolsBetaMessage": _read_message_class,
}
