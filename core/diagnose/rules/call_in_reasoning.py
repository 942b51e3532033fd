"""A tool call is inside reasoning.

What it finds:
    A finished call inside a reasoning block. If the block never closes after it and the
    call was not returned, the model meant it and the server did not look there. If the
    block does close and the call was returned anyway, a draft, or a quoted call, was taken
    for a command. A draft that was not returned is not reported.

Why it matters:
    The first loses an action, the second carries out a thought.

Bad:
    `<think>I should look. <tool_call>{…}</tool_call>` and no call returned.

Good:
    `<think>I should look.</think><tool_call>{…}</tool_call>`

Source:
    tracker: vllm-project/vllm#55759, PrimeIntellect-ai/renderers#80, verl-project/verl#4757.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Place, SegmentKind, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.calls_as_text import CallAsText, invented_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import think_less
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    comparison,
    in_message,
    in_raw,
    message_indices,
    open_think_tail,
    opens_with_thought,
)
from prompt_debugger.core.formats import TABLES

_LEAVE_ALONE = "Do not execute it; use a parser that looks for calls only after the end of reasoning."


def find(trace: Trace) -> Iterator[Report]:
    """Report swallowed calls and executed drafts."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None:
        return
    raw, numbers = trace.parse.raw, message_indices(trace)
    last_closer = cache(lambda: last_closer_in(raw))  # most runs have no call that asks for it
    open_from = cache(lambda: _opened_at(trace, raw))
    closed_from = cache(lambda: min((at + len(closer) for closer, at in _first_closers(raw)), default=len(raw) + 1))
    for index, call in enumerate(trace.parse.parsed.calls):
        if call.status is CallStatus.TRUNCATED:
            continue
        returned = numbers.get(index)
        is_draft = call.place is Place.REASONING and call.char_span.stop <= last_closer()
        if is_draft and returned is not None:
            yield Report(
                title=f"A draft of a call to `{call.name}` inside reasoning was returned as a call.",
                detail=f"{_describe_place(call, raw)}; the reasoning block closes after it.",
                evidence=(in_raw(trace, call.char_span), in_message(f"tool_calls[{returned}]")),
                fix=_LEAVE_ALONE,
                certainty=certainty,
            )
        elif not is_draft and returned is None and open_from() <= call.char_span.start < closed_from():
            yield Report(
                title=f"The call to `{call.name}` is inside unfinished reasoning, and the server did not return it.",
                detail=f"{_describe_place(call, raw)}; the reasoning block never closes before it.",
                evidence=(in_raw(trace, call.char_span),),
                fix=(
                    Step("Use a reasoning parser that treats the start of a call as the end of reasoning."),
                    think_less(trace),
                ),
                certainty=certainty,
            )
    for found in invented_calls(trace):
        if found.name_span is not None and is_draft_as_text(found, last_closer()):
            yield Report(
                title=f"A call to `{found.call.name}` that reasoning quotes was returned as a call.",
                detail=(
                    f"Its name is at character {found.name_span.start} of {len(raw)}, as text; the reasoning "
                    "block closes after it."
                ),
                evidence=(in_raw(trace, found.name_span), in_message(found.call.field)),
                fix=_LEAVE_ALONE,
                certainty=certainty,
            )


def is_draft_as_text(found: CallAsText, last_closer: int) -> bool:
    """Return whether a returned call is text inside reasoning that closes after it."""
    return found.text is not None and found.kind is SegmentKind.REASONING and found.text.stop <= last_closer


def last_closer_in(raw: str) -> int:
    """Return where the last tag that closes reasoning begins; -1 if there is none."""
    return max(raw.rfind(pair.closer) for pair in TABLES.reasoning_pairs)


def _describe_place(call: ToolCallAttempt, raw: str) -> str:
    return f"Characters {call.char_span.start} to {call.char_span.stop} of {len(raw)}"


def _first_closers(raw: str) -> Iterator[tuple[str, int]]:
    """Yield the tags that close reasoning with the first place of each."""
    for pair in TABLES.reasoning_pairs:
        at = raw.find(pair.closer)
        if at != -1:
            yield pair.closer, at


def _opened_at(trace: Trace, raw: str) -> int:
    """Return from where on reasoning has been opened, by the prompt or by what the output begins with."""
    if open_think_tail(trace) is not None:
        return 0
    pair = opens_with_thought(raw)
    return len(raw) + 1 if pair is None else len(raw) - len(raw.lstrip()) + len(pair.opener)


RULE: Rule = TraceRule(
    code="PD410",
    name="call-in-reasoning",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#55759", "PrimeIntellect-ai/renderers#80", "verl-project/verl#4757"),
    explains=("PD401", "PD412"),
)
