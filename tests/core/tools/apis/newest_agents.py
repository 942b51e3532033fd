"""Requests in the forms of OpenCode, and of a Codex whose tools have namespaces, are searched for, or come as an item.

Source: what others have published of their traffic, as of 2026-11; the texts are our own.
"""

from __future__ import annotations

from tests.core.tools.apis.more_agents import _ASK, _TEXT, Body, _function, _item


def _tool(name: str, about: str, /, *required: str, **properties: Body) -> Body:
    schema = {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


_OPENCODE = [
    _tool(
        "bash",
        "Run a command in a shell that stays open.",
        "command",
        "description",
        command={**_TEXT, "description": "The command."},
        timeout={"type": "number"},
        description=_TEXT,
    ),
    _tool("read", "Read a file.", "filePath", filePath=_TEXT, offset={"type": "number"}, limit={"type": "number"}),
    _tool("get_weather", "Get the weather of a city.", "city", city=_TEXT),
]
_SYSTEM: Body = {
    "role": "system",
    "content": "You are a terse agent.\n\n# Style\n- no comments\n\n<env>\n  linux\n</env>",
}


def _opencode(*messages: Body) -> Body:
    asked = {"model": "lab-model", "messages": [*messages], "tools": _OPENCODE}
    return {**asked, "temperature": 0, "top_p": 1, "max_tokens": 120}


def _calling(call_id: str, name: str, arguments: str, result: str) -> tuple[Body, Body]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    return answer, {"role": "tool", "tool_call_id": call_id, "content": result}


LISTED = _opencode(
    _SYSTEM,
    {"role": "user", "content": "List the files"},
    *_calling("call_bash_001", "bash", '{"command":"ls -la","description":"List files"}', "total 4\ndrwxr-xr-x src"),
)
NOT_FOUND = _opencode(
    _SYSTEM,
    {"role": "user", "content": "Read x.txt"},
    *_calling("call_read_002", "read", '{"filePath":"x.txt"}', "Error: File not found: x.txt"),
    {"role": "user", "content": "What's the weather in Rome?"},
)
NO_SYSTEM = _opencode({"role": "user", "content": "What's the weather in Rome?"})

_WEATHER = _function("get_weather", "Get the weather of a city.", city=_TEXT)
_MAIL: Body = {
    "type": "namespace",
    "name": "mcp__apps__mail",
    "description": "Find emails.",
    "tools": [_function("_search", "Searches emails.", query=_TEXT)],
}
_TEAM: Body = {
    "type": "namespace",
    "name": "collaboration",
    "description": "Agents.",
    "tools": [_function("spawn_agent", "Spawns an agent.", message=_TEXT)],
}
_FOUND: Body = {"call_id": "call_1", "status": "completed", "execution": "client"}


def _codex(*items: Body, tools: list[Body]) -> Body:
    return {
        "model": "lab-model",
        "instructions": "You are a coding agent.",
        "input": [*items],
        "tools": tools,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "low", "summary": "auto"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k",
        "text": {"verbosity": "low"},
        "temperature": 0,
        "max_output_tokens": 80,
    }


NAMESPACES = _codex(_item("developer", "<permissions/>"), _ASK, tools=[_WEATHER, _MAIL, _TEAM])
CALLED_IN_NAMESPACE = _codex(
    _item("user", "Mail from Bob?"),
    {
        "type": "function_call",
        "namespace": "mcp__apps__mail",
        "name": "_search",
        "arguments": '{"query":"bob"}',
        "call_id": "call_1",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "none"},
    _ASK,
    tools=[_MAIL, _WEATHER],
)
SEARCHED_TOOLS = _codex(
    _item("user", "Mail?"),
    {"type": "tool_search_call", **_FOUND, "arguments": {"query": "mail", "limit": 5}},
    {"type": "tool_search_output", **_FOUND, "tools": [_MAIL]},
    _ASK,
    tools=[{"type": "tool_search"}, _WEATHER],
)
