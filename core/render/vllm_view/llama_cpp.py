"""What llama.cpp's server does to a request before its template sees it.

It reads messages and tools into structures of its own and writes them out again:
keys that those do not have are lost, the others come in their order.

Source: observed on llama.cpp's server, build of August 2026, with a template that prints what it gets;
`tools/server/README.md` for the endpoints.
"""

from __future__ import annotations

from prompt_debugger.core.render.trace.derive import added_text, derived_array, derived_object, peek, peek_all
from prompt_debugger.core.render.trace.runs import Field
from prompt_debugger.core.render.trace.strings import traced
from prompt_debugger.core.render.trace.values import Origin, TracedDict, TracedList
from prompt_debugger.core.render.vllm_view.content import join_parts
from prompt_debugger.core.render.vllm_view.view import View, entries_of, keys_of, role_of

_MESSAGE_KEYS = ("role", "content", "reasoning_content", "tool_calls", "name", "tool_call_id")
_CALL_KEYS = ("type", "function", "id")
_FUNCTION_KEYS = ("name", "arguments")


def join_content(view: View) -> None:
    """A list of texts is joined with line breaks, empty ones included; null becomes ""."""
    join_parts(view, keeps_empty=True)


def rename_developer_in_place(view: View) -> None:
    """Turn developer messages into system messages, each in its place."""
    for index, message in enumerate(view.messages):
        if role_of(message) == "developer":
            view.put(index, "role", added_text("system", Field(message._field, "role")))
            view.changes.append(f"turned the developer message `{message._field.path}` into a system message")


def keep_message_keys(view: View) -> None:
    """Keys of a message, and of its tool calls, that llama.cpp does not know are dropped."""
    for index, message in enumerate(view.messages):
        entries = entries_of(message)
        calls = entries.get("tool_calls")
        if isinstance(calls, TracedList):
            entries["tool_calls"] = derived_array([_known_call(call) for call in peek_all(calls)], calls._field)
        kept = {key: entries[key] for key in _MESSAGE_KEYS if key in entries and not _is_nothing(key, entries[key])}
        lost = [f"`{Field(message._field, key).path}`" for key in entries if key not in kept]
        view.replace(index, kept)
        if lost:
            view.changes.append(f"dropped {', '.join(lost)}")
        elif list(kept) != keys_of(message):
            view.changes.append(f"reordered the keys of `{message._field.path}`")


def _is_nothing(key: str, value: object) -> bool:
    return key != "content" and (value is None or (isinstance(value, (str, TracedList)) and not len(value)))


def _known_call(call: object) -> object:
    function = peek(call, "function")
    if not isinstance(call, TracedDict) or not isinstance(function, TracedDict):
        return call
    inner = entries_of(function)
    entries = entries_of(call)
    entries["function"] = derived_object({key: inner[key] for key in _FUNCTION_KEYS if key in inner}, function._field)
    return derived_object({key: entries[key] for key in _CALL_KEYS if key in entries}, call._field)


def rewrite_tools_in_full(view: View) -> None:
    """A tool keeps name, description and parameters alone; missing ones are written as "" and {}."""
    if view.tools is None:
        return
    made: list[object] = []
    for tool in peek_all(view.tools):
        function = peek(tool, "function")
        if not isinstance(tool, TracedDict) or not isinstance(function, TracedDict):
            made.append(tool)
            continue
        given = entries_of(function)
        nothing = {
            "description": traced("", ()),
            "parameters": derived_object({}, Field(function._field, "parameters"), Origin.INSIDE),
        }
        inner = {key: given.get(key, nothing.get(key)) for key in ("name", "description", "parameters")}
        kind = added_text("function", Field(tool._field, "type"))
        made.append(derived_object({"type": kind, "function": derived_object(inner, function._field)}, tool._field))
        _note(view, tool, function, [key for key in nothing if key not in given], list(inner))
    view.tools = derived_array(made, view.tools._field)


def _note(view: View, tool: TracedDict, function: TracedDict, added: list[str], kept: list[str]) -> None:
    path = function._field.path
    dropped = [f"`{path}.{key}`" for key in keys_of(function) if key not in kept]
    dropped.extend(f"`{tool._field.path}.{key}`" for key in keys_of(tool) if key not in ("type", "function"))
    if added:
        empty = {"description": '""', "parameters": "{}"}
        view.changes.append(f"wrote `{path}.{added[0]}` as {empty[added[0]]}, which the request does not have")
    if dropped:
        view.changes.append(f"dropped {', '.join(dropped)}")
    if not added and not dropped and (keys_of(function) != kept or keys_of(tool) != ["type", "function"]):
        view.changes.append(f"reordered the keys of `{tool._field.path}`")
