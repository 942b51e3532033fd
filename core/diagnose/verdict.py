"""The run in one sentence, and the stage that is guilty.

The sentence is what people quote in a bug report. How it is written:

* It says what happened, in the past tense of the run, with counts: "The model
  wrote 1 tool call, the server returned none."
* Where something broke it ends with "Guilty stage: NAME." and, where a finding
  explains it, "Cause: …". The first broken stage by the order of blame is the
  guilty one (`blame.py`), never a later one that only suffered.
* Where nothing broke it says what was counted: "Nothing lost: 214 of 214
  characters accounted for." Warnings are named after it; of a text that was pasted
  without its other half, before it.
* An error whose words any program may use, pasted alone, is shown, and no
  stage is named.
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

Of a run that is available in part: a part that was examined and is healthy is said to be so; a part that is not
there is never called empty. "No tool call" is said only of a text that contains nothing of a call and is not
a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.account import count_calls, count_characters
from prompt_debugger.core.base.comparable import UNLINKED, why_incomplete
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import (
    CallStatus,
    Certainty,
    Completeness,
    Conclusion,
    Finding,
    Parse,
    Severity,
    Stage,
    Trace,
    Verdict,
)
from prompt_debugger.core.diagnose.blame import blame_rank
from prompt_debugger.core.diagnose.calls.written_calls import COMPLAINED
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.diagnose.trace_queries import asked_server
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.formats import TABLES

REFUSED = "PD100"
_NOTHING = "Nothing was checked: no request, no prompt and no output."
_REFUSALS = frozenset({REFUSED, "PD221", "PD445"})  # an error in place of an answer: whatever else there is came before
_SYMPTOMS = frozenset({"PD412"})  # which say little once what explains them is known
_AS_TEXT = "PD463"  # a call that is said to be neither a raw output nor a message
_DESCRIBED = "PD469"  # an answer that a report describes and does not show
_STAGE_UNKNOWN = "The message does not say at which stage of a run it occurred."
_NOT_SAID = "so whether anything was lost is unknown."


def reach_verdict(trace: Trace) -> Verdict:
    """Return the verdict on a trace whose findings are filled in.

    Args:
        trace: With `findings`, as `diagnose_trace` returned them.

    Returns:
        Counts, the guilty stage or `None`, and one sentence or a few.
    """
    calls = None if trace.parse is None or trace.chat is None else count_calls(trace.parse.ledger)
    counts = (0, 0, 0) if calls is None else (calls.dropped, calls.altered, calls.invented)
    guilty = _guilty(trace.findings, is_wrong=any(counts))
    if guilty is not None and _is_of_no_stage(guilty, trace):
        sentence = f"{guilty.title} {_STAGE_UNKNOWN}"
        return Verdict(*counts, stage=None, sentence=sentence, conclusion=Conclusion.FAULT)
    if guilty is not None:
        sentence = _sentence_of(guilty, trace.findings, is_assumed=UNLINKED in trace.notes)
        return Verdict(*counts, stage=guilty.stage, sentence=sentence, conclusion=Conclusion.FAULT)
    if any(counts):
        sentence = "Of the calls, {} were dropped, {} altered, {} invented.".format(*counts)
        sentence = f"{sentence} Guilty stage: {Stage.PARSE.value}."
        return Verdict(*counts, stage=Stage.PARSE, sentence=sentence, conclusion=Conclusion.FAULT)
    compared, conclusion = _conclude(trace)
    return Verdict(*counts, stage=None, sentence=_sentence_without_guilt(trace, compared), conclusion=conclusion)


def _guilty(findings: Sequence[Finding], *, is_wrong: bool) -> Finding | None:
    """Return the finding that names the first broken stage."""
    broken = [finding for finding in findings if finding.severity is Severity.ERROR]
    refused = next((finding for finding in broken if finding.code in _REFUSALS), None)
    if refused is not None:
        return _cause_in_answer(refused, broken) or refused
    if not broken and is_wrong:
        broken = [
            finding
            for finding in findings
            if finding.severity is Severity.WARNING
            and (finding.stage in (Stage.PARSE, Stage.CONTRACT) or finding.follows is not None)
        ]
    if not broken:
        return None
    first = min(broken, key=lambda finding: (blame_rank(finding.stage), finding.code))
    cause = _cause_of(first, broken)
    is_reported = cause is not None and (cause.stage is Stage.REQUEST or first.code in _SYMPTOMS)
    return cause if is_reported else first


def _cause_in_answer(complaint: Finding, findings: Sequence[Finding]) -> Finding | None:
    """Return what was observed in the answer that a client complains of in its own words: it says more than they do."""
    cause = _cause_of(complaint, findings)
    is_shown = cause is not None and cause.certainty is Certainty.OBSERVED and cause.stage is Stage.PARSE
    return cause if is_shown and complaint.certainty is Certainty.INFERRED else None


def _is_of_no_stage(guilty: Finding, trace: Trace) -> bool:
    """Return whether it is only an error, in words that any program may use: nothing blames a request."""
    if trace.refusal is None or trace.request.body or guilty.code != REFUSED:
        return False
    return not understand(trace.refusal).says_its_stage


def _cause_of(finding: Finding, findings: Sequence[Finding]) -> Finding | None:
    return next((other for other in findings if other.code == finding.follows), None)


def _sentence_of(guilty: Finding, findings: Sequence[Finding], *, is_assumed: bool) -> str:
    is_doubted = is_assumed or guilty.code in _REFUSALS
    is_sure = not is_doubted or guilty.certainty is Certainty.OBSERVED
    sentence = f"{guilty.title} {'Guilty' if is_sure else 'Probable'} stage: {guilty.stage.value}."
    if guilty.code in _REFUSALS and guilty.follows is None:
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
        and finding.code not in _REFUSALS
        and named.isdisjoint(item.field for item in finding.evidence)
    ]
    return "".join(f" Also in the request: {_inside_sentence(other.title)}" for other in others[:1])


def _inside_sentence(title: str) -> str:
    return title[0].lower() + title[1:] if title.startswith(("The ", "Only when ")) else title


def _sentence_without_guilt(trace: Trace, compared: str) -> str:
    parts = [compared]
    warnings = [finding for finding in trace.findings if finding.severity is Severity.WARNING]
    warnings = [finding for finding in warnings if finding.code != _AS_TEXT]  # which was said already
    if warnings:
        more = f" ({len(warnings) - 1} more)" if len(warnings) > 1 else ""
        first = _cause_of(warnings[0], warnings) or warnings[0]
        warning = f"Warning: {_inside_sentence(first.title)}{more}"
        # Of what was pasted alone the warning is the news; that there is no raw output or no message, the user knows.
        is_alone = trace.raw is None or trace.chat is None
        is_new = is_alone and not asked_server(trace) and not _shown_as_text(trace.findings)
        parts.insert(0 if is_new else 1, warning)
    if trace.chat is not None and asked_server(trace) and trace.prompt is None:
        parts.append("Not checked: the prompt, which the server does not show.")
    return " ".join([*parts, *trace.notes])


def _conclude(trace: Trace) -> tuple[str, Conclusion]:
    """Say what was counted, or why nothing could be."""
    if trace.chat is not None:
        if trace.raw is None:
            return f"{_examined(trace)}The raw output is not known, {_NOT_SAID}", Conclusion.UNKNOWN
        if trace.parse is None:
            return f"The raw output was not read, {_NOT_SAID}", Conclusion.UNKNOWN
        return _compared(trace.parse)
    if trace.parse is not None:
        held = _shown_as_text(trace.findings) or partly_known(trace, trace.parse)
        if trace.raw is not None and trace.raw.completeness is not Completeness.WHOLE:
            return f"{held}, {_NOT_SAID}", Conclusion.UNKNOWN
        return held if held.endswith(".") else f"{held}.", Conclusion.UNCHECKED
    if trace.raw is not None:
        return (
            "The model answered; its output was not read and there is no message to compare it with.",
            Conclusion.UNCHECKED,
        )
    if trace.local_prompt is not None:
        return "Rendered only: no model was asked.", Conclusion.UNCHECKED
    if any(finding.code == _DESCRIBED for finding in trace.findings):
        return f"The answer is described in words and not shown, {_NOT_SAID}", Conclusion.UNKNOWN
    return _examined(trace, only="Only ") or _NOTHING, Conclusion.UNCHECKED


def _shown_as_text(findings: Sequence[Finding]) -> str:
    """Return what a text is that was pasted alone, where that is a call; "" where it is anything else."""
    shown = next((finding for finding in findings if finding.code == _AS_TEXT), None)
    if shown is None:
        return ""
    is_of_server = any(item.where == "server" for item in shown.evidence)
    unknown = "whether that server returned it" if is_of_server else "where it came from"
    return f"{shown.title} The text does not show {unknown}"


def _examined(trace: Trace, only: str = "") -> str:
    """Say which parts were examined and found healthy, or with `only`, that there are no others."""
    parts = examined(trace)
    if not parts or (not only and not is_nothing_wrong(trace.findings)):
        return ""
    were = "were" if " and " in parts or parts.endswith("s") else "was"
    nothing = "nothing more serious than a note was found" if trace.findings else "no problem was found"
    found = nothing if is_nothing_wrong(trace.findings) else ""
    if COMPLAINED in trace.notes and found and not only and not trace.findings:
        return f"The problem described is not visible in {parts} alone. "
    if not only:
        return f"{capitalized(nothing)} in {parts}{_first_note(trace.findings)}. "
    return f"Only {parts} {were} examined" + (f", and {found}." if found else ".")


def _first_note(findings: Sequence[Finding]) -> str:
    """Return what the first of the notes says, after a colon; "" where there is none."""
    if not findings:
        return ""
    more = f" ({len(findings) - 1} more)" if len(findings) > 1 else ""
    return f": {_inside_sentence(findings[0].title).removesuffix('.')}{more}"


def _compared(parse: Parse) -> tuple[str, Conclusion]:
    comparability = parse.ledger.comparability
    characters = count_characters(parse.raw, parse.ledger)
    if comparability is None or characters is None:
        why = "" if comparability is None else comparability.reason
        return f"{why or 'Raw output and answer were not compared'}, {_NOT_SAID}", Conclusion.UNKNOWN
    is_inferred = comparability.certainty is Certainty.INFERRED
    by = f", {comparability.reason or 'judged by a second run of the same prompt'}" if is_inferred else ""
    sum_up = f"{characters.accounted} of {characters.total} characters accounted for{by}."
    if characters.accounted == characters.total:
        return f"Nothing lost: {sum_up}", Conclusion.NOTHING_LOST
    if not characters.missing:
        return f"Only whitespace was lost: {sum_up}", Conclusion.NO_FAULT
    return f"No problems found: {sum_up}", Conclusion.NO_FAULT


_SURE = 0.9  # a score from which on a format's own markers were seen


def is_nothing_wrong(findings: Sequence[Finding]) -> bool:
    """Return whether no finding is more than a note."""
    return all(finding.severity is Severity.NOTE for finding in findings)


def examined(trace: Trace) -> str:
    """Return which parts of a run were examined: "the request and the answer"; "" if none."""
    has_request = bool(trace.request.body.get("messages") or trace.request.body.get("prompt"))
    parts = (
        has_request and "the request",
        not has_request and trace.request.body.get("tools") and "the tools",
        trace.prompt is not None and "the prompt",
        trace.chat is not None and ("the answer" if trace.chat_stream is not trace.chat else "the streamed answer"),
    )
    named = [part for part in parts if part]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def describe_raw(trace: Trace, parse: Parse) -> str:
    """Return what was read in a raw output that comes without a message."""
    calls = parse.parsed.calls
    cut = sum(call.status is CallStatus.TRUNCATED for call in calls)
    if calls:
        whole = f", {cut} of them cut" if cut and len(calls) > 1 else ", which is cut" if cut else ""
        return f"The raw output contains {counted(len(calls), 'tool call')}{whole}"
    markers = [parse.raw[slice(*span)] for span in find_unquoted_markers(parse.raw)]
    call_marker = next((marker for marker in markers if marker in TABLES.call_markers), None)
    opener = next((marker for marker in markers if marker in TABLES.turn_openers), None)
    if opener is not None and trace.raw is not None and trace.prompt is None:
        if (end := _end_before(parse.raw, opener)) is not None:
            return (
                f"The text opens another turn (`{opener}`) after an end token (`{end}`): if a model wrote all of it, "
                f"the server does not stop at `{end}`; otherwise it is a prompt without its beginning. It contains no "
                "call"
            )
        return f"The text opens turns (`{opener}`), as a prompt does; read as a raw output, it contains no call"
    if call_marker is not None:
        return f"The raw output contains the markup of a call (`{call_marker}`) and no call that could be read"
    sure = [(score.score, name) for name, score in parse.format_scores.items() if score.score >= _SURE]
    if sure:
        return f"The raw output is in the format `{max(sure)[1]}` and contains no call that could be read"
    return "The raw output contains no tool call"


def _end_before(raw: str, opener: str) -> str | None:
    """Return the end token before the first turn that a text opens, if there is text before it."""
    before = raw[: raw.find(opener)].rstrip()
    end = next((text for text in TABLES.end_texts if before.endswith(text)), None)
    return end if end is not None and before.removesuffix(end).strip() else None


def partly_known(trace: Trace, parse: Parse) -> str:
    """Return what can be said of a raw output alone, whose control tokens may be lost."""
    held = describe_raw(trace, parse)
    if trace.raw is None or trace.raw.completeness is Completeness.WHOLE:
        return f"{held}; no message to compare with."
    why = why_incomplete(trace.raw)
    return f"{held}. {why}" if parse.parsed.calls else why
