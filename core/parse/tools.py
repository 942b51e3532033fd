"""Questions about the tools of a request: their names, the types of their parameters."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_debugger.core.base.types import JSON, JSONObject


def tool_names(tools: Iterable[JSONObject]) -> frozenset[str]:
    """Return the names of the tools, those without one left out."""
    names = [function_of(tool).get("name") for tool in tools]
    return frozenset([name for name in names if isinstance(name, str)])


def function_of(tool: JSONObject) -> JSONObject:
    """Return the function object of a tool spec, the spec itself if it is not wrapped."""
    function = tool.get("function")
    return function if isinstance(function, dict) else tool


def wrapped_tool(tool: JSON) -> JSON:
    """Return a tool spec in the chat API's shape, `{"type": "function", "function": {…}}`, be it written flat."""
    if not isinstance(tool, dict) or "function" in tool or "name" not in tool:
        return tool
    return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}


def parameter_schemas(tools: Iterable[JSONObject], name: str) -> dict[str, JSON]:
    """Return the schemas of a tool's parameters by their names, empty for an unknown tool."""
    for tool in tools:
        function = function_of(tool)
        if function.get("name") == name:
            parameters = function.get("parameters")
            properties = parameters.get("properties") if isinstance(parameters, dict) else None
            return properties if isinstance(properties, dict) else {}
    return {}
