"""Tools and choices of Responses → those of chat completions.

    {"type": "custom", "name": "patch"}                                     a function with one text, `input`
    {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find", …}]}
                                                                            a function `crm__find`

Source: https://platform.openai.com/docs/guides/function-calling, as of 2026-11; what vLLM 0.32 shows to a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.base.wire import name_in
from prompt_debugger.core.request.body_work import BodyWork

_ONE_TEXT: JSONObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
_CALLED = ("function", "custom")


LATER_TOOLS = ("additional_tools", "tool_search_output")  # items of the input that offer more tools


def later_tools(items: JSON, work: BodyWork) -> Iterator[tuple[str, JSON]]:
    """Yield the tools that items of the input offer besides the request's own, each with its place there."""
    for index, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, dict) and item.get("type") in LATER_TOOLS:
            yield from flat_tools(item.get("tools"), work, f"input[{index}].tools")


def flat_tools(tools: JSON, work: BodyWork, within: str = "tools") -> Iterator[tuple[str, JSON]]:
    """Yield the tools of chat completions that tools of Responses are, each with its place there."""
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        place = f"{within}[{index}]"
        if isinstance(tool, dict) and tool.get("type") == "namespace":
            yield from _read_namespace(tool, place, work)
        elif (flat := _flat_tool(tool, place, work)) is not None:
            yield place, flat


def _read_namespace(namespace: JSONObject, place: str, work: BodyWork) -> Iterator[tuple[str, JSON]]:
    name, tools = namespace.get("name"), objects_in(namespace.get("tools"))
    label = f"`{str(name)[:40]}`"
    work.note_loss(
        place, f"The functions of the namespace {label} were read as functions named `{name_in(name, 'NAME')}`."
    )
    for index, tool in enumerate(tools):
        if tool.get("type") == "function":
            function: JSONObject = {key: part for key, part in tool.items() if key != "type"}
            called = name_in(name, tool.get("name"))
            yield f"{place}.tools[{index}]", {"type": "function", "function": {**function, "name": called}}
        else:
            kind = str(tool.get("type"))[:40]
            work.note_loss(f"{place}.tools[{index}]", f"A tool of type `{kind}` in a namespace was left out.")


def _flat_tool(tool: JSON, place: str, work: BodyWork) -> JSON:
    if isinstance(tool, dict) and tool.get("type") == "function" and "function" not in tool:
        return {"type": "function", "function": {name: part for name, part in tool.items() if name != "type"}}
    if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
        work.note_loss(
            f"{place}.function", "Responses has no field `function` in a tool: its members belong directly to the tool."
        )
        return tool
    if isinstance(tool, dict) and tool.get("type") == "custom":
        work.note_loss(place, "This custom tool was read as a function with one text, `input`.")
        function: JSONObject = {name: tool[name] for name in ("name", "description") if name in tool}
        return {"type": "function", "function": {**function, "parameters": _ONE_TEXT}}
    kind = tool.get("type") if isinstance(tool, dict) else tool
    work.note_loss(place, f"The built-in tool `{str(kind)[:40]}` does not exist in chat completions.")
    return None


def set_choice(choice: JSONObject, tools: JSON, work: BodyWork) -> None:
    """Set a choice that is an object; a custom tool is a function in chat completions."""
    kind = choice.get("type")
    if kind in _CALLED:
        work.body["tool_choice"] = {"type": "function", "function": {"name": _chosen(choice, tools)}}
    elif kind == "allowed_tools":
        names = [_chosen(one, tools) for one in objects_in(choice.get("tools")) if one.get("type") in _CALLED]
        named: list[JSON] = [{"type": "function", "function": {"name": name}} for name in names]
        allowed: JSONObject = {"mode": choice.get("mode", "auto"), "tools": named}
        work.body["tool_choice"] = {"type": kind, kind: allowed}
    else:
        work.note_loss("tool_choice", f"A choice of type `{str(kind)[:40]}` does not exist in chat completions.")


def _chosen(choice: JSONObject, tools: JSON) -> JSON:
    """Return the name of a tool that is chosen; one of a namespace may be named without it, if only one has it."""
    name, offered = choice.get("name"), objects_in(tools)
    if choice.get("namespace") or any(tool.get("name") == name for tool in offered if tool.get("type") != "namespace"):
        return name_in(choice.get("namespace"), name)
    within = [
        name_in(space.get("name"), name)
        for space in offered
        if space.get("type") == "namespace"
        for tool in objects_in(space.get("tools"))
        if tool.get("name") == name
    ]
    return within[0] if len(within) == 1 else name
