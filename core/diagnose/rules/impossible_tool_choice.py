"""`tool_choice` asks for what the request does not offer.

What it finds:
    `tool_choice` without any tools, except `none`; or one that names a tool
    that is not among the tools.

Why it matters:
    OpenAI and vLLM refuse the request; other servers ignore the field, and the
    answer is prose.

Bad:
    `"tool_choice": "required"` with `"tools": []`

Good:
    `tool_choice` together with the tools that it chooses from.

Source:
    publisher: vLLM 0.32, the checks of `ChatCompletionRequest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.json_values import as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.near_names import closest
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request, was_answered
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Compare the choice with the tools."""
    body = trace.request.body
    choice = body.get("tool_choice")
    if choice in (None, "none") or REQUEST_GAP in trace.notes:
        return
    offered = [tool.name for tool in request_tools(trace.request)]
    named = as_text(as_object(as_object(choice).get("function")).get("name"))
    if as_list((trace.request.native or {}).get("tools")) and not offered:
        return  # tools that the vendor runs itself, which chat completions have no place for
    if not as_list(body.get("tools")) and not as_list(body.get("functions")):
        if choice == "auto" and was_answered(trace):
            return  # nothing was to be called, and nothing refused it
        yield Report(
            title=f"`tool_choice` is {_shown(choice)}, and the request has no tools.",
            detail="OpenAI and vLLM refuse `tool_choice` without `tools`; other servers ignore it.",
            evidence=(in_request("tool_choice", str(named or choice)),),
            fix="Send the tools with the request, or leave `tool_choice` out.",
            severity=Severity.WARNING if choice == "auto" else None,
        )
    elif named is not None and offered and named not in offered:
        near = closest(named, offered)
        yield Report(
            title=f"`tool_choice` names the tool `{named}`, which the request does not offer.",
            detail=f"Offered: {listed(offered, 8)}." + (f" Closest: `{near}`." if near else ""),
            evidence=(in_request("tool_choice.function.name", named),),
            fix=f"Name {f'`{near}`' if near else 'one of the offered tools'}, or add `{named}` to `tools`.",
        )


def _shown(choice: JSON) -> str:
    return f"`{choice}`" if isinstance(choice, str) else "a named tool"


RULE: Rule = TraceRule(
    code="PD125",
    name="impossible-tool-choice",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    explains=("PD504",),
)
