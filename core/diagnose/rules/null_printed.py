"""A null of the request was printed as the word `None`.

What it finds:
    A field of a message that is null, printed by the template as Python's
    `None`. The trace of the render shows the field.

Why it matters:
    The model reads `None` as something that was said. In a long tool loop it is in every
    turn, and the output slides into repetition.

Bad:
    Request `"content": null`, prompt `<|assistant|>None<tool_call>…`

Good:
    Request `"content": ""`, or a template that prints `{{ content or '' }}`

Source:
    tracker: vllm-project/vllm#54368, Blaizzy/mlx-vlm#1864.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Finding, JSONObject, Prompt, Severity, SpanKind, Stage, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix, TemplateFix, each_message, rewritten
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, in_request, prompt_of

_FIELD = re.compile(r"messages\[\d+\]\.\w+")


def find(trace: Trace) -> Iterator[Report]:
    """Report every such field in one report."""
    prompt = prompt_of(trace)
    if prompt is None or "None" not in prompt.text:
        return
    found = [
        span
        for span in prompt.spans
        if span.kind is SpanKind.SCALAR
        and span.field is not None
        and _FIELD.fullmatch(span.field)
        and prompt.text[span.char_span.start : span.char_span.stop] == "None"
    ]
    if not found:
        return
    fields = list(dict.fromkeys(str(span.field) for span in found))
    is_local = prompt.source == "local"
    yield Report(
        title=f"The prompt says `None` for {', '.join(f'`{field}`' for field in fields[:3])}.",
        detail=f"The field is null and the template prints it unchanged, {len(found)} times in all."
        + (" Servers that turn null into an empty string before rendering are not affected." if is_local else ""),
        evidence=(
            *(in_prompt(prompt, span.char_span, span.field) for span in found),
            *(in_request(field) for field in fields),
        ),
        fix='Send `"content": ""` instead of null, or print `{{ content or \'\' }}` in the template.',
        severity=Severity.NOTE if is_local else None,
    )


def _empty_for_null(message: JSONObject) -> None:
    if "content" in message and message["content"] is None:
        message["content"] = ""


def _nothing_for_null(prompt: Prompt, finding: Finding) -> str | None:
    return rewritten(prompt, finding, lambda body: f"({body}) or ''", lambda body: "content" in body)


RULE: Rule = TraceRule(
    code="PD213",
    name="null-printed",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vllm-project/vllm#54368", "Blaizzy/mlx-vlm#1864"),
    fixes=(
        RequestFix("an empty content for null", each_message(_empty_for_null)),
        TemplateFix(_nothing_for_null),
    ),
)
