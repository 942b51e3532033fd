"""More requests in the forms of two coding agents: newer fields, many tools, results as parts, tools of the server.

Source: what others have published of the traffic of Codex and Claude Code, as of 2026-11; the texts are our own.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]
_TEXT: Body = {"type": "string"}
_HOUR: Body = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def _schema(**properties: Body) -> Body:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


_WORDS: Body = {"type": "array", "items": _schema(step=_TEXT, status=_TEXT)}


def _function(name: str, description: str, **properties: Body) -> Body:
    return {
        "type": "function",
        "name": name,
        "description": description,
        "strict": False,
        "parameters": _schema(**properties),
    }


def _item(role: str, *texts: str) -> Body:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}


def _call(name: str, number: int, arguments: str) -> Body:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": f"functions.{name}:{number}"}


def _output(name: str, number: int, output: Any) -> Body:
    return {"type": "function_call_output", "call_id": f"functions.{name}:{number}", "output": output}


_LIST = _item("user", "List the files and say what is there.")
_ASK = _item("user", "What's the weather in Rome?")
_LISTED = [_call("exec_command", 0, '{"cmd":"ls"}'), _output("exec_command", 0, "Exit code: 0\nOutput:\na.py\nb.py\n")]
_RULES = _item("developer", "<permissions>workspace-write</permissions>", "<mode>default</mode>")

MANY_TOOLS: Body = {
    "model": "lab-model",
    "instructions": "You are a coding agent.\n\n# Style\n- be terse",
    "input": [
        _RULES,
        _item("user", "# AGENTS.md\n\n<INSTRUCTIONS>\nNo tabs.\n</INSTRUCTIONS>", "<cwd>/code</cwd>"),
        _LIST,
        _item("assistant", "I'll look."),
        *_LISTED,
        _item("assistant", "Two files."),
        _ASK,
    ],
    "tools": [
        _function("exec_command", "Runs a command.", cmd=_TEXT),
        _function("write_stdin", "Writes to a session.", session_id={"type": "number"}, chars=_TEXT),
        _function("update_plan", "Updates the plan.", plan=_WORDS),
        _function("view_image", "Shows an image.", path=_TEXT),
        _function("get_weather", "Get the weather of a city.", city=_TEXT),
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "0199aaaa-0000-7000-8000-000000000000",
    "text": {"verbosity": "medium"},
    "client_metadata": {"installation": "1"},
    "temperature": 0,
    "max_output_tokens": 80,
}
TWO_CALLS: Body = {
    **MANY_TOOLS,
    "input": [
        _RULES,
        _LIST,
        _LISTED[0],
        _call("exec_command", 1, '{"cmd":"pwd"}'),
        _output("exec_command", 0, "a.py"),
        _output("exec_command", 1, [{"type": "input_text", "text": "/code"}]),
        _item("user", "What's the weather in Rome and Oslo?"),
    ],
    "parallel_tool_calls": False,
}
SUMMARISED: Body = {
    **MANY_TOOLS,
    "input": [
        _LIST,
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look."}]},
        _item("assistant", "I'll look."),
        *_LISTED,
        _ASK,
    ],
}
PATCHED: Body = {
    **MANY_TOOLS,
    "tools": [
        *MANY_TOOLS["tools"],
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Edits files.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
        },
        {"type": "web_search", "external_web_access": False},
    ],
    "input": [
        *MANY_TOOLS["input"][:6],
        {"type": "custom_tool_call", "call_id": "functions.apply_patch:1", "name": "apply_patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "functions.apply_patch:1", "output": "Done"},
        *MANY_TOOLS["input"][6:],
    ],
}


def _tool(name: str, description: str, **properties: Body) -> Body:
    return {"name": name, "description": description, "input_schema": _schema(**properties)}


def _used(name: str, number: int, given: Body) -> Body:
    return {"type": "tool_use", "id": f"functions.{name}:{number}", "name": name, "input": given}


def _result(name: str, number: int, content: Any, **fields: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": f"functions.{name}:{number}", "content": content, **fields}


def _part(text: str, **fields: Any) -> Body:
    return {"type": "text", "text": text, **fields}


WITH_EFFORT: Body = {
    "model": "lab-model",
    "max_tokens": 120,
    "stream": True,
    "temperature": 0,
    "system": [
        _part("x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli; cch=00000;"),
        _part("You are a coding agent.", **_HOUR),
        _part("\nBe brief.", **_HOUR),
    ],
    "messages": [
        {"role": "user", "content": "<deferred-tools>\nWebSearch\n</deferred-tools>"},
        {"role": "user", "content": [_part("<system-reminder>\nNone.\n</system-reminder>"), _part("List the files.")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I should list.", "signature": "EqQBCg=="},
                _part("I'll look."),
                {**_used("Bash", 0, {"command": "ls"}), "caller": {"type": "direct"}},
            ],
        },
        {
            "role": "user",
            "content": [
                _result("Bash", 0, "a.py\nb.py", is_error=False),
                _part("<system-reminder>\nNo todos.\n</system-reminder>"),
            ],
        },
        {"role": "assistant", "content": [_part("Two files.")]},
        {"role": "user", "content": [_part("What's the weather in Rome?", **_HOUR)]},
    ],
    "tools": [
        _tool("Bash", "Runs a command.", command=_TEXT),
        _tool("Glob", "Finds files.", pattern=_TEXT),
        _tool("Read", "Reads a file.", file_path=_TEXT),
        _tool("Task", "Starts an agent.", prompt=_TEXT),
        _tool("TodoWrite", "Writes todos.", todos=_WORDS),
        _tool("mcp__x__forecast", "Get a forecast.", city=_TEXT),
        _tool("get_weather", "Get the weather of a city.", city=_TEXT),
    ],
    "metadata": {"user_id": '{"device_id":"b","session_id":"f"}'},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "medium"},
}
ADAPTIVE: Body = {**WITH_EFFORT, "thinking": {"type": "adaptive"}}
FAILED_RESULT: Body = {
    **WITH_EFFORT,
    "messages": [
        WITH_EFFORT["messages"][1],
        {"role": "assistant", "content": [_used("Bash", 0, {"command": "ls"}), _used("Read", 1, {})]},
        {
            "role": "user",
            "content": [
                _result("Bash", 0, [_part("a.py"), _part("b.py")]),
                _result("Read", 1, "<error>file_path is missing</error>", is_error=True),
                _part("What's the weather in Rome?"),
            ],
        },
    ],
}
SERVER_TOOL: Body = {
    **WITH_EFFORT,
    "tools": [*WITH_EFFORT["tools"], {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}],
}
TITLE: Body = {
    "model": "lab-model",
    "max_tokens": 60,
    "temperature": 0,
    "stream": True,
    "system": [_part("Give a title as JSON.")],
    "messages": [{"role": "user", "content": [_part("hi")]}],
    "tools": [],
    "output_config": {"format": {"type": "json_schema", "schema": _schema(title=_TEXT)}},
}
