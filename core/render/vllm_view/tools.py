"""The cause that concerns the tools: they are rewritten from vLLM's own model of a tool."""

from __future__ import annotations

from prompt_debugger.core.render.trace.derive import added_text, derived_array, derived_object, peek, peek_all
from prompt_debugger.core.render.trace.runs import Field
from prompt_debugger.core.render.trace.values import TracedDict
from prompt_debugger.core.render.vllm_view.view import View, entries_of, keys_of

_FUNCTION_KEYS = ("name", "description", "parameters", "strict", "defer_loading")
_NULLED_KEYS = ("description", "parameters")


def rewrite_tools(view: View) -> None:
    """A fixed key order, unknown keys dropped, a missing description or schema written as null."""
    if view.tools is None:
        return
    given = peek_all(view.tools)
    made = [_rewritten(tool) for tool in given]
    for new, old in zip(made, given, strict=True):
        if isinstance(old, TracedDict):
            _note_change(view, old, new)
    view.tools = derived_array(made, view.tools._field)


def _rewritten(tool: object) -> object:
    function = peek(tool, "function")
    if not isinstance(tool, TracedDict) or not isinstance(function, TracedDict):
        return tool
    given, outer = entries_of(function), entries_of(tool)
    deferred = outer.get("defer_loading")
    if deferred is not None and given.get("defer_loading") is None:
        given["defer_loading"] = deferred
    inner = {key: given.get(key) for key in _FUNCTION_KEYS if given.get(key) is not None or key in _NULLED_KEYS}
    made = {
        "type": outer.get("type") or added_text("function", Field(tool._field, "type")),
        "function": derived_object(inner, function._field),
    }
    return derived_object(made if deferred is None else {**made, "defer_loading": deferred}, tool._field)


def _note_change(view: View, old: TracedDict, new: object) -> None:
    before, after = keys_of(peek(old, "function")), keys_of(peek(new, "function"))
    path = f"{old._field.path}.function"
    nulled = [key for key in after if key not in before]
    dropped = [f"`{path}.{key}`" for key in before if key not in after]
    dropped.extend(f"`{old._field.path}.{key}`" for key in keys_of(old) if key not in keys_of(new))
    if nulled:
        view.changes.append(f"wrote `{path}.{nulled[0]}` as null, which the request does not have")
    if dropped:
        view.changes.append(f"dropped {', '.join(dropped)}")
    if not nulled and not dropped and (before != after or keys_of(old) != keys_of(new)):
        view.changes.append(f"reordered the keys of `{old._field.path}`")
