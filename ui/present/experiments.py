"""Experiments on the request → what their views draw: switches, turns, a token count, two setups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prompt_debugger.core.base.errors import DebuggerError, RenderError, RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Token, TokenKind
from prompt_debugger.core.tools.experiments import (
    AbsentSwitch,
    Comparison,
    CountAnswer,
    Effect,
    EffectKind,
    Hunk,
    Place,
    RenderFailure,
    TokenDifference,
    Turn,
    TurnBreak,
    TurnReport,
    WhatIf,
    agree,
)
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.tokens import merge_tokens
from prompt_debugger.ui.present.words import as_sentence, count_of, joined, shortened

MAX_HUNKS = 12
_MAX_EXPLANATIONS = 40


def switches_payload(report: WhatIf, source: str, *, is_running: bool = False) -> str:
    """Return the payload of the switches known so far; `source` says in words what the request is rendered with."""
    by_kind: dict[EffectKind, list[Effect]] = {kind: [] for kind in EffectKind}
    for effect in report.effects:
        by_kind[effect.kind].append(effect)
    tried = len(report.effects)
    return _pack(
        source,
        _switches_sentence(report, by_kind),
        is_running=is_running,
        progress=_progress(tried, tried + len(report.untried), "switches"),
        failure=_failure(report.failure),
        changes=[_change(effect) for effect in by_kind[EffectKind.CHANGES]],
        mends=[_named(effect) for effect in by_kind[EffectKind.MENDS]],
        fails=[{**_named(effect), "failure": _failure(effect.failure)} for effect in by_kind[EffectKind.FAILS]],
        nothing=[[effect.switch.name, effect.switch.change] for effect in by_kind[EffectKind.NOTHING]],
        absent=_absent(report.absent),
        untried=[] if is_running else [switch.name for switch in report.untried],
    )


def turns_payload(report: TurnReport, source: str, *, is_running: bool = False) -> str:
    """Return the payload of the conversation turn by turn; arguments as `switches_payload`."""
    return _pack(
        source,
        _turns_sentence(report, is_running=is_running),
        is_running=is_running,
        progress=_progress(len(report.turns), len(report.turns) + report.untried, "turns"),
        turns=[_turn(turn, report.unit) for turn in report.turns],
        note=f"The {count_of(report.skipped, 'turn')} before these were not examined." if report.skipped else "",
    )


def count_payload(
    answer: CountAnswer, source: str, *, earlier: Sequence[CountAnswer] = (), is_running: bool = False
) -> str:
    """Return the payload of the explanations of a token count."""
    shown = answer.explanations[:_MAX_EXPLANATIONS]
    failed = f"The template fails with {len(answer.failed)} of the switches." if answer.failed else ""
    left_out = f"{count_of(answer.left_out, 'combination')} left untried." if answer.left_out else ""
    return _pack(
        source,
        answer.sentence,
        is_running=is_running,
        tone="exact" if answer.tie_count == 1 else "tie" if answer.is_exact else "none",
        progress={"text": f"{count_of(answer.rendered_count, 'render')} tried", "fraction": None},
        explanations=[
            {
                "count": one.token_count,
                "off_by": one.off_by,
                "names": [*one.names],
                "words": as_sentence(" and ".join(switch.change for switch in one.switches) or one.words),
                "also": [" + ".join(names) for names in one.also],
            }
            for one in shown
        ],
        notes=[note for note in (f"{count_of(answer.rendered_count, 'render')} tried.", left_out, failed) if note],
        agreement=_agreement([*earlier, answer]) if earlier and not is_running else None,
    )


def setups_payload(comparison: Comparison, source: str, other: str) -> str:
    """Return the payload of one request in two setups, each described in words."""
    unit = "token" if comparison.difference is None else comparison.difference.unit
    sides: list[JSON] = [
        {
            "name": name,
            "count": None if side.unit_count is None else count_of(side.unit_count, unit),
            "failure": _failure(side.failure),
        }
        for name, side in (("first", comparison.left), ("second", comparison.right))
    ]
    return _pack(
        source,
        _setups_sentence(comparison),
        other=other,
        sides=sides,
        difference=None if comparison.difference is None else difference_to_view(comparison.difference),
    )


def bench_error_payload(error: DebuggerError) -> str:
    """Return the payload of any view of the bench for what could not be done."""
    place: JSON = None
    if isinstance(error, RequestError) and error.line is not None:
        place = {"line": error.line, "column": error.column or 1}
    elif isinstance(error, RequestError) and error.field:
        place = {"field": error.field}
    elif isinstance(error, RenderError) and error.template_line is not None:
        place = {"template_line": error.template_line, "template_column": error.template_column}
    return pack_payload(
        {"state": "error", "sentence": as_sentence(error.message), "hint": error.hint, "place": place, "source": ""}
    )


def _pack(source: str, sentence: str, *, is_running: bool = False, **more: JSON) -> str:
    return pack_payload({"state": "running" if is_running else "done", "source": source, "sentence": sentence, **more})


def _progress(done: int, planned: int, word: str) -> JSONObject:
    return {"text": f"{done} of {planned} {word}", "fraction": round(done / planned, 3) if planned else None}


def _switches_sentence(report: WhatIf, by_kind: dict[EffectKind, list[Effect]]) -> str:
    if report.failure is not None:
        size = "As pasted, the request produces no prompt."
    else:
        size = f"{count_of(report.unit_count or 0, report.unit)} as pasted."
    counted = joined(
        *(
            f"{len(by_kind[kind])} {word}" if by_kind[kind] else None
            for kind, word in (
                (EffectKind.CHANGES, "change the prompt"),
                (EffectKind.MENDS, "fix the request"),
                (EffectKind.FAILS, "are refused"),
                (EffectKind.NOTHING, "change nothing"),
            )
        )
    )
    if not report.effects:
        return size
    return f"{size} Of {count_of(len(report.effects), 'switch')}: {counted}."


def _named(effect: Effect) -> JSONObject:
    return {
        "name": effect.switch.name,
        "topic": str(effect.switch.topic),
        "change": as_sentence(effect.switch.change),
        "fields": [*effect.fields[:8]],
    }


def _change(effect: Effect) -> JSONObject:
    assert effect.difference is not None  # that is what makes it a change
    return {**_named(effect), "difference": difference_to_view(effect.difference)}


def difference_to_view(difference: TokenDifference) -> JSONObject:
    """Return where two texts differ as the views draw it: token by token, a few tokens around each place."""
    left_out = len(difference.hunks) - MAX_HUNKS
    notes = []
    if left_out > 0:
        notes.append(f"{count_of(left_out, 'further stretch')} differ.")
    if not difference.is_aligned:
        notes.append("Too long and too different to be aligned: the middle is shown as one piece.")
    return {
        "unit": difference.unit,
        "first": difference.first,
        "removed": difference.removed,
        "added": difference.added,
        "before": _place(difference.before),
        "after": _place(difference.after),
        "hunks": [_hunk(hunk) for hunk in difference.hunks[:MAX_HUNKS]],
        "notes": [*notes],
    }


def _hunk(hunk: Hunk) -> JSONObject:
    old, new = hunk.before_span, hunk.after_span
    return {
        "at": old.start,
        "lead": token_chips(hunk.lead),
        "removed": token_chips(hunk.before_tokens, hunk.before, count=old.stop - old.start),
        "added": token_chips(hunk.after_tokens, hunk.after, count=new.stop - new.start),
        "tail": token_chips(hunk.tail),
    }


def _place(place: Place) -> JSONObject:
    return {"field": place.field, "template_line": place.template_line}


def _failure(failure: RenderFailure | None) -> JSON:
    if failure is None:
        return None
    return {
        "sentence": as_sentence(failure.message),
        "hint": failure.hint,
        "template_line": failure.template_line,
        "template_column": failure.template_column,
    }


def _absent(absent: Iterable[AbsentSwitch]) -> list[JSON]:
    """Return the switches that do not apply, those with the same reason together."""
    by_reason: dict[str, list[JSON]] = {}
    for one in absent:
        by_reason.setdefault(one.reason, []).append(one.name)
    return [[reason, names] for reason, names in by_reason.items()]


def _turns_sentence(report: TurnReport, *, is_running: bool) -> str:
    if not report.turns:
        return "" if is_running else "No past assistant turn in this request, so no earlier prompt to compare with."
    broken = report.first_broken
    if broken is not None:
        lost = f"{count_of(report.lost, report.unit)} lost in all"
        return f"The prefix first breaks after messages[{broken.message_index}]: {lost}."
    if any(turn.failure is not None for turn in report.turns):
        return "Some turns cannot be rendered; after the others, the prompt continues where the model ended."
    return "Every prompt begins with the previous one and the model's output: nothing is lost."


def _turn(turn: Turn, unit: str) -> JSONObject:
    made: JSONObject = {"index": turn.message_index, "is_raw": turn.is_raw, "failure": _failure(turn.failure)}
    if turn.failure is not None:
        return {**made, "state": "failed", "sentence": "No prompt to compare."}
    size = f"{turn.kept:,} of {count_of(turn.known, unit)} kept"
    if turn.broken is None:
        return {**made, "state": "kept", "sentence": f"The next prompt continues where the model ended: {size}."}
    return {**made, "state": "broken", "sentence": f"{size}, {turn.broken.lost:,} lost.", **_break(turn.broken, unit)}


def _break(broken: TurnBreak, unit: str) -> JSONObject:
    return {
        "at": f"{unit} {broken.first:,}",
        "cause": broken.sentence,
        "certainty": "proved by rendering" if broken.is_proved else "inferred from the place",
        "remedies": [*broken.remedies],
        "lead": token_chips(broken.before.lead),
        "removed": token_chips(broken.before.tokens, broken.before.text),
        "added": token_chips(broken.after.tokens, broken.after.text),
        "before": _place(broken.before),
        "after": _place(broken.after),
    }


def _agreement(answers: Sequence[CountAnswer]) -> JSONObject:
    counts = ", ".join(f"{answer.counted:,}" for answer in answers)
    names = agree(answers)
    shown = [" + ".join(one) or "as pasted" for one in names[:8]]
    if not names:
        return {"sentence": f"No single way explains all the counts {counts}.", "names": []}
    sentence = f"{count_of(len(names), 'way')} {'explains' if len(names) == 1 else 'explain'} all the counts {counts}."
    return {"sentence": sentence, "names": [*shown]}


def _setups_sentence(comparison: Comparison) -> str:
    if comparison.left.failure is not None or comparison.right.failure is not None:
        return "With one of the two there is no prompt, so there is nothing to compare."
    difference = comparison.difference
    if difference is not None:
        texts = "The texts are the same, but the tokens are not" if comparison.is_same_text else "The prompts differ"
        return (
            f"{texts}: −{difference.removed:,} +{difference.added:,} {difference.unit}s, "
            f"from {difference.unit} {difference.first:,} on."
        )
    if comparison.renumbered:
        return f"Both split the text the same way; {count_of(comparison.renumbered, 'token')} have a different id."
    return "Both give the same prompt."


_MAX_TEXT = 1_500
_MARKS = {TokenKind.TEXT: "text", TokenKind.SPECIAL: "special", TokenKind.ADDED: "added", TokenKind.BYTE: "byte"}


def token_chips(tokens: Sequence[Token], text: str = "", *, count: int | None = None) -> list[JSON]:
    """Return chips as [text, kind, ids, bytes]; kind `more` is a note about what is left out.

    Without tokens `text` is one chip of kind `word`; `count` is how many there are if `tokens` are only the first.
    """
    if not tokens:
        return [[shortened(text, _MAX_TEXT), "word", "", ""]] if text else []
    chips: list[JSON] = [_chip(chip) for chip in merge_tokens(tokens)]
    left_out = 0 if count is None else count - len(tokens)
    if left_out > 0:
        chips.append([f"{left_out:,} more", "more", "", ""])
    return chips


def _chip(tokens: Sequence[Token]) -> JSON:
    text = "".join(token.text for token in tokens)
    piece = b"".join(token.piece for token in tokens)
    kind = "byte" if len(tokens) > 1 else _MARKS[tokens[0].kind]
    if not text and piece:
        text, kind = piece.hex(" "), "byte"
    return [text, kind, " ".join(str(token.id) for token in tokens), piece.hex(" ")]
