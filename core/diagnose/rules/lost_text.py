"""Text that the model wrote is in no field of the message.

What it finds:
    Characters of content or reasoning, by the format's own rules, that the message does not
    contain. Whitespace is not counted, nor reasoning that the request asked to leave out,
    nor what a stop string cut off. Text only between two calls, usually a stray separator,
    is a warning.

Why it matters:
    Words before or after a tool call vanish: the user does not see what the agent is about
    to do, and the next prompt differs from what was written.

Bad:
    Raw `Let me look.<tool_call>…</tool_call> Then I will book.`, content `Let me look.`

Good:
    Every written character in content, reasoning or a call.

Source:
    tracker: vllm-project/vllm#43221, vllm-project/vllm#55080.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Fate, Place, SegmentKind, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, fates_within, in_raw
from prompt_debugger.core.diagnose.words import counted


def find(trace: Trace) -> Iterator[Report]:
    """Report the lost stretches, in one report."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None:
        return
    lost = list(_lost(trace))
    if not lost:
        return
    count = sum(stop - start for start, stop in lost)
    first = trace.parse.raw[lost[0].start : lost[0].stop]
    yield Report(
        title=f"{counted(count, 'character')} of the model's text are missing from the message."
        if count > 1
        else "1 character of the model's text is missing from the message.",
        detail=f"From character {lost[0].start}: {first[:80]!r}.",
        evidence=tuple(in_raw(trace, span) for span in lost),
        fix="Read it from the raw output; use a parser that keeps text around calls.",
        certainty=certainty,
        severity=Severity.WARNING if _between_calls(trace, lost) else None,
    )


def _between_calls(trace: Trace, lost: list[Span]) -> bool:
    """Return whether nothing was lost but text between two calls, which is usually a stray separator."""
    assert trace.parse is not None
    calls = [call.char_span for call in trace.parse.parsed.calls if call.place is Place.BODY]
    if len(calls) < 2:
        return False
    return all(calls[0].stop <= span.start and span.stop <= calls[-1].start for span in lost)


def _lost(trace: Trace) -> Iterator[Span]:
    assert trace.parse is not None
    raw = trace.parse.raw
    kinds = {SegmentKind.CONTENT, SegmentKind.REASONING}
    if body_of(trace).get("include_reasoning") is False:
        kinds.discard(SegmentKind.REASONING)
    cut_by_string = trace.chat is not None and isinstance(trace.chat.stop_reason, str)
    for segment in trace.parse.parsed.segments:
        if segment.kind not in kinds:
            continue
        for span, fate in fates_within(trace, segment):
            if (
                fate is Fate.LOST
                and raw[span.start : span.stop].strip()
                and not (cut_by_string and span.stop == len(raw))
            ):
                yield span


RULE: Rule = TraceRule(
    code="PD413",
    name="lost-text",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#43221", "vllm-project/vllm#55080"),
)
