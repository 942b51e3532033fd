"""What is wrong with a request body, and what is only worth saying.

Fatal is what no server could take. Everything doubtful is reported and kept: some
server, or some template, may want it.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.base.vendor_fields import vendor_field, vendor_key
from prompt_debugger.core.request.known_fields import (
    BODY_ADVICE,
    BODY_FIELDS,
    BODY_KINDS,
    MESSAGE_FIELDS,
    PART_TYPES,
    ROLES,
)
from prompt_debugger.core.request.places import Path

_OF_COHERE = frozenset({"chat_history", "preamble", "connectors"})
_NEWER = "Give it in the form of `/v2/chat`: all turns in `messages`, with `role` and `content`."
_AS_MESSAGE = 'Write `{"role": "user", "content": "…"}`.'
_NUMERIC = re.compile(r"\s*[+-]?(\d++(?:\.\d*+)?|\.\d++)([eE][+-]?\d++)?\s*\Z")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a field.

    Attributes:
        message: What is to be said, one sentence.
        hint: What to write instead.
        is_fatal: True if no server could take it.
        name: What was written where one of `known` was meant; the closest is looked up when the problem is reported.
        known: The names that there are.
    """

    path: Path
    message: str
    hint: str = ""
    is_fatal: bool = False
    name: str = ""
    known: Collection[str] = ()

    def words(self) -> str:
        """Return all that is to be said."""
        meant = _closest(self.name, self.known) if self.known else ""
        return " ".join(filter(None, (self.message, meant, self.hint)))


_NO_CONFIG = (
    "It shows no part of a run. `check MODEL` examines a model's files; here paste a request, an answer or a log."
)


def check_body(body: JSONObject) -> Iterator[Problem]:
    """Report everything about a body, in the order of its parts."""
    if isinstance(body.get("message"), str) and not _OF_COHERE.isdisjoint(body) and "messages" not in body:
        yield _fatal((), "This is a body of Cohere's first chat API (`/v1/chat`), which is not read.", _NEWER)
        return
    if "transformers_version" in body and "messages" not in body:
        yield _fatal((), "This is a model's `config.json` or `generation_config.json`, not a request.", _NO_CONFIG)
        return
    if "messages" not in body:
        others = [name for name in body if name not in BODY_FIELDS]
        listed = ", ".join(f"`{name[:40]}`" for name in others[:6])
        words = f"The body is not that of a chat: it has {listed} and no `messages`." if others else ""
        yield _fatal((), words or "`messages` is missing.", 'Add `"messages": [{"role": "user", "content": "…"}]`.')
    for name, value in body.items():
        kind = BODY_KINDS.get(name)
        if name not in BODY_FIELDS:
            if value is not None:  # what is not set is lost nowhere
                yield _unread_field(name, value)
        elif kind is not None and (value is not None or name == "messages"):
            yield from _check_kind((name,), value, kind)
    messages, tools = body.get("messages"), body.get("tools")
    if isinstance(messages, list):
        yield from _check_messages(messages)
    if isinstance(tools, list):
        yield from _check_tools(tools)
    yield from _check_flags(body)


def _unread_field(name: str, value: JSON) -> Problem:
    said = f"vLLM ignores the field {shorten(name)}."
    if (of_vendor := vendor_field(name, value)) is not None:
        return Problem((name,), said, of_vendor.words)
    advice = BODY_ADVICE.get(name, "")
    return Problem((name,), said, advice, name=name, known=() if advice else BODY_FIELDS)


def _check_kind(path: Path, value: JSON, kind: str) -> Iterator[Problem]:
    if kind in ("number", "integer"):
        yield from _check_number(path, value, kind)
    elif _kind_of(value) not in kind.split(" or "):
        yield _fatal(path, f"`{path[-1]}` must be {_add_article(kind)}, not {_kind_of(value)} {shorten(value, 40)}.")


def _check_number(path: Path, value: JSON, kind: str) -> Iterator[Problem]:
    if isinstance(value, str) and _NUMERIC.match(value):
        yield Problem(
            path, f"`{path[-1]}` is a number written as text; some servers refuse it.", "Leave out the quotes."
        )
    elif isinstance(value, bool):
        yield Problem(
            path, f"`{path[-1]}` is {str(value).lower()}; some servers read it as a number, others refuse it."
        )
    elif not isinstance(value, (int, float)):
        yield _fatal(path, f"`{path[-1]}` must be a number, not {_kind_of(value)} {shorten(value, 40)}.")
    elif kind == "integer" and isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        yield Problem(path, f"`{path[-1]}` is {value!r}; vLLM accepts only whole numbers.")


def _check_messages(messages: list[JSON]) -> Iterator[Problem]:
    if not messages:
        yield Problem(("messages",), "`messages` is empty; most templates and servers refuse that.")
    for index, message in enumerate(messages):
        path: Path = ("messages", index)
        if not isinstance(message, dict):
            yield _no_message(path, index, message)
            continue
        role = message.get("role")
        yield from _check_role(path, message)
        yield from _check_content(path, message.get("content"))
        if message.get("tool_calls") is not None:
            yield from _check_tool_calls((*path, "tool_calls"), message["tool_calls"])
        yield from _check_message_fields(path, message, role if isinstance(role, str) else "")


def _no_message(path: Path, index: int, found: JSON) -> Problem:
    """Return what to say of an entry of `messages` that is no object; a list of messages is one list too many."""
    shown = "null" if found is None else f"{_kind_of(found)} {shorten(found, 40)}"
    is_list = isinstance(found, list) and bool(found) and all(isinstance(one, dict) for one in found)
    hint = "Send the inner list alone: `messages` is one list." if is_list else _AS_MESSAGE
    return _fatal(path, f"`messages[{index}]` must be an object, not {shown}.", hint)


def _check_role(path: Path, message: JSONObject) -> Iterator[Problem]:
    role = message.get("role")
    if "role" not in message:
        yield _fatal(path, "This message has no `role`.", f"Write one of {_listed(ROLES)}.")
    elif not isinstance(role, str):
        yield _fatal((*path, "role"), f"`role` must be a string, not {_kind_of(role)} {shorten(role, 40)}.")
    elif role not in ROLES:
        text = f"The role {shorten(role)} is not one of {_listed(ROLES)}; vLLM passes it to the template unchanged."
        yield Problem((*path, "role"), text, name=role, known=ROLES)


def _check_content(path: Path, content: JSON) -> Iterator[Problem]:
    path = (*path, "content")
    if isinstance(content, (bool, int, float)):
        yield _fatal(
            path, f"`content` must be text or a list of parts, not {shorten(content, 40)}.", "Put it in quotes."
        )
    elif isinstance(content, dict):
        yield Problem(
            path, "`content` is an object; vLLM iterates over its keys as if they were parts.", "Write a list."
        )
    for index, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, (dict, str)):
            yield _fatal((*path, index), f"A content part must be an object or text, not {shorten(part, 40)}.")
        elif isinstance(part, dict) and not isinstance(kind, str):
            yield Problem((*path, index), "This content part has no `type`; servers handle it differently.")
        elif isinstance(kind, str) and kind not in PART_TYPES:
            yield Problem((*path, index, "type"), f"vLLM does not support content parts of type {shorten(kind)}.")


def _check_tool_calls(path: Path, calls: JSON) -> Iterator[Problem]:
    if not isinstance(calls, list):
        yield _fatal(path, f"`tool_calls` must be a list, not {_kind_of(calls)}.", "Put the call in brackets `[…]`.")
        return
    for index, call in enumerate(calls):
        at: Path = (*path, index)
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict):
            yield _fatal(at, f"A tool call must be an object, not {_kind_of(call)} {shorten(call, 40)}.")
        elif not isinstance(function, dict) and isinstance(call.get("custom"), dict):
            yield Problem(at, "This is a call of a custom tool of OpenAI; vLLM takes calls of functions alone.")
        elif not isinstance(function, dict):
            yield _fatal(
                at, "This tool call has no `function` object.", 'Write `"function": {"name": …, "arguments": …}`.'
            )
        else:
            yield from _check_called(at, call, function)


def _check_called(at: Path, call: JSONObject, function: JSONObject) -> Iterator[Problem]:
    if not isinstance(function.get("name"), str):
        yield _fatal(
            (*at, "function", "name"), "This tool call has no `function.name`.", "Give the tool's name as a string."
        )
    arguments, path = function.get("arguments"), (*at, "function", "arguments")
    if isinstance(arguments, dict):
        sentence = "`arguments` is an object; OpenAI's format requires its JSON as a string, and vLLM answers 400."
        yield Problem(path, sentence, "Write the JSON as a string.")
    elif isinstance(arguments, (bool, int, float, list)):
        sentence = (
            f"`arguments` must be the JSON of an object as a string, not {_kind_of(arguments)} "
            f"{shorten(arguments, 40)}."
        )
        yield _fatal(path, sentence, r'Write `"arguments": "{\"city\": \"Paris\"}"`.')
    elif arguments is None:
        yield Problem(path, "This tool call has no `arguments`; vLLM answers 400.", 'Write `"arguments": "{}"`.')
    for name in ("id", "type"):
        if not isinstance(call.get(name), str):
            yield Problem((*at, name), f"This tool call has no `{name}`; vLLM answers 400.")


def _check_message_fields(path: Path, message: JSONObject, role: str) -> Iterator[Problem]:
    known = MESSAGE_FIELDS[""] | MESSAGE_FIELDS.get(role, frozenset())
    for name, value in message.items():
        if name not in known and value is not None:
            of_vendor = vendor_key(role, name)
            sentence = f"vLLM drops the key {shorten(name)} of a message with the role {shorten(role)}."
            advice = "This is the older form; write `tool_calls`." if name == "function_call" else ""
            yield Problem((*path, name), f"{sentence} {of_vendor.words if of_vendor else advice}".rstrip())
    if "reasoning" in message and "reasoning_content" in message:
        yield Problem(
            (*path, "reasoning_content"), "Both `reasoning` and `reasoning_content` are given; vLLM uses the first."
        )
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield Problem(path, "This tool result has no `tool_call_id`, so it is not linked to its call.")
    speaker = message.get("name")
    if speaker is not None and not isinstance(speaker, str):
        yield _fatal((*path, "name"), f"`name` must be a string, not {_kind_of(speaker)}.")


def _check_tools(tools: list[JSON]) -> Iterator[Problem]:
    if not tools:
        yield Problem(("tools",), "`tools` is an empty list; vLLM answers 400.", "Leave the field out.")
    for index, tool in enumerate(tools):
        path: Path = ("tools", index)
        if not isinstance(tool, dict):
            yield _fatal(path, f"A tool must be an object, not {_kind_of(tool)} {shorten(tool, 40)}.")
            continue
        kind = tool.get("type")
        if kind not in (None, "function"):
            yield Problem((*path, "type"), f"vLLM accepts only tools of type `function`, not {shorten(kind)}.")
        else:
            yield from _check_function(path, tool)


def _check_function(path: Path, tool: JSONObject) -> Iterator[Problem]:
    function = tool.get("function")
    if not isinstance(function, dict):
        hint = 'Write `{"type": "function", "function": {"name": …, "parameters": …}}`.'
        if "name" in tool:
            hint = f"Its members are one level too high. {hint}"
        yield _fatal((*path, "function"), "This tool has no `function` object.", hint)
        return
    if not isinstance(function.get("name"), str):
        hint = "Move its `name` into `function`." if isinstance(tool.get("name"), str) else "Give its name as a string."
        yield _fatal((*path, "function", "name"), "This tool has no `function.name`.", hint)
    parameters = function.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        sentence = f"`parameters` must be a JSON Schema object, not {_kind_of(parameters)} {shorten(parameters, 40)}."
        yield _fatal((*path, "function", "parameters"), sentence, 'Write `{"type": "object", "properties": {…}}`.')
    if "parameters" not in function and "input_schema" in tool | function:
        yield Problem(path, "`input_schema` is Anthropic's name; chat completions use `function.parameters`.")


def _check_flags(body: JSONObject) -> Iterator[Problem]:
    if body.get("stream"):
        yield Problem(("stream",), "Streamed and whole answers are both requested anyway, and compared.")
    if body.get("tool_choice") not in (None, "none") and not body.get("tools"):
        yield Problem(("tool_choice",), "`tool_choice` is given without `tools`; vLLM answers 400.")
    template_kwargs = body.get("chat_template_kwargs")
    if isinstance(template_kwargs, dict) and "add_generation_prompt" in template_kwargs:
        sentence = (
            "vLLM ignores `add_generation_prompt` in `chat_template_kwargs`; only the top-level field of "
            "that name has an effect."
        )
        yield Problem(("chat_template_kwargs", "add_generation_prompt"), sentence)


def _fatal(path: Path, message: str, hint: str = "") -> Problem:
    return Problem(path, message, hint, is_fatal=True)


def _kind_of(value: JSON) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "list"
        case dict():
            return "object"


def _add_article(kind: str) -> str:
    return " or ".join(("an " if word[0] in "aeio" else "a ") + word for word in kind.split(" or "))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _closest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name[:60], sorted(known), n=1, cutoff=0.8)
    return f"Did you mean `{close[0]}`?" if close else ""
