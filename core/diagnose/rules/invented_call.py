"""The server returned a tool call that the model did not write.

What it finds:
    A tool call of the message that has no counterpart in the raw output, neither in the
    body nor in reasoning. If the raw output contains it as text that is quoted or mentioned
    in a sentence, or begins a call with its name, the finding says so; inside reasoning that
    closes, it is PD410.

Why it matters:
    Something the model never asked for is executed: an example in prose, a draft in its
    reasoning, or something that a confused parser assembled.

Bad:
    Raw ``The format is `{"name": "rm", …}`.``, message with a call to `rm`.

Good:
    Every returned call has its characters in the raw output.

Source:
    tracker: Gitlawb/openclaude#1076, mudler/LocalAI#9722, PrimeIntellect-ai/renderers#80.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.calls_as_text import CallAsText, invented_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.rules.call_in_reasoning import is_draft_as_text, last_closer_in
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, in_message, in_raw
from prompt_debugger.core.diagnose.words import counted, listed
from prompt_debugger.core.formats import TABLES

_MAX_MARKER = 60  # characters from a marker of calls to the name, with what some families write before it
_FIX = "Do not execute it. Check which parser the server runs, and whether it mistakes prose or reasoning for calls."


def find(trace: Trace) -> Iterator[Report]:
    """Report calls with no origin in the output, calls that it only names, and calls that it has only as text."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None:
        return
    invented = [*invented_calls(trace)]
    if not invented:
        return
    last_closer = last_closer_in(trace.parse.raw)
    calls = [found for found in invented if not is_draft_as_text(found, last_closer)]
    without_text = [found for found in calls if found.name_span is None]
    named = [found for found in without_text if _begins_call(trace.parse.raw, found.call.name)]
    if named:
        yield _report_named(trace, named, certainty)
    unexplained = [found for found in without_text if found not in named]
    if unexplained:
        yield Report(
            title=f"The server returned {counted(len(unexplained), 'tool call')} that the model did not write.",
            detail=f"No characters of the raw output explain {_names(unexplained)}.",
            evidence=_returned(unexplained),
            fix=_FIX,
            certainty=certainty,
        )
    as_text = [found for found in calls if found.name_span is not None]
    if as_text:
        yield _report_text(trace, as_text, certainty)


def _begins_call(raw: str, name: str | None) -> bool:
    """Return whether a name follows a marker of calls, so that the model began a call with it."""
    at = raw.find(name) if name else -1
    before = raw[max(0, at - _MAX_MARKER) : at] if at > 0 else ""
    return any(marker in before for marker in TABLES.call_markers)


def _report_named(trace: Trace, calls: list[CallAsText], certainty: Certainty) -> Report:
    """Report calls whose name the raw output contains, without a call around it that could be read."""
    raw = "" if trace.parse is None else trace.parse.raw
    spans = [Span(at := raw.index(name), at + len(name)) for found in calls if (name := found.call.name)]
    return Report(
        title=f"The server returned {counted(len(calls), 'tool call')} that the model did not write as a call.",
        detail=f"The raw output contains {_names(calls)} at character {spans[0].start}, but no whole call with it: the "
        "server's parser mistook what is there for one.",
        evidence=(*_returned(calls), *(in_raw(trace, span) for span in spans)),
        fix=_FIX,
        certainty=certainty,
    )


def _report_text(trace: Trace, calls: list[CallAsText], certainty: Certainty) -> Report:
    spans = [found.name_span for found in calls if found.name_span is not None]
    kinds = sorted({found.kind.value for found in calls if found.kind is not None})
    return Report(
        title=f"The server returned {counted(len(calls), 'tool call')} that the model wrote only as text.",
        detail=(
            f"The raw output contains {_names(calls)} at character {spans[0].start}; we read it as text there, "
            f"part of {' and '.join(kinds)}, not as a call."
        ),
        evidence=(*_returned(calls), *(in_raw(trace, span) for span in spans)),
        fix=_FIX,
        certainty=certainty,
    )


def _names(calls: list[CallAsText]) -> str:
    return listed([found.call.name or found.call.field for found in calls])


def _returned(calls: list[CallAsText]) -> tuple[FindingEvidence, ...]:
    return tuple(in_message(found.call.field, f"{found.call.name} {found.call.arguments}") for found in calls)


RULE: Rule = TraceRule(
    code="PD403",
    name="invented-call",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("Gitlawb/openclaude#1076", "mudler/LocalAI#9722", "PrimeIntellect-ai/renderers#80"),
    explains=("PD501",),
)
