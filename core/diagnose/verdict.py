"""The run in one sentence, and the stage that is guilty.

The sentence is what people quote in a bug report. How it is written:

* It says what happened, in the past tense of the run, with counts: "The model
  wrote 1 tool call, the server returned none."
* Where something broke it ends with "Guilty stage: NAME." and, where a finding
  explains it, "Cause: …". The first broken stage by the order of blame is the
  guilty one (`blame.py`), never a later one that only suffered.
* Where nothing broke it says what was counted: "Nothing lost: 214 of 214
  characters accounted for." Warnings are named behind it.
* What was not seen is said, never passed over: no prompt, no raw output, no
  message, or two runs that may differ; the notes of the run follow. "Nothing
  lost" is said only of output and message of one run, or of two that had to
  agree.
* No exclamation marks, no advice (that is in the findings), no hedging words.

Two decisions that could have gone the other way. A call that was cut by the
token limit is the fault of `complete`, also where the server labels it
complete: the label follows from the cut. A prompt without generation prompt
is the fault of `render`, also where a field of the request asked for it: the
prompt is what is wrong, and the fix names the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.diagnose.blame import blame_rank
from core.diagnose.fields import calls_of_message
from core.diagnose.rules.altered_call import altered_fields
from core.diagnose.sight import comparison, dropped_calls
from core.diagnose.words import counted
from core.types import Certainty, Completeness, Fate, Finding, Parse, Severity, Stage, Trace, Verdict

REFUSED = "PD100"


class CallCounts(NamedTuple):
    """How many calls did not come through as written."""

    dropped: int
    altered: int
    invented: int


def reach_verdict(trace: Trace) -> Verdict:
    """Return the verdict on a trace whose findings are filled in.

    Args:
        trace: With `findings`, as `diagnose_trace` returned them.

    Returns:
        Counts, the guilty stage or `None`, and one sentence or a few.
    """
    counts = count_calls(trace)
    guilty = _guilty(trace.findings, counts)
    if guilty is not None:
        return Verdict(*counts, stage=guilty.stage, sentence=_sentence_of(guilty, trace.findings))
    if any(counts):
        sentence = f"Of the calls, {counts.dropped} were dropped, {counts.altered} altered, {counts.invented} invented."
        return Verdict(*counts, stage=Stage.PARSE, sentence=f"{sentence} Guilty stage: {Stage.PARSE.value}.")
    return Verdict(*counts, stage=None, sentence=_sentence_without_guilt(trace))


def count_calls(trace: Trace) -> CallCounts:
    """Count what the ledger says of calls; zeros where output and message cannot be compared."""
    if comparison(trace) is None or trace.parse is None or trace.chat is None:
        return CallCounts(0, 0, 0)
    returned = {call.field: call for call in calls_of_message(trace.chat.message)}
    altered = invented = 0
    for match in trace.parse.ledger.matches:
        got = returned.get(f"tool_calls[{match.message_index}]")
        if match.raw_index is None:
            invented += 1
        elif got is not None and altered_fields(trace.parse.parsed.calls[match.raw_index], got, match.altered):
            altered += 1
    return CallCounts(len(dropped_calls(trace)), altered, invented)


def _guilty(findings: Sequence[Finding], counts: CallCounts) -> Finding | None:
    """Return the finding that names the first broken stage."""
    broken = [finding for finding in findings if finding.severity is Severity.ERROR]
    refused = next((finding for finding in broken if finding.code == REFUSED), None)
    if refused is not None:
        return refused
    if not broken and any(counts):
        broken = [
            finding
            for finding in findings
            if finding.severity is Severity.WARNING and finding.stage in (Stage.PARSE, Stage.CONTRACT)
        ]
    if not broken:
        return None
    first = min(broken, key=lambda finding: (blame_rank(finding.stage), finding.code))
    cause = _cause_of(first, broken)
    return cause if cause is not None and cause.stage is Stage.REQUEST else first


def _cause_of(finding: Finding, findings: Sequence[Finding]) -> Finding | None:
    return next((other for other in findings if other.code == finding.follows), None)


def _sentence_of(guilty: Finding, findings: Sequence[Finding]) -> str:
    sentence = f"{guilty.title} Guilty stage: {guilty.stage.value}."
    if guilty.code == REFUSED:
        return sentence + _other_request_faults(guilty, findings)
    cause = _cause_of(guilty, findings)
    return sentence if cause is None else f"{sentence} Cause: {_inside_sentence(cause.title)}"


def _other_request_faults(refused: Finding, findings: Sequence[Finding]) -> str:
    """Name what else the request has wrong, besides the field that the server named."""
    named = {item.field for item in refused.evidence}
    others = [
        finding
        for finding in findings
        if finding.severity is Severity.ERROR
        and finding.stage is Stage.REQUEST
        and finding.code != REFUSED
        and named.isdisjoint(item.field for item in finding.evidence)
    ]
    return "".join(f" Also in the request: {_inside_sentence(other.title)}" for other in others[:1])


def _inside_sentence(title: str) -> str:
    return "the" + title[3:] if title.startswith("The ") else title


def _sentence_without_guilt(trace: Trace) -> str:
    parts = [_what_was_compared(trace)]
    warnings = [finding for finding in trace.findings if finding.severity is Severity.WARNING]
    if warnings:
        more = f" ({len(warnings) - 1} more)" if len(warnings) > 1 else ""
        parts.append(f"Warning: {_inside_sentence(warnings[0].title)}{more}")
    if trace.chat is not None and trace.server is not None and trace.prompt is None:
        parts.append("Not checked: the prompt, which the server does not show.")
    return " ".join([*parts, *trace.notes])


def _what_was_compared(trace: Trace) -> str:
    """Say what was counted, or why nothing could be."""
    certainty = comparison(trace)
    if trace.parse is not None and certainty is not None:
        by = ", judged by a second run of the same prompt" if certainty is Certainty.INFERRED else ""
        return _accounted(trace.parse, by)
    if trace.raw is not None and trace.raw.completeness is not Completeness.WHOLE:
        lacks = "lacks" if trace.raw.completeness is Completeness.STRIPPED else "may lack"
        return f"The raw text {lacks} control tokens, so whether anything was lost cannot be said."
    if trace.chat is not None:
        if trace.raw is None:
            return "The raw output is not known, so whether anything was lost cannot be said."
        if trace.parse is None:
            return "The raw output was not read, so whether anything was lost cannot be said."
        return "Raw output and answer come from two runs that may differ, so whether anything was lost cannot be said."
    if trace.parse is not None:
        calls = counted(len(trace.parse.parsed.calls), "tool call")
        return (
            f"The raw output holds {calls if trace.parse.parsed.calls else 'no tool call'}; no message to compare with."
        )
    if trace.raw is not None:
        return "The model answered; the output was not read and no message is there to compare with."
    if trace.prompt is not None or trace.local_prompt is not None:
        return "Rendered only: the model was not asked."
    return "Nothing was checked: no prompt and no output."


def _accounted(parse: Parse, by: str) -> str:
    total = len(parse.raw)
    lost = [e.char_span for e in parse.ledger.entries if e.fate in (Fate.LOST, Fate.ALTERED)]
    count = sum(stop - start for start, stop in lost)
    sum_up = f"{total - count} of {total} characters accounted for{by}."
    if not count:
        return f"Nothing lost: {sum_up}"
    if not any(parse.raw[start:stop].strip() for start, stop in lost):
        return f"Nothing lost but white space: {sum_up}"
    return f"No fault found: {sum_up}"
