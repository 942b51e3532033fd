"""Typed access to the JSON of requests and messages, with the path of every value.

Bodies are data that someone pasted or a server sent: a value of the wrong
type is treated as absent here, and said by the stage that reads requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_list, as_object, as_text
from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace

# What data sets have next to `messages`, and requests do not.
_COLUMNS = frozenset(
    {
        "text", "prompt", "prompt_id", "problem", "solution", "question", "answer", "answers", "completion", "label",
        "source", "category", "subset", "split", "dataset", "score", "chosen", "rejected", "generation", "trajectory",
        "instruction", "output", "topic", "difficulty", "expected_answer", "ground_truth", "data_source", "idx",
        "generated_solution", "problem_source", "problem_type", "domain", "language", "chat_template_text",
    }
)  # fmt: skip


class TextField(NamedTuple):
    """A text of the request: its path, the role of its message, and the text."""

    field: str
    role: str
    text: str


_ONE_TEXT: JSONObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


class CallField(NamedTuple):
    """A tool call as a message spells it.

    Attributes:
        field: Its path, such as `tool_calls[0]` or `messages[2].tool_calls[0]`.
        id: Its id, `None` if absent.
        name: Its tool, `None` if absent.
        arguments: As given; a string by the protocol.
        has_function: Whether name and arguments are in `function`, where the protocol has them.
    """

    field: str
    id: str | None
    name: str | None
    arguments: JSON
    has_function: bool = True


class ToolField(NamedTuple):
    """A tool spec of the request: its path, its name, and the schema of its arguments."""

    field: str
    name: str
    parameters: JSON


class Reasoning(NamedTuple):
    """Reasoning of a message: its field and its text."""

    field: str
    text: str


def body_of(trace: Trace) -> JSONObject:
    """Return the body that counts: what was sent, or what was pasted before sending."""
    return trace.sent or trace.request.body


def numbered_messages(request: Request) -> Iterator[tuple[int, JSONObject]]:
    """Yield the messages that are objects with their index in the body."""
    for index, message in enumerate(as_list(request.body.get("messages"))):
        if isinstance(message, dict):
            yield index, message


def last_role(request: Request) -> str | None:
    """Return the role of the last message."""
    messages = request.messages
    return as_text(messages[-1].get("role")) if messages else None


def keeps_history_elsewhere(request: Request) -> bool:
    """Return whether a request of Responses continues what the server keeps: then it shows a part of the history."""
    native = request.native or {}
    return bool(native.get("previous_response_id") or native.get("conversation"))


def columns_of_row(request: Request) -> tuple[str, ...]:
    """Return the columns that show a request to be a row of training data; none of a request.

    A row is a whole conversation: the last turn is the assistant's, and no model is asked for.
    """
    if "model" in request.body or last_role(request) != "assistant":
        return ()
    return tuple(name for name in request.body if name in _COLUMNS)


def ids_of_other_calls(request: Request) -> frozenset[str]:
    """Return the ids of calls that a request of Responses has in items which messages cannot have, such as a search."""
    items = as_list((request.native or {}).get("input"))
    kinds = (item for item in items if isinstance(item, dict) and not str(item.get("type")).endswith("_output"))
    return frozenset(call_id for item in kinds if isinstance(call_id := item.get("call_id"), str))


def content_parts(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the path and the type of every part of every message's content, in order."""
    for index, message in numbered_messages(request):
        for number, part in enumerate(as_list(message.get("content"))):
            yield f"messages[{index}].content[{number}]", as_text(as_object(part).get("type")) or ""


def message_texts(request: Request) -> Iterator[TextField]:
    """Yield every text of every message's content, text parts included, in order."""
    for index, message in numbered_messages(request):
        role = as_text(message.get("role")) or ""
        content = message.get("content")
        path = f"messages[{index}].content"
        if isinstance(content, str):
            yield TextField(path, role, content)
        for part_index, part in enumerate(as_list(content)):
            text = as_text(as_object(part).get("text"))
            if text is not None:
                yield TextField(f"{path}[{part_index}].text", role, text)


def request_tools(request: Request) -> tuple[ToolField, ...]:
    """Return the tool specs that have a name."""
    known = _KNOWN.get()
    if known is not None and (found := known.tools.get(id(request))) is not None and found[0] is request:
        return found[1]
    tools = tuple(_tools_of(request))
    if known is not None:
        known.tools[id(request)] = request, tools
    return tools


def _tools_of(request: Request) -> Iterator[ToolField]:
    for index, tool in enumerate(as_list(request.body.get("tools"))):
        function = as_object(as_object(tool).get("function"))
        name = as_text(function.get("name"))
        custom = as_object(as_object(tool).get("custom"))
        if name is not None:
            yield ToolField(f"tools[{index}].function", name, function.get("parameters"))
        elif (name := as_text(custom.get("name"))) is not None:
            yield ToolField(f"tools[{index}].custom", name, _ONE_TEXT)


def form_of_odd_calls(message: JSONObject) -> str | None:
    """Return in words what `tool_calls` is where it is no list of objects; `None` for such a list, or for nothing."""
    calls = message.get("tool_calls")
    if not calls or calls is True:
        return None
    if isinstance(calls, list):
        odd = sum(not isinstance(call, dict) for call in calls)
        return "a list, but not of objects" if odd == len(calls) else None
    if isinstance(calls, str):
        return "a string"
    return "an object" if isinstance(calls, dict) else "a number"


def calls_of_message(message: JSONObject, path: str = "") -> tuple[CallField, ...]:
    """Return the tool calls of a message that are objects; `path` is the message's own path."""
    held = as_list(message.get("tool_calls"))
    if not held:  # as in most messages
        return ()
    known = _KNOWN.get()
    if known is None:
        return _calls_in(held, path)
    found = known.calls.get((id(held), path))
    if found is None or found[0] is not held:
        found = known.calls[id(held), path] = held, _calls_in(held, path)
    return found[1]


def _calls_in(held: list[JSON], path: str) -> tuple[CallField, ...]:
    calls = []
    prefix = f"{path}." if path else ""
    for index, call in enumerate(held):
        if isinstance(call, dict):
            has_function = isinstance(call.get("function"), dict)
            function = as_object(call.get("function")) if has_function else call
            if not has_function and isinstance(call.get("custom"), dict):
                has_function, function = True, _as_function(as_object(call["custom"]))
            calls.append(
                CallField(
                    f"{prefix}tool_calls[{index}]",
                    as_text(call.get("id")),
                    as_text(function.get("name")),
                    function.get("arguments"),
                    has_function,
                )
            )
    return tuple(calls)


def _as_function(custom: JSONObject) -> JSONObject:
    """Return a call of a custom tool of OpenAI as that of a function with one text."""
    written = custom.get("input")
    arguments = json.dumps({"input": written}, ensure_ascii=False) if isinstance(written, str) else written
    return {"name": custom.get("name"), "arguments": arguments}


class _Known:
    """What was read of values that do not change meanwhile, each kept together with its value."""

    def __init__(self) -> None:
        self.tools: dict[int, tuple[Request, tuple[ToolField, ...]]] = {}
        self.calls: dict[tuple[int, str], tuple[list[JSON], tuple[CallField, ...]]] = {}


@contextmanager
def remembering() -> Iterator[None]:
    """Read tools and calls once while this lasts: dozens of rules ask for them."""
    token = _KNOWN.set(_Known())
    try:
        yield
    finally:
        _KNOWN.reset(token)


_KNOWN: ContextVar[_Known | None] = ContextVar("tools and calls read before", default=None)


def history_calls(request: Request) -> Iterator[CallField]:
    """Yield the tool calls of earlier assistant messages."""
    for index, message in numbered_messages(request):
        yield from calls_of_message(message, f"messages[{index}]")


def returned_calls(trace: Trace) -> tuple[CallField, ...]:
    """Return the tool calls that the server answered with."""
    return () if trace.chat is None else calls_of_message(trace.chat.message)


def held_at(body: JSONObject, path: str) -> JSON:
    """Return what a body has at a path of one name, or of two with a dot; `None` for nothing."""
    head, _, name = path.rpartition(".")
    return (as_object(body.get(head)) if head else body).get(name)


def content_of(message: JSONObject) -> str | None:
    """Return the visible text of a message; text parts are joined."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(as_text(as_object(part).get("text")) or "" for part in content)
    return as_text(content)


def reasoning_of(message: JSONObject) -> Reasoning | None:
    """Return the reasoning of a message, under either of its wire names."""
    for field in ("reasoning", "reasoning_content"):
        text = as_text(message.get(field))
        if text is not None:
            return Reasoning(field, text)
    return None


def texts_inside(value: JSON) -> Iterator[str]:
    """Yield every string and key inside a JSON value."""
    pending: list[JSON] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
