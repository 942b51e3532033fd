"""The template never read a template kwarg that was sent.

What it finds:
    Members of `chat_template_kwargs` that the template did not read while it
    rendered this request.

Why it matters:
    A switch with a name that this template does not know does nothing: thinking stays as it
    was. Servers drop such kwargs silently.

Bad:
    `{"chat_template_kwargs": {"enable_thinking": false}}` for a template whose
    variable is `thinking`.

Good:
    `{"chat_template_kwargs": {"thinking": false}}`

Source:
    tracker: vllm-project/vllm#43401, vllm-project/vllm#54616.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Finding, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix, holder_of, request_fields
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request, prompt_of

_PREFIX = "chat_template_kwargs."
_THINK_SWITCH = re.compile(r"\b(?:enable_thinking|thinking|reasoning_effort|thinking_mode|preserve_thinking)\b")


def find(trace: Trace) -> Iterator[Report]:
    """Report every unread template kwarg."""
    prompt = prompt_of(trace)
    if prompt is None:
        return
    for path in prompt.unread:
        name = path.removeprefix(_PREFIX)
        if not path.startswith(_PREFIX) or "." in name or "[" in name:
            continue
        known = [found for found in dict.fromkeys(_THINK_SWITCH.findall(prompt.template or "")) if found != name]
        hint = f" It reads {', '.join(f'`{other}`' for other in known)}." if known else ""
        yield Report(
            title=f"The template never reads the kwarg `{name}`.",
            detail=f"`{path}` was sent, but no line of the template that ran reads it.{hint}",
            evidence=(in_request(path),),
            fix=f"Send `{known[0]}` instead of `{name}`." if known else f"Leave `{name}` out: it has no effect here.",
        )


def _drop_kwarg(trace: Trace, finding: Finding) -> JSONObject:
    body = copy.deepcopy(trace.request.body)
    for field in request_fields(finding):
        holder, key = holder_of(body, field)
        if isinstance(holder, dict):
            holder.pop(key, None)
    return body


RULE: Rule = TraceRule(
    code="PD209",
    name="unread-template-kwarg",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#43401", "vllm-project/vllm#54616"),
    fixes=(RequestFix("the unused kwarg left out", _drop_kwarg),),
)
