"""What was examined of a run of which only a part is at hand, in a sentence that claims no more than that.

A part that was examined and is healthy is said to be so; a part that is not there is never called empty. "No tool
call" is said only of a text in which nothing of a call stands, and which is not a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.comparable import why_incomplete
from prompt_debugger.core.base.types import CallStatus, Completeness, Finding, Parse, Severity, Trace
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.formats import TABLES

_SURE = 0.9  # a score from which on a format's own markers were seen


def is_nothing_wrong(findings: Sequence[Finding]) -> bool:
    """Tell whether no finding is more than a note."""
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


def what_raw_holds(trace: Trace, parse: Parse) -> str:
    """Return what was read in a raw output that has no message beside it."""
    calls = parse.parsed.calls
    cut = sum(call.status is CallStatus.TRUNCATED for call in calls)
    if calls:
        whole = f", {cut} of them cut" if cut and len(calls) > 1 else ", which is cut" if cut else ""
        return f"The raw output holds {counted(len(calls), 'tool call')}{whole}"
    markers = [parse.raw[slice(*span)] for span in find_unquoted_markers(parse.raw)]
    call_marker = next((marker for marker in markers if marker in TABLES.call_markers), None)
    opener = next((marker for marker in markers if marker in TABLES.turn_openers), None)
    if opener is not None and trace.raw is not None and trace.prompt is None:
        return f"The text opens turns (`{opener}`), as a prompt does; read as a raw output, it holds no call"
    if call_marker is not None:
        return f"The raw output holds the markup of a call (`{call_marker}`) and no call that could be read"
    best = max(((score.score, name) for name, score in parse.format_scores.items()), default=(0.0, ""))
    if best[0] >= _SURE:
        return f"The raw output is in the format `{best[1]}` and holds no call that could be read"
    return "The raw output holds no tool call"


def partly_known(trace: Trace, parse: Parse) -> str:
    """Return what can be said of a raw output alone, whose control tokens may be lost."""
    held = what_raw_holds(trace, parse)
    if trace.raw is None or trace.raw.completeness is Completeness.WHOLE:
        return f"{held}; no message to compare with."
    why = why_incomplete(trace.raw)
    return f"{held}. {why}" if parse.parsed.calls else why
