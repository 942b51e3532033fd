"""Every rule against its cases, and what holds for all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prompt_debugger.core.base.types import Finding, Request, Severity, Trace
from prompt_debugger.core.diagnose import RULES, diagnose_trace
from prompt_debugger.core.request.known_fields import BODY_ADVICE, BODY_FIELDS
from tests.conftest import ROOT
from tests.core.diagnose.cases import RULES_FOLDER, Case, RuleCase, build_trace, load_cases, load_rule_cases

CASES = load_rule_cases()
SHOW_ANOTHER = {"PD409", "PD411", "PD416"}  # the whole content, which needs no quote; the streamed message
FIELDS = {
    "message": {"content", "finish_reason", "message", "native_finish_reason", "reasoning", "reasoning_content"}
    | {"role", "tool_calls"},
    "prompt": {"", "messages"},
    "request": BODY_FIELDS | BODY_ADVICE.keys(),  # or what is unknown, but sent
}
HEALTHY = load_cases(ROOT / "tests" / "core" / "diagnose" / "healthy.yml")


def firing(code: str) -> list[RuleCase]:
    return [case for case in CASES if case.code == code and case.fires]


def findings_of(rule_case: RuleCase) -> list[Finding]:
    return list(RULES[rule_case.code].check(build_trace(rule_case.case)))


@pytest.mark.parametrize("rule_case", [case for case in CASES if case.fires], ids=str)
def test_a_rule_fires_on_the_fault_it_is_for(rule_case: RuleCase) -> None:
    expected = rule_case.case["expect"]
    assert isinstance(expected, dict)

    findings = findings_of(rule_case)

    assert findings, "silent"
    assert len(findings) == expected.get("count", 1)
    first = findings[0]
    said = f"{first.title} {first.detail} {first.fix}"
    for text in expected.get("says", ()):
        assert text in said
    for text in expected.get("never_says", ()):
        assert text not in said
    assert first.severity.value == expected.get("severity", first.severity.value)
    assert first.certainty.value == expected.get("certainty", first.certainty.value)
    assert first.stage.value == expected.get("stage", first.stage.value)
    assert first.evidence[0].where == expected.get("in", first.evidence[0].where)
    assert first.evidence[0].quote == expected.get("quote", first.evidence[0].quote)


@pytest.mark.parametrize("rule_case", [case for case in CASES if not case.fires], ids=str)
def test_a_rule_is_silent_on_a_near_miss(rule_case: RuleCase) -> None:
    assert findings_of(rule_case) == []


@pytest.mark.parametrize("code", RULES)
def test_evidence_points_at_what_it_quotes(code: str) -> None:
    for rule_case in firing(code):
        trace = build_trace(rule_case.case)
        prompt = trace.prompt or trace.local_prompt
        texts = {"prompt": prompt.text if prompt else "", "raw": trace.raw.text if trace.raw else ""}

        for finding in RULES[code].check(trace):
            assert finding.evidence, rule_case.name
            for item in finding.evidence:
                if item.where in texts and item.char_span is not None and item.quote is not None:
                    start, stop = item.char_span
                    shown = texts[item.where][start:stop]
                    assert shown.startswith(item.quote.removesuffix("…")), rule_case.name


@pytest.mark.parametrize("code", RULES)
def test_evidence_names_a_field_that_there_is(code: str) -> None:
    for rule_case in firing(code):
        trace = build_trace(rule_case.case)
        message = {} if trace.chat is None else trace.chat.message

        for finding in RULES[code].check(trace):
            for item in finding.evidence:
                root = re.split(r"[.\[]", item.field or "")[0]
                sent = trace.request.body if item.where == "request" else {}
                assert root in sent or root in FIELDS.get(item.where, {root}), rule_case.name
                is_shown = item.where == "message" and finding.code not in SHOW_ANOTHER
                shown = _value_at(message, item.field or "") if is_shown else None
                if isinstance(shown, str) and shown:
                    assert item.quote, rule_case.name
                    assert item.quote.removesuffix("…") in shown, rule_case.name


def _value_at(value: object, path: str) -> object:
    """Return what is at a path such as `tool_calls[0].id`; `None` if nothing does."""
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


@pytest.mark.parametrize("code", RULES)
def test_a_finding_reads_well(code: str) -> None:
    for finding in (finding for rule_case in firing(code) for finding in findings_of(rule_case)):
        assert finding.title.endswith(".")
        assert "\n" not in finding.title
        assert "!" not in finding.title.replace("Sure!", "")
        assert len(finding.title) <= 240
        assert finding.detail
        assert finding.fix
        assert finding.code == code


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_cases_of_both_kinds(code: str) -> None:
    kinds = {case.fires for case in CASES if case.code == code}

    assert kinds == {True, False}, f"write tests/rules/{code}.yml with cases under `fires:` and under `silent:`"


def test_every_case_file_belongs_to_a_rule() -> None:
    strangers = [path.name for path in RULES_FOLDER.glob("*.yml") if path.stem not in RULES]

    assert strangers == [], "no rule has these codes: name each file CODE.yml, or remove it"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fires: [{name: one, expect: {}}]", r"tests/rules/PD107\.yml has no list `silent:` of cases; write both"),
        ("fires: [{name: one}]\nsilent:", r"tests/rules/PD107\.yml has no list `silent:`"),
        ("silent: [{name: one}]", r"tests/rules/PD107\.yml has no list `fires:`"),
        ("", r"tests/rules/PD107\.yml has no list `fires:`"),
        ("fires: [{expect: {}}]\nsilent: []", r"tests/rules/PD107\.yml: a case under `fires:` has no `name:`"),
    ],
)
def test_a_file_of_cases_with_a_slip_is_named(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "PD107.yml").write_text(text, encoding="utf-8")

    with pytest.raises(AssertionError, match=words):
        load_rule_cases(tmp_path)


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_silent_on_an_empty_trace(code: str) -> None:
    assert list(RULES[code].check(Trace(request=Request(body={}, text="")))) == []


@pytest.mark.parametrize("case", HEALTHY, ids=lambda case: str(case["name"]))
def test_nothing_is_found_in_a_healthy_run(case: Case) -> None:
    findings = diagnose_trace(build_trace(case))

    assert [(finding.code, finding.title) for finding in findings if finding.severity is not Severity.NOTE] == []
    assert [finding.code for finding in findings] == list(case.get("notes", []))


def test_a_quotation_of_every_marker_is_no_finding() -> None:
    case = next(case for case in HEALTHY if case["name"] == "prose that quotes every marker")

    assert build_trace(case).parse is not None
