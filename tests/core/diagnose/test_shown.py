"""What each rule shows in each of its cases: severity, stage, places, quotes, and the facts that its words hold.

    tests/rules/shown/<code>.json    by case: its findings in order

A sentence may be put otherwise without touching these files: of title, detail and fix only what was
seen is held, that is names between back-ticks, texts between quotation marks, and numbers.

`pytest tests/core/diagnose/test_shown.py --update-goldens` rewrites them; read the difference.
"""

from __future__ import annotations

import json
import re

import pytest

from prompt_debugger.core.base.types import Finding, FindingEvidence, JSONObject
from prompt_debugger.core.diagnose import RULES
from tests.core.diagnose.cases import RULES_FOLDER, RuleCase, build_trace, load_rule_cases

SHOWN = RULES_FOLDER / "shown"
_FACT = re.compile(r"`[^`]*`|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|\d+(?:\.\d+)?")


def shown(finding: Finding) -> JSONObject:
    """Return what a finding shows, whatever its words are."""
    return {
        "is": f"{finding.severity.value} of {finding.stage.value}, {finding.certainty.value}",
        "title": [*_FACT.findall(finding.title)],
        "detail": [*_FACT.findall(finding.detail)],
        "fix": [*_FACT.findall(finding.fix)],
        "evidence": [place_of(item) for item in finding.evidence],
    }


def place_of(item: FindingEvidence) -> str:
    """Return a piece of evidence in one line: `raw, characters 98 to 115, tokens 4 to 6: '…'`."""
    parts: list[str] = [item.where]
    if item.field is not None:
        parts.append(item.field or "the whole")
    for unit, span in (("characters", item.char_span), ("tokens", item.token_span)):
        if span is not None:
            parts.append(f"{unit} {span.start} to {span.stop}")
    return ", ".join(parts) + ("" if item.quote is None else f": {item.quote!r}")


def findings_of(case: RuleCase) -> list[JSONObject]:
    return [shown(finding) for finding in RULES[case.code].check(build_trace(case.case))]


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_shows_what_is_on_record(code: str, update_goldens: bool) -> None:
    path = SHOWN / f"{code}.json"
    found = {case.name: findings_of(case) for case in load_rule_cases() if case.code == code and case.fires}
    if update_goldens:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    assert path.is_file(), f"run `make goldens`, which writes tests/rules/shown/{code}.json, and read it"
    expected = json.loads(path.read_text(encoding="utf-8"))

    assert json.loads(json.dumps(found)) == expected


def test_no_record_is_left_of_a_rule_that_is_gone() -> None:
    left = [path.name for path in SHOWN.glob("*") if path.suffix != ".json" or path.stem not in RULES]

    assert left == [], "no rule has these codes: remove the files from tests/rules/shown"


def test_the_words_around_a_fact_are_free() -> None:
    trace = build_trace(next(case.case for case in load_rule_cases() if case.code == "PD402" and case.fires))
    finding = next(iter(RULES["PD402"].check(trace)))

    assert shown(finding)["title"]
    assert _FACT.findall("One of `a.b`, 'c d' and \"e\" stands at 14, not 2.5.") == [
        "`a.b`",
        "'c d'",
        '"e"',
        "14",
        "2.5",
    ]
    assert _FACT.findall("It isn't there, and the server's own isn't either.") == []
