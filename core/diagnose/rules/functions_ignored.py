"""The legacy `functions` of the request never reach the prompt.

What it finds:
    A request with `functions` and without `tools`, and a server prompt that names none of
    them. If the server does not show its prompt: one with exactly as many tokens as our own
    render, which has none of them either.

Why it matters:
    Current servers read only `tools`. They accept the older field with status 200, and the
    model never learns of a function.

Bad:
    `"functions": [{"name": "get_weather", …}]`

Good:
    `"tools": [{"type": "function", "function": {"name": "get_weather", …}}]`

Source:
    publisher: `functions` of chat completions, deprecated for `tools`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Certainty, Finding, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.fixes import RequestFix, drop_fields
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request


def find(trace: Trace) -> Iterator[Report]:
    """Look for the functions' names in the server's prompt, or for a prompt without room for them."""
    body = body_of(trace)
    names = [as_text(as_object(one).get("name")) for one in as_list(body.get("functions"))]
    known = [name for name in names if name]
    if not known or body.get("tools") or body.get("function_call") == "none":
        return
    certainty = _absent(trace, known)
    if certainty is None:
        return
    seen = (
        "its prompt contains none of their names"
        if certainty is Certainty.OBSERVED
        else "its prompt has as many tokens as one without them"
    )
    yield Report(
        title="The legacy `functions` of the request never reached the prompt.",
        detail=f"The server accepted {', '.join(f'`{name}`' for name in known[:6])} silently; {seen}.",
        evidence=(in_request("functions", known[0]),),
        fix='Send them as `tools`: each as `{"type": "function", "function": …}`, and `tool_choice` for '
        "`function_call`.",
        certainty=certainty,
    )


def _absent(trace: Trace, names: list[str]) -> Certainty | None:
    """Say how surely the prompt lacks all these names; `None` if it does not, or nothing shows it."""
    if trace.prompt is not None:
        return None if any(name in trace.prompt.text for name in names) else Certainty.OBSERVED
    local, usage = trace.local_prompt, None if trace.chat is None else trace.chat.usage
    if local is None or local.tokens is None or usage is None or usage.prompt_tokens is None:
        return None
    is_same = usage.prompt_tokens == len(local.tokens) and not any(name in local.text for name in names)
    return Certainty.INFERRED if is_same else None


def _as_tools(trace: Trace, _: Finding) -> JSONObject:
    body = trace.request.body
    functions, choice = body.get("functions"), body.get("function_call")
    if not isinstance(functions, list):
        return body
    tools: list[JSON] = [{"type": "function", "function": one} for one in functions]
    rest = drop_fields(body, ("functions", "function_call"))
    if isinstance(choice, str):
        return {**rest, "tools": tools, "tool_choice": choice}
    if isinstance(choice, dict):
        return {**rest, "tools": tools, "tool_choice": {"type": "function", "function": choice}}
    return {**rest, "tools": tools}


RULE: Rule = TraceRule(
    code="PD220",
    name="functions-ignored",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    fixes=(RequestFix("functions sent as tools", _as_tools),),
)
