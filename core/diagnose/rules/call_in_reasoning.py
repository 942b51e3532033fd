"""A tool call lies inside reasoning.

What it finds:
    A finished call inside a reasoning block. If the block never closes behind
    it and the call was not returned, the model meant it and the server did not
    look there. If the block does close and the call was returned all the same,
    a draft, be it quoted, was taken for a command. A draft that was left alone
    is no finding.

Why it matters:
    The one loses an action, the other carries out a thought.

Bad:
    `<think>I should look. <tool_call>{…}</tool_call>` and no call returned.

Good:
    `<think>I should look.</think><tool_call>{…}</tool_call>`

Source:
    tracker: vllm-project/vllm#55759, PrimeIntellect-ai/renderers#80, verl-project/verl#4757.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls_as_text import CallAsText, invented_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import (
    Sight,
    comparison,
    in_message,
    in_raw,
    message_index_of,
    open_think_tail,
    opens_with_thought,
)
from prompt_debugger.core.diagnose.thinking import think_less, thinking_switch
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.protocols import Rule
from prompt_debugger.core.types import CallStatus, Place, SegmentKind, Severity, Stage, ToolCallAttempt, Trace

_LEAVE_ALONE = "Do not execute it; use a parser that looks for calls behind the end of reasoning only."


def find(trace: Trace) -> Iterator[Report]:
    """Report swallowed calls and executed drafts."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None:
        return
    raw = trace.parse.raw
    for index, call in enumerate(trace.parse.parsed.calls):
        if call.status is CallStatus.TRUNCATED:
            continue
        returned = message_index_of(trace, index)
        is_draft = call.place is Place.REASONING and _closes(raw[call.char_span.stop :])
        if is_draft and returned is not None:
            yield Report(
                title=f"A draft of a call to `{call.name}` inside reasoning was returned as a call.",
                detail=f"{_where(call, raw)}; the reasoning block closes behind it.",
                evidence=(in_raw(trace, call.char_span), in_message(f"tool_calls[{returned}]")),
                fix=_LEAVE_ALONE,
                certainty=certainty,
            )
        elif not is_draft and returned is None and _is_reasoning_open(trace, raw[: call.char_span.start]):
            yield Report(
                title=f"The call to `{call.name}` lies inside unfinished reasoning, and the server did not return it.",
                detail=f"{_where(call, raw)}; the reasoning block never closes before it.",
                evidence=(in_raw(trace, call.char_span),),
                fix=(
                    Step("Use a reasoning parser that takes the start of a call for the end of reasoning."),
                    think_less(thinking_switch(trace)),
                ),
                certainty=certainty,
            )
    for found in invented_calls(trace):
        if found.name_span is not None and is_draft_as_text(trace, found):
            yield Report(
                title=f"A call to `{found.call.name}` that reasoning quotes was returned as a call.",
                detail=f"Its name stands at character {found.name_span.start} of {len(raw)}, as text; "
                "the reasoning block closes behind it.",
                evidence=(in_raw(trace, found.name_span), in_message(found.call.field)),
                fix=_LEAVE_ALONE,
                certainty=certainty,
            )


def is_draft_as_text(trace: Trace, found: CallAsText) -> bool:
    """Tell whether a returned call stands as text inside reasoning that closes behind it."""
    if trace.parse is None or found.name_span is None or found.kind is not SegmentKind.REASONING:
        return False
    inside = next(
        s for s in trace.parse.parsed.segments if s.char_span.start <= found.name_span.start < s.char_span.stop
    )
    return _closes(trace.parse.raw[inside.char_span.stop :])


def _where(call: ToolCallAttempt, raw: str) -> str:
    return f"Characters {call.char_span.start} to {call.char_span.stop} of {len(raw)}"


def _closes(text: str) -> bool:
    return any(pair.closer in text for pair in TABLES.reasoning_pairs)


def _is_reasoning_open(trace: Trace, before: str) -> bool:
    """Tell whether the text in front of a call opened reasoning and did not close it."""
    opened = (open_think_tail(trace) or opens_with_thought(before)) is not None
    return opened and not _closes(before)


RULE: Rule = TraceRule(
    code="PD410",
    name="call-in-reasoning",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=Sight.COMPARISON,
    threads=("vllm-project/vllm#55759", "PrimeIntellect-ai/renderers#80", "verl-project/verl#4757"),
    explains=("PD401", "PD412"),
)
