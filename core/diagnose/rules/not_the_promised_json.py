"""The answer is not the JSON that `response_format` promises.

What it finds:
    With `response_format` of type `json_object` or `json_schema`, an answer
    without tool calls whose content is no JSON, or breaks the schema. A warning
    at the stage `complete` where a limit cut the answer before its JSON was
    whole; an answer that is whole although a limit was reached is not judged.

Why it matters:
    The caller decodes without looking. Typical causes are JSON that went into
    reasoning, and a constraint that the server dropped silently.

Bad:
    `"response_format": {"type": "json_object"}`, content `Here is the JSON: {…}`

Good:
    Content `{…}`

Source:
    tracker: vllm-project/vllm#50948, vllm-project/vllm#47027, mlc-ai/xgrammar#192.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import as_text, body_of, content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.output_limit import output_limit
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import violations
from prompt_debugger.core.diagnose.sight import Sight, in_message, in_request, why_cut
from prompt_debugger.core.diagnose.thinking import think_less, thinking_switch


def find(trace: Trace) -> Iterator[Report]:
    """Decode and validate the content that was promised as JSON."""
    wanted = as_object(body_of(trace).get("response_format"))
    kind = as_text(wanted.get("type"))
    if trace.chat is None or trace.chat.error or kind not in ("json_object", "json_schema") or returned_calls(trace):
        return
    content = content_of(trace.chat.message) or ""
    cut = why_cut(trace)
    if cut is not None:
        yield from _cut_short(trace, content, kind, cut)
        return
    problem = _problem(content, as_object(wanted.get("json_schema")).get("schema"))
    if problem is None:
        return
    reasoning = reasoning_of(trace.chat.message)
    in_thoughts = reasoning is not None and not content.strip() and reasoning.text.strip()[:1] in ("{", "[")
    yield Report(
        title="The answer is not the JSON that `response_format` promises.",
        detail=f"Content is {content[:80]!r}: {problem}." + (" The JSON is in reasoning." if in_thoughts else ""),
        evidence=(in_message("content", content), in_request("response_format", kind)),
        fix=(
            Step(
                "Start the server with a reasoning parser, so that the constraint waits for the end of reasoning.",
                server={"has_reasoning_parser": True},
            ),
            think_less(thinking_switch(trace)),
        )
        if in_thoughts
        else "Check that the server supports this schema: some drop an unsupported constraint silently.",
    )


def _cut_short(trace: Trace, content: str, kind: str, cut: str) -> Iterator[Report]:
    """Report a promise that was broken by a limit and not by the server's constraint."""
    if _problem(content, None) is None:
        return
    limit = output_limit(trace)
    yield Report(
        title="The answer was cut before the JSON that `response_format` promises was whole."
        if content.strip()
        else "The answer was cut before the JSON that `response_format` promises began.",
        detail=f"Content ends with {content[-60:]!r}, and {cut}. Cut by {limit.name}.",
        evidence=(in_message("content", content), in_request("response_format", kind)),
        fix=(Step(f"Do not decode this answer. {limit.step.text}"),),
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _problem(content: str, schema: JSON) -> str | None:
    try:
        value: JSON = json.loads(content)
    except (ValueError, RecursionError):
        return "it is no JSON"
    broken = violations(value, schema)
    return f"{broken[0].path}: {broken[0].message[:120]}" if broken else None


RULE: Rule = TraceRule(
    code="PD505",
    name="not-the-promised-json",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=Sight.ANSWER,
    threads=("vllm-project/vllm#50948", "vllm-project/vllm#47027", "mlc-ai/xgrammar#192"),
)
