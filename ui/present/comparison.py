"""Two runs side by side → what the comparison view draws."""

from __future__ import annotations

import json
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Trace
from prompt_debugger.core.tools.experiments import (
    JsonChange,
    RunComparison,
    TextComparison,
    compare_runs,
    explanation_of,
    sentence_of,
)
from prompt_debugger.ui.present.differences import align_texts
from prompt_debugger.ui.present.experiments import difference_to_view
from prompt_debugger.ui.present.ledger import ledger_payload
from prompt_debugger.ui.present.payload import pack_payload, unpack_payload
from prompt_debugger.ui.present.verdict import lacks_tokenizer, verdict_payload
from prompt_debugger.ui.present.words import SEVERITY_MARKS, as_sentence, count_of, shortened

MAX_CHANGES = 60
_MAX_VALUE = 20_000
_LONGEST_EQUAL = 240  # of a stretch that both have; the middle of a longer one is left out


class NamedRun(NamedTuple):
    """A run with the name it goes by on the page."""

    name: str
    trace: Trace


def comparison_payload(left: NamedRun, right: NamedRun) -> str:
    """Return the payload of two runs, called A and B, compared stage by stage."""
    comparison = compare_runs(left.trace, right.trace)
    return pack_payload(
        {
            "sentence": sentence_of(comparison),
            "explanation": f"{explanation_of(comparison)} {_settling(left, right)}".strip(),
            "sides": [_side("A", left), _side("B", right)],
            "facts": [[fact.label, fact.left, fact.right, fact.differs] for fact in comparison.facts],
            "parts": [
                _changes("Request", "field", comparison.request),
                _text("Prompt", comparison.prompt),
                _text("Raw output", comparison.raw),
                _message(comparison),
            ],
            "findings": [
                ["Only in A", [_finding(finding) for finding in comparison.only_left]],
                ["Only in B", [_finding(finding) for finding in comparison.only_right]],
                ["In both", [_finding(finding) for finding in comparison.in_both]],
            ],
        }
    )


def _settling(left: NamedRun, right: NamedRun) -> str:
    """Return what would make known what is not compared; "" where a tokenizer would not."""
    sides = [letter for letter, run in (("A", left), ("B", right)) if lacks_tokenizer(run.trace)]
    if not sides:
        return ""
    of_one = len(sides) == 1
    return (
        f"The prompt and the raw output of {' and '.join(sides)} are not known, so they are not compared. "
        f"{'Its' if of_one else 'Their'} tokenizer{'' if of_one else 's'} would settle it: "
        "name it under Target (folder or Hub id) and run again."
    )


def _side(letter: str, run: NamedRun) -> JSONObject:
    strip, _ = unpack_payload(verdict_payload(run.trace))
    ledger = ledger_payload(run.trace)
    account = None if ledger is None else unpack_payload(ledger)[0]["accounts"]
    drawn: JSONObject = {"verdict": strip, "account": account[0] if isinstance(account, list) else None}
    return {"letter": letter, "name": run.name, **{key: strip[key] for key in ("badge", "tone", "sentence")}, **drawn}


def _text(title: str, text: TextComparison) -> JSONObject:
    found = text.difference
    if text.is_same is None:
        missing = [letter for letter, count in (("A", text.left_count), ("B", text.right_count)) if count is None]
        return _part(title, "missing", f"{' and '.join(missing)} {'has' if len(missing) == 1 else 'have'} none.")
    if found is None:
        return _part(title, "same", "Identical in both.")
    sentence = (
        f"They diverge at {found.unit} {found.first:,}: A has {count_of(text.left_count or 0, found.unit)}, "
        f"B {text.right_count:,}; {found.removed:,} of A and {found.added:,} of B are not in the other."
    )
    return {**_part(title, "differs", sentence), "difference": difference_to_view(found)}


def _message(comparison: RunComparison) -> JSONObject:
    if comparison.message is None:
        return _part("Message", "missing", "One of the runs has no message.")
    return _changes("Message", "field", comparison.message)


def _changes(title: str, word: str, changes: tuple[JsonChange, ...]) -> JSONObject:
    if not changes:
        return _part(title, "same", "Identical in both.")
    soft = sum(change.is_soft for change in changes)
    sentence = f"{count_of(len(changes), word)} differ" + ("s" if len(changes) == 1 else "")
    sentence += f", {soft} of them only in whitespace." if soft else "."
    left_out = len(changes) - MAX_CHANGES
    if left_out > 0:
        sentence += f" The first {MAX_CHANGES} are shown."
    return {**_part(title, "differs", sentence), "changes": [_change(change) for change in changes[:MAX_CHANGES]]}


def _part(title: str, state: str, sentence: str) -> JSONObject:
    return {"title": title, "state": state, "sentence": sentence, "difference": None, "changes": []}


def _change(change: JsonChange) -> JSONObject:
    left: list[JSON] = []
    right: list[JSON] = []
    if change.kind == "removed":
        left = [[_value(change.left), "hard"]]
    elif change.kind == "added":
        right = [[_value(change.right), "hard"]]
    else:
        left, right = (_shortened(side) for side in align_texts(_value(change.left), _value(change.right)))
    word = {"removed": "only in A", "added": "only in B"}.get(
        change.kind, "whitespace" if change.is_soft else "differs"
    )
    return {"path": change.path or "(all)", "word": word, "left": left, "right": right}


def _value(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return shortened(text, _MAX_VALUE)


def _shortened(stretches: list[JSON]) -> list[JSON]:
    shown: list[JSON] = []
    for stretch in stretches:
        assert isinstance(stretch, list)
        text, mark = str(stretch[0]), stretch[1]
        if not mark and len(text) > _LONGEST_EQUAL:
            half = _LONGEST_EQUAL // 2
            text = f"{text[:half]} … {text[-half:]}"
        shown.append([text, mark])
    return shown


def _finding(finding: Finding) -> JSONObject:
    return {
        "code": f"{finding.code} {finding.name}",
        "severity": finding.severity.value,
        "mark": SEVERITY_MARKS[finding.severity],
        "title": as_sentence(finding.title),
    }
