"""`tool_choice` is `none`: no call may be returned.

What it finds:
    `tool_choice: "none"` in a request with tools.

Why it matters:
    It explains why nothing is called, and why markup of a call that the model writes anyway
    stays in content: the server runs no tool parser then. No setting of a parser changes
    that.

Bad:
    `"tool_choice": "none"` where calls are wanted

Good:
    `"tool_choice": "auto"`, or the field left out

Source:
    publisher: `tool_choice` of chat completions; tracker: vllm-project/vllm#20544,
    sgl-project/sglang#35736.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.diagnose.words import counted


def find(trace: Trace) -> Iterator[Report]:
    """Report the field where there are tools that it forbids."""
    names = [tool.name for tool in request_tools(trace.request)]
    if trace.request.body.get("tool_choice") != "none" or not names:
        return
    yield Report(
        title="`tool_choice` is `none`: the request allows no tool call.",
        detail=(
            f"The request offers {counted(len(names), 'tool')}, and none may be called. Whether the prompt "
            "still lists them depends on the server; a call that the model writes nevertheless stays in "
            "content."
        ),
        evidence=(in_request("tool_choice", "none"),),
        fix=(
            Step(
                'Send `tool_choice: "auto"` or leave the field out if calls are wanted.',
                {"tool_choice": "auto"},
            ),
            Step(
                "Start vLLM with `--exclude-tools-when-tool-choice-none`, or send no tools, if call markup "
                "appears in content."
            ),
        ),
    )


RULE: Rule = TraceRule(
    code="PD126",
    name="no-call-allowed",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#20544", "sgl-project/sglang#35736"),
    asks_request_alone=True,
    explains=("PD401", "PD405", "PD406", "PD407", "PD413", "PD426"),
    excuses=("PD401", "PD405", "PD406", "PD407", "PD413", "PD426"),
)
