"""The split fuzz of one parser: every chunking, the smallest that fails, the messages where they diverge."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject, Span, Trace, VllmOutcome
from prompt_debugger.core.pipeline import message_from_outcome
from prompt_debugger.ui.present.parsers import vocabulary_note
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.tool_state import jump_of, message_segments
from prompt_debugger.ui.present.words import as_sentence, count_of, joined

_MAX_DELTAS = 400


def splits_payload(trace: Trace, parser: str, outcome: VllmOutcome) -> str:
    """Return the payload of the split fuzz of one parser."""
    whole = message_from_outcome(outcome)
    header: JSONObject = {
        "state": "done" if outcome.error is None else "error",
        "sentence": _splits_sentence(parser, outcome),
        "hint": "",
        "source": joined(f"vLLM {outcome.vllm_version}", vocabulary_note(outcome)),
        "equal": outcome.stream_equal,
        "trials": [[trial.name, trial.deltas, trial.difference] for trial in outcome.trials],
        "whole": message_segments(whole),
        "log": [*outcome.log],
    }
    if outcome.smallest_split and outcome.parts_at is not None:
        header["split"] = _split(trace, outcome, outcome.parts_at)
    return pack_payload(header)


def _splits_sentence(parser: str, outcome: VllmOutcome) -> str:
    if outcome.error is not None:
        return f"`{parser}` could not be tested: {as_sentence(outcome.error)}"
    tried = count_of(outcome.splits_tried, "chunking")
    if outcome.stream_equal:
        return f"`{parser}` streams the same message in all {tried}."
    failing = sum(trial.difference is not None for trial in outcome.trials)
    usual = (
        "token by token, the usual way, is among them"
        if outcome.usual_stream_equal is False
        else ("token by token, the usual way, is not among them")
    )
    return f"`{parser}` streams a different message in {failing} of {tried}; {usual}."


def _split(trace: Trace, outcome: VllmOutcome, parts_at: int) -> JSONObject:
    """Return the smallest failing split: its deltas, and the messages before and after the one that differs."""
    deltas = outcome.smallest_split
    first = max(0, min(parts_at - _MAX_DELTAS // 2, len(deltas) - _MAX_DELTAS))
    start = len("".join(deltas[:parts_at]))
    before, after, streamed = outcome.parting or (None, None, None)
    return {
        "smallest": outcome.first_unequal or "",
        "usual": outcome.usual_unequal or "",
        "first": first,
        "count": len(deltas),
        "deltas": [*deltas[first : first + _MAX_DELTAS]],
        "parts_at": parts_at,
        "jump": _delta_jump(trace, outcome, start, deltas[parts_at]) if deltas else None,
        "before": None if before is None else message_segments(before),
        "after": None if after is None else message_segments(after),
        "streamed": None if streamed is None else message_segments(streamed),
        "has_messages": outcome.parting is not None,
    }


def _delta_jump(trace: Trace, outcome: VllmOutcome, start: int, delta: str) -> JSON:
    """Return where the delta at which they diverge is in the raw output, if the deltas spell its beginning."""
    parse = trace.parse
    if parse is None or not parse.raw.startswith("".join(outcome.smallest_split)):
        return None
    return jump_of(trace, Span(start, start + len(delta)))
