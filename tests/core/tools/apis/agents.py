"""Requests in the form in which two kinds of coding agents send them, written for these tests.

Source: https://platform.openai.com/docs/api-reference/responses and https://docs.anthropic.com/en/api/messages, as of
2026-10.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def _schema(**properties: Body) -> Body:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_TEXT: Body = {"type": "string"}
_WORDS: Body = {"type": "array", "items": _TEXT}
_PATCH = 'start: "*** Begin Patch" LF line+ "*** End Patch"\nline: /.+/ LF\n%import common.LF'
_CACHED: Body = {"cache_control": {"type": "ephemeral"}}


def _item(role: str, text: str) -> Body:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


BY_RESPONSES: Body = {
    "model": "lab-model",
    "instructions": "You are a coding agent.\nBe brief.",
    "input": [
        _item("developer", "<permissions>read-only</permissions>"),
        _item("user", "<environment>\n  <cwd>/code</cwd>\n</environment>"),
        _item("user", "List the files."),
        {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command":["bash","-lc","ls"]}',
            "call_id": "functions.shell:0",
        },
        {"type": "function_call_output", "call_id": "functions.shell:0", "output": '{"output":"a.py","exit_code":0}'},
        _item("user", "What's the weather in Rome?"),
    ],
    "tools": [
        {
            "type": "function",
            "name": "shell",
            "description": "Runs a command.",
            "strict": False,
            "parameters": _schema(command=_WORDS),
        },
        {
            "type": "function",
            "name": "get_weather",
            "description": "Get the weather of a city.",
            "strict": False,
            "parameters": {"type": "object", "properties": {"city": _TEXT}, "required": ["city"]},
        },
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "3f1c0c1e-0000-4000-8000-000000000000",
    "text": {"verbosity": "low"},
    "temperature": 0,
    "max_output_tokens": 80,
}
# What vLLM does not take: tools that the server runs, a grammar for a tool, sealed reasoning, an earlier answer.
BUILT_IN: Body = {
    **BY_RESPONSES,
    "tools": [
        *BY_RESPONSES["tools"],
        {"type": "web_search"},
        {"type": "local_shell"},
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Edits files.",
            "format": {"type": "grammar", "syntax": "lark", "definition": _PATCH},
        },
    ],
}
SEALED: Body = {
    **BY_RESPONSES,
    "input": [
        BY_RESPONSES["input"][2],
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
        *BY_RESPONSES["input"][3:],
    ],
}
GOES_ON: Body = {**BY_RESPONSES, "input": BY_RESPONSES["input"][-1:], "previous_response_id": "resp_0", "store": True}


def _tool(name: str, description: str, **properties: Body) -> Body:
    return {"name": name, "description": description, "input_schema": _schema(**properties)}


BY_MESSAGES: Body = {
    "model": "lab-model",
    "max_tokens": 80,
    "stream": True,
    "temperature": 0,
    "system": [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.0.0; cch=00000;"},
        {"type": "text", "text": "You are a coding agent.", **_CACHED},
        {"type": "text", "text": "Be brief.", **_CACHED},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>\nToday is Monday.\n</system-reminder>"},
                {"type": "text", "text": "List the files, and read a.py."},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two calls.", "signature": "EqQBCg=="},
                {"type": "tool_use", "id": "functions.Bash:0", "name": "Bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "functions.Read:1", "name": "Read", "input": {"file_path": "/code/a.py"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "functions.Read:1", "content": [{"type": "text", "text": "1"}]},
                {"type": "tool_result", "tool_use_id": "functions.Bash:0", "content": "a.py", "is_error": False},
                {"type": "text", "text": "What's the weather in Rome?", **_CACHED},
            ],
        },
    ],
    "tools": [
        _tool("Bash", "Runs a command.", command=_TEXT),
        _tool("Read", "Reads a file.", file_path=_TEXT),
        _tool("Edit", "Edits a file.", file_path=_TEXT, old_string=_TEXT, new_string=_TEXT),
        _tool("Grep", "Searches files.", pattern=_TEXT),
        {**_tool("get_weather", "Get the weather of a city.", city=_TEXT), **_CACHED},
    ],
    "metadata": {"user_id": "user_0_account__session_0"},
}
THINKING: Body = {**BY_MESSAGES, "thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 1_100}
