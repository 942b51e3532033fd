"""The values of the experiments as JSON, for the command line and the page."""

from __future__ import annotations

from prompt_debugger.core.experiments.compare import Comparison, Side
from prompt_debugger.core.experiments.difference import Hunk, Place, TokenDifference
from prompt_debugger.core.experiments.oracle import CountAnswer, Explanation
from prompt_debugger.core.experiments.switches import Switch
from prompt_debugger.core.experiments.turns import Turn, TurnBreak, TurnReport
from prompt_debugger.core.experiments.variant import RenderFailure
from prompt_debugger.core.experiments.what_if import Effect, WhatIf
from prompt_debugger.core.types import JSON, JSONObject

_HUNKS = 50  # stretches of a difference that are listed
_TEXT = 2_000  # characters of a stretch that are shown


def what_if_to_json(report: WhatIf) -> JSONObject:
    """Return every switch and what it does."""
    return {
        "unit": report.unit,
        "unit_count": report.unit_count,
        "failure": _failure(report.failure),
        "effects": [_effect(effect) for effect in report.effects],
        "untried": [switch.name for switch in report.untried],
        "absent": [{"name": one.name, "topic": str(one.topic), "reason": one.reason} for one in report.absent],
    }


def comparison_to_json(comparison: Comparison) -> JSONObject:
    """Return what two setups make of one request."""
    return {
        "left": _side(comparison.left),
        "right": _side(comparison.right),
        "is_same_text": comparison.is_same_text,
        "difference": difference_to_json(comparison.difference),
        "renumbered": comparison.renumbered,
    }


def answer_to_json(answer: CountAnswer) -> JSONObject:
    """Return what explains a number of prompt tokens."""
    return {
        "counted": answer.counted,
        "as_pasted": answer.as_pasted,
        "sentence": answer.sentence,
        "is_exact": answer.is_exact,
        "exact_count": answer.exact_count,
        "tie_count": answer.tie_count,
        "explanations": [_explanation(one) for one in answer.explanations],
        "rendered_count": answer.rendered_count,
        "left_out": answer.left_out,
        "failed": list(answer.failed),
    }


def turns_to_json(report: TurnReport) -> JSONObject:
    """Return a conversation, turn by turn."""
    return {
        "unit": report.unit,
        "lost": report.lost,
        "skipped": report.skipped,
        "turns": [_turn(turn) for turn in report.turns],
    }


def difference_to_json(difference: TokenDifference | None) -> JSONObject | None:
    """Return a difference; long stretches are cut, and further ones only counted."""
    if difference is None:
        return None
    return {
        "unit": difference.unit,
        "first": difference.first,
        "removed": difference.removed,
        "added": difference.added,
        "before": _place(difference.before),
        "after": _place(difference.after),
        "hunks": [_hunk(hunk) for hunk in difference.hunks[:_HUNKS]],
        "hunk_count": len(difference.hunks),
        "is_aligned": difference.is_aligned,
    }


def _switch(switch: Switch) -> JSONObject:
    return {"name": switch.name, "topic": str(switch.topic), "change": switch.change}


def _effect(effect: Effect) -> JSONObject:
    return {
        "switch": _switch(effect.switch),
        "kind": str(effect.kind),
        "sentence": effect.sentence,
        "fields": list(effect.fields),
        "unit_count": effect.unit_count,
        "difference": difference_to_json(effect.difference),
        "failure": _failure(effect.failure),
        "text": effect.text,
    }


def _side(side: Side) -> JSONObject:
    return {"text": side.text, "unit_count": side.unit_count, "failure": _failure(side.failure)}


def _explanation(one: Explanation) -> JSONObject:
    return {
        "switches": [_switch(switch) for switch in one.switches],
        "token_count": one.token_count,
        "off_by": one.off_by,
        "also": [list(names) for names in one.also],
    }


def _turn(turn: Turn) -> JSONObject:
    return {
        "message_index": turn.message_index,
        "next_index": turn.next_index,
        "known": turn.known,
        "next_count": turn.next_count,
        "kept": turn.kept,
        "prefill": turn.prefill,
        "is_raw": turn.is_raw,
        "break": _break(turn.broken),
        "failure": _failure(turn.failure),
    }


def _break(broken: TurnBreak | None) -> JSONObject | None:
    if broken is None:
        return None
    return {
        "first": broken.first,
        "before": _place(broken.before),
        "after": _place(broken.after),
        "lost": broken.lost,
        "cause": str(broken.cause.cause),
        "sentence": broken.cause.sentence,
        "is_proved": broken.cause.is_proved,
        "remedies": list(broken.remedies),
    }


def _place(place: Place) -> JSONObject:
    return {"char": place.char, "text": place.text, "field": place.field, "template_line": place.template_line}


def _hunk(hunk: Hunk) -> JSONObject:
    return {
        "before_span": list(hunk.before_span),
        "after_span": list(hunk.after_span),
        "before": _cut(hunk.before),
        "after": _cut(hunk.after),
    }


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"


def _failure(failure: RenderFailure | None) -> JSON:
    if failure is None:
        return None
    return {
        "message": failure.message,
        "hint": failure.hint,
        "template_line": failure.template_line,
        "template_column": failure.template_column,
    }
