"""The model wrote tool call arguments that are no JSON object.

What it finds:
    A finished tool call outside reasoning whose arguments, as written, do not
    decode to a JSON object. Empty arguments and calls that were cut have rules
    of their own; so have arguments that are JSON in a string.

Why it matters:
    One parser hands the broken text on, another drops this call, a third turns
    all calls of the message into content. The model wrote it, so no parser
    setting mends it.

Bad:
    `{"city": "Paris"` … `<|tool_call_end|>`

Good:
    `{"city": "Paris"}`

Source:
    tracker: vllm-project/vllm#41739, ollama/ollama#17914.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.fields import decode_json, why_no_object
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import body_calls, in_raw
from prompt_debugger.core.formats import TABLES


def find(trace: Trace) -> Iterator[Report]:
    """Report finished calls with undecodable arguments."""
    if trace.parse is None or trace.parse.parsed.format not in TABLES.json_formats:
        return
    for _, call in body_calls(trace):
        if call.arguments_json is not None or not call.arguments.strip():
            continue
        if isinstance(decode_json(call.arguments), str):
            continue
        yield Report(
            title=f"The model wrote arguments for `{call.name}` that are no JSON object.",
            detail=f"{call.arguments[:120]!r}: {why_no_object(call.arguments)}.",
            evidence=(in_raw(trace, call.arguments_span or call.char_span),),
            fix=(
                *strict_tools(trace),
                Step("Send `temperature: 0`.", {"temperature": 0}),
                Step("Shorten the context, or give the tool a simpler schema."),
            ),
        )


RULE: Rule = TraceRule(
    code="PD308",
    name="malformed-arguments",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    threads=("vllm-project/vllm#41739", "ollama/ollama#17914"),
)
