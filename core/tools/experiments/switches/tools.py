"""Switches for the tools: none, in a different order, or rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.parse.tools import function_of
from prompt_debugger.core.tools.experiments.switches.switch import Apply, Edit, Switch, Topic, drop_keys, on_body
from prompt_debugger.core.tools.experiments.variant import Variant

_TARGET = "tools"


def tool_switches(variant: Variant) -> Iterator[Switch]:
    """Yield what can be changed about the tools."""
    if isinstance(variant.body.get("tools"), list) and variant.body["tools"]:
        yield _switch("without-tools", "leaves out the tools", on_body(lambda body: drop_keys(body, "tools")))
        change = "writes every tool as vLLM does: keys in its order, a missing description or schema as null"
        yield _switch("tools-as-vllm", change, _as_vllm)
        yield _switch("tools-sorted-keys", "sorts the keys of the tools by name", on_body(_sorted_keys))
        yield _switch("tools-sorted", "sorts the tools by name", on_body(_sorted_tools))
        change = "passes every tool without its wrapper of `type` and `function`"
        yield _switch("tools-unwrapped", change, on_body(_edit_tools(function_of)))
        yield _switch("tools-wrapped", "wraps every tool in `type` and `function`", on_body(_edit_tools(_wrapped)))


def _switch(name: str, change: str, apply: Apply) -> Switch:
    return Switch(name, Topic.TOOLS, _TARGET, change, apply)


def _as_vllm(variant: Variant) -> Variant:
    return replace(variant, causes=(*variant.causes, "tools-rewritten"))


def _edit_tools(edit: Edit) -> Edit:
    def edited(body: JSONObject) -> JSONObject:
        tools = body.get("tools")
        if not isinstance(tools, list):
            return body
        return {**body, "tools": [edit(tool) if isinstance(tool, dict) else tool for tool in tools]}

    return edited


def _wrapped(tool: JSONObject) -> JSONObject:
    return {"type": "function", "function": tool} if "function" not in tool and "name" in tool else tool


def _sorted_keys(body: JSONObject) -> JSONObject:
    return {**body, "tools": _sorted(body["tools"])} if "tools" in body else body


def _sorted(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _sorted_tools(body: JSONObject) -> JSONObject:
    tools = body.get("tools")
    return {**body, "tools": sorted(tools, key=_name)} if isinstance(tools, list) else body


def _name(tool: JSON) -> str:
    if not isinstance(tool, dict):
        return ""
    function = tool.get("function")
    return str((function if isinstance(function, dict) else tool).get("name", ""))
