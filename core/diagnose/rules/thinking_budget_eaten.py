"""Reasoning used the whole token budget; no answer was written.

What it finds:
    An output that was cut by its limit while a reasoning block was open: the
    prompt or the raw output opens it and the raw output never closes it.

Why it matters:
    `content` is null, which looks like a parser that swallowed the answer.
    There is none: the parser is right.

Bad:
    `<think>First I should …` and finish_reason `length`

Good:
    `<think>…</think>15 °C in Paris.`

Source:
    tracker: vllm-project/vllm#52640, kekzl/imp#1442.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.output_limit import more_output
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import (
    Sight,
    completion_tokens,
    in_raw,
    open_think_tail,
    opens_with_thought,
    why_cut,
)
from prompt_debugger.core.diagnose.thinking import think_less, thinking_switch


def find(trace: Trace) -> Iterator[Report]:
    """Report a cut output that never left its reasoning."""
    if trace.raw is None or (reason := why_cut(trace)) is None:
        return
    text = trace.raw.text
    opened = open_think_tail(trace) or opens_with_thought(text)
    if opened is None or opened.closer in text:
        return
    count = completion_tokens(trace)
    amount = f"{len(text)} characters" if count is None else f"{count} tokens"
    yield Report(
        title=f"Reasoning used the whole budget of {amount}; no answer was written.",
        detail=f"`{opened.opener.strip()}` was opened and `{opened.closer}` never came: {reason}.",
        evidence=(in_raw(trace, Span(max(0, len(text) - 80), len(text))),),
        fix=(more_output(trace), think_less(thinking_switch(trace), " where the question needs no thinking")),
    )


RULE: Rule = TraceRule(
    code="PD302",
    name="thinking-budget-eaten",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    needs=Sight.CUT,
    threads=("vllm-project/vllm#52640", "kekzl/imp#1442"),
)
