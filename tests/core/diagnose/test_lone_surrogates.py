"""Tools that hold half of a surrogate pair: data like any other, and no rule raises on it."""

from __future__ import annotations

from prompt_debugger.core.base.types import Prompt, Request, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.diagnose.rules import json_escaped_otherwise


def test_an_escaped_half_pair_in_a_tool_is_found_and_raises_nothing():
    tool = {"type": "function", "function": {"name": "f", "description": "odd \ud83d"}}
    request = Request(body={"messages": [], "tools": [tool]}, text="{}")
    server = Prompt("server", r"tools: odd \ud83d", spans=(), tokens=None)
    local = Prompt("local", "tools: odd \ud83d", spans=(), tokens=None)

    findings = diagnose_trace(
        Trace(request=request, prompt=server, local_prompt=local), {"PD217": json_escaped_otherwise.RULE}
    )

    assert [finding.code for finding in findings] == ["PD217"]
