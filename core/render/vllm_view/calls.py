"""Causes that concern tool calls in the history."""

from __future__ import annotations

from prompt_debugger.core.render.trace.derive import derived_array, derived_object, field_of, parse_json, peek, peek_all
from prompt_debugger.core.render.trace.runs import Field
from prompt_debugger.core.render.trace.strings import TracedStr
from prompt_debugger.core.render.trace.values import Origin, TracedDict, TracedList
from prompt_debugger.core.render.vllm_view.view import View, entries_of, in_order, keys_of, role_of

_CALL_KEYS = ("id", "function", "type")
_FUNCTION_KEYS = ("arguments", "name")


def reorder_calls(view: View) -> None:
    """The keys of a tool call are put in vLLM's order."""
    for index, message in enumerate(view.messages):
        calls = peek(message, "tool_calls")
        if not isinstance(calls, TracedList):
            continue
        given = peek_all(calls)
        made = [_reordered(call) for call in given]
        if [_key_order(call) for call in made] != [_key_order(call) for call in given]:
            view.put(index, "tool_calls", derived_array(made, calls._field))
            view.changes.append(f"reordered the keys of `{calls._field.path}`")


def _reordered(call: object) -> object:
    if not isinstance(call, TracedDict):
        return call
    entries = entries_of(call)
    function = entries.get("function")
    if isinstance(function, TracedDict):
        entries["function"] = derived_object(in_order(entries_of(function), _FUNCTION_KEYS), function._field)
    return derived_object(in_order(entries, _CALL_KEYS), call._field)


def _key_order(call: object) -> list[list[str]]:
    return [keys_of(call), keys_of(peek(call, "function"))]


def drop_empty_calls(view: View) -> None:
    """`tool_calls: []` of an assistant message is removed."""
    for index, message in enumerate(view.messages):
        entries = entries_of(message)
        calls = entries.get("tool_calls")
        if role_of(message) == "assistant" and isinstance(calls, TracedList) and not len(calls):
            del entries["tool_calls"]
            view.replace(index, entries)
            view.changes.append(f"dropped the empty `{calls._field.path}`")


def decode_arguments(view: View) -> None:
    """Arguments given as text are decoded; what is not a JSON object becomes `{}`."""
    for index, message in enumerate(view.messages):
        calls = peek(message, "tool_calls")
        if role_of(message) != "assistant" or not isinstance(calls, TracedList):
            continue
        given = peek_all(calls)
        made = [_decoded(view, call) for call in given]
        if any(new is not old for new, old in zip(made, given, strict=True)):
            view.put(index, "tool_calls", derived_array(made, calls._field))


def _decoded(view: View, call: object) -> object:
    function = peek(call, "function")
    if not isinstance(call, TracedDict) or not isinstance(function, TracedDict):
        return call
    arguments = peek(function, "arguments")
    if isinstance(arguments, TracedDict):
        return call
    place = Field(function._field, "arguments")
    made = derived_object({}, place, Origin.INSIDE)
    action = f"replaced the missing `{place.path}` by an empty object"
    if isinstance(arguments, TracedStr) and arguments:
        parsed = parse_json(arguments, field_of(arguments) or place)
        action = f"replaced `{place.path}`, which is not a JSON object, by an empty one"
        if isinstance(parsed, TracedDict):
            made, action = parsed, f"decoded `{place.path}` from text to an object"
    view.changes.append(action)
    entries = {**entries_of(function), "arguments": made}
    return derived_object({**entries_of(call), "function": derived_object(entries, function._field)}, call._field)
