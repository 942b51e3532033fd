"""Why a pane of a run is empty: a finished run says so there, where one that has not begun says what will come."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSONObject, Prompt, Trace
from prompt_debugger.ui.present.json_text import json_segments, segments_to_json
from prompt_debugger.ui.present.live import MAX_TEXT
from prompt_debugger.ui.present.payload import pack_payload

EXPLAINED = ("prompt_tokens", "template", "raw_tokens", "ledger", "findings")
OF_ANSWERS = ("ledger", "findings")  # what comes after the answer: a run that failed before it says so there
CUT_SHORT = "Nothing had come when this run ended."
_UNKNOWN = {
    "prompt_tokens": "The tokens of the prompt are unknown.",
    "template": "The chat template is unknown.",
    "raw_tokens": "The tokens of the raw output are unknown.",
    "ledger": "The account of this run is unknown.",
    "findings": "No diagnosis: there was no answer to diagnose.",
}
_NOT_THERE = {
    "raw_tokens": "There is no raw output.",
    "ledger": "There is no raw output to account for.",
}


def why_no_answer(trace: Trace) -> str:
    """Return why a finished run has no answer to show; "" where one came or may still come."""
    if trace.refusal is not None:
        return f"Nothing came back: the server refused the request, {trace.refusal.label}. See Findings for the reason."
    return "" if trace.verdict is None else "This run did not request it, or nothing came back."


def empty_payload(trace: Trace, view: str) -> str:
    """Return the payload of a view, one of `EXPLAINED`, that a finished run has nothing to show in but the reason.

    The message that came without a raw output is still shown where the two would be next to each other.
    """
    reported: JSONObject = {"empty": _why_empty(trace, view)}
    if view == "ledger" and trace.chat is not None:
        reported["message"] = segments_to_json(json_segments(trace.chat.message))
    return pack_payload(reported)


def text_payload(prompt: Prompt | None) -> str | None:
    """Return the payload of a prompt whose tokens are unknown: its text; `None` without one."""
    if prompt is None or prompt.tokens is not None or not prompt.text:
        return None
    return pack_payload({"empty": "The tokens of this prompt are unknown. Its text:", "text": prompt.text[:MAX_TEXT]})


def _why_empty(trace: Trace, view: str) -> str:
    known = _UNKNOWN[view] if trace.raw is not None else _NOT_THERE.get(view, _UNKNOWN[view])
    if trace.refusal is None or trace.raw is not None:
        return known
    return f"{known} The server refused the request, {trace.refusal.label}. See Findings for the reason."
