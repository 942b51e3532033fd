"""The server's prompt is not the one that the model's own template gives.

What it finds:
    The first token at which the server's prompt and our local render of the same request
    diverge, with the cause if one was proved by rendering with it.

Why it matters:
    Whatever was tried in a notebook used a different prompt. The difference itself
    may be harmless (other JSON spacing in tools) or the whole fault.

Bad:
    Server `…assistant<|im_middle|>[{'type': 'text', 'text': ''}]`, local `…assistant<|im_middle|>`

Good:
    Equal token ids.

Source:
    tracker: vllm-project/vllm#52741, ai-dynamo/dynamo#10624.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt


def find(trace: Trace) -> Iterator[Report]:
    """Report the difference if there is one."""
    difference, prompt = trace.prompt_difference, trace.prompt
    if difference is None or prompt is None:
        return
    start = min(difference.first_char, len(prompt.text))
    yield Report(
        title=f"The server's prompt and the local one diverge at token {difference.first_token}.",
        detail=f"Server: {difference.server!r}; local: {difference.local!r}. "
        + (f"Cause: {difference.cause.rstrip('.')}." if difference.cause else "No known cause explains it."),
        evidence=(in_prompt(prompt, Span(start, min(len(prompt.text), start + 40))),),
        fix=(
            "Compare the two texts at that token; what the server changed (content format, tool JSON, template "
            "kwargs, its own template) is the setting to adjust."
        ),
    )


RULE: Rule = TraceRule(
    code="PD210",
    name="prompt-difference",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#52741", "ai-dynamo/dynamo#10624"),
)
