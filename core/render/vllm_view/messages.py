"""Causes that concern whole messages: their keys and their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompt_debugger.core.render.trace.derive import added_text, derived_array, derived_object, peek, peek_all
from prompt_debugger.core.render.trace.runs import Field
from prompt_debugger.core.render.trace.strings import TracedStr
from prompt_debugger.core.render.trace.values import TracedDict, TracedList
from prompt_debugger.core.render.vllm_view.view import View, entries_of, in_order, keys_of, path_of, role_of

_KNOWN_KEYS: Mapping[str, Sequence[str]] = {
    "assistant": ("role", "content", "tool_calls", "reasoning", "reasoning_content", "name", "task"),
    "tool": ("role", "content", "tool_call_id", "name", "task"),
    "developer": ("role", "content", "name", "task", "tools"),
}
_USUAL_KEYS = ("role", "content", "name", "task")
_TOOL_KEYS = ("function", "type")
_FUNCTION_KEYS = ("name", "description", "parameters", "strict")
_ONLY_TEXT = ("name", "task")
_NEVER_NULL = ("tool_calls", "reasoning", "reasoning_content")


def rename_reasoning(view: View) -> None:
    """`reasoning_content` becomes `reasoning`; the template of an assistant message sees both, with one value."""
    for index, message in enumerate(view.messages):
        entries = entries_of(message)
        old = entries.pop("reasoning_content", None)
        value = entries.get("reasoning") if entries.get("reasoning") is not None else old
        if value is None or role_of(message) != "assistant":
            continue
        entries["reasoning"] = entries["reasoning_content"] = value
        same = peek(message, "reasoning") == value and old == value
        view.replace(index, entries)
        if not same:
            given = "reasoning" if value is not old else "reasoning_content"
            view.changes.append(f"passed `{path_of(message, given)}` on as both `reasoning` and `reasoning_content`")


def keep_known_keys(view: View) -> None:
    """Keys that vLLM does not know for the role are dropped, the others put in its order."""
    for index, message in enumerate(view.messages):
        entries, role = entries_of(message), role_of(message)
        known = _KNOWN_KEYS.get(role, _USUAL_KEYS)
        kept = {key: entries[key] for key in known if key in entries and _survives(key, entries[key])}
        if role == "developer":
            kept["tools"] = _reordered_tools(entries.get("tools"))
        if list(kept) == list(entries) and role != "developer":
            continue
        lost = [f"`{path_of(message, key)}`" for key in entries if key not in kept]
        view.replace(index, kept)
        if lost:
            view.changes.append(f"dropped {', '.join(lost)}")
        elif list(kept) != list(entries):
            view.changes.append(f"reordered the keys of `{message._field.path}`")


def _reordered_tools(tools: object) -> object:
    """Return a developer message's own tools with their keys in vLLM's order."""
    if not isinstance(tools, TracedList):
        return tools
    made: list[object] = []
    for tool in peek_all(tools):
        function = peek(tool, "function")
        if isinstance(tool, TracedDict) and isinstance(function, TracedDict):
            inner = derived_object(in_order(entries_of(function), _FUNCTION_KEYS), function._field)
            tool = derived_object(in_order({**entries_of(tool), "function": inner}, _TOOL_KEYS), tool._field)
        made.append(tool)
    return derived_array(made, tools._field)


def _survives(key: str, value: object) -> bool:
    if key in _ONLY_TEXT:
        return isinstance(value, str)
    return value is not None or key not in _NEVER_NULL


def rename_developer(view: View) -> None:
    """A developer message becomes a system one, and all system messages are merged at the front."""
    if all(role_of(message) != "developer" for message in view.messages):
        return
    for index, message in enumerate(view.messages):
        if role_of(message) == "developer":
            entries = entries_of(message)
            entries.pop("tools", None)
            view.replace(index, {**entries, "role": added_text("system", Field(message._field, "role"))})
            view.changes.append(f"turned the developer message `{message._field.path}` into a system message")
    systems = [message for message in view.messages if role_of(message) == "system"]
    if len(systems) > 1 or view.messages[0] is not systems[0]:
        others = [message for message in view.messages if role_of(message) != "system"]
        view.messages = [_merged(systems), *others]
        view.changes.append("merged the system messages into one at the front")


def _merged(systems: Sequence[TracedDict]) -> TracedDict:
    first = systems[0]._field
    gap = added_text("\n\n", Field(first, "content"))
    texts = [text for message in systems if (text := _text_of(message))]
    return derived_object({"role": added_text("system", Field(first, "role")), "content": gap.join(texts)}, first)


def _text_of(message: TracedDict) -> TracedStr | None:
    content = peek(message, "content")
    if isinstance(content, TracedList):
        gap = added_text("\n", Field(message._field, "content"))
        parts = [peek(part, "text") if keys_of(part) else part for part in peek_all(content)]
        content = gap.join([part for part in parts if isinstance(part, TracedStr)])
    return content if isinstance(content, TracedStr) else None
