"""The sentence people quote: for each worked case, and where little was seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import (
    Certainty,
    Completeness,
    Conclusion,
    Finding,
    JSONObject,
    Request,
    Severity,
    Stage,
    Trace,
    Verdict,
)
from prompt_debugger.core.diagnose import diagnose_trace, reach_verdict
from prompt_debugger.core.diagnose.verdict import examined
from tests.conftest import ROOT
from tests.core.diagnose.cases import Case, build_trace, load_cases

CASES = load_cases(ROOT / "tests" / "core" / "diagnose" / "verdicts.yml")


def judged(case: Case) -> Trace:
    trace = build_trace(case)
    trace = replace(trace, findings=diagnose_trace(trace))
    return replace(trace, verdict=reach_verdict(trace))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_verdict_is_the_one_that_a_person_would_give(case: Case) -> None:
    expected = case["verdict"]
    assert isinstance(expected, dict)

    verdict = judged(case).verdict

    stage = None if verdict is None or verdict.stage is None else verdict.stage.value
    assert isinstance(verdict, Verdict)
    assert verdict.sentence == expected["sentence"]
    assert [verdict.dropped_calls, verdict.altered_calls, verdict.invented_calls] == expected["counts"]
    assert stage == expected["stage"]
    assert verdict.conclusion == expected.get("conclusion", "fault" if stage else "nothing-lost")


def test_lost_calls_are_never_passed_over_even_without_findings() -> None:
    case = next(case for case in CASES if case["name"] == "dropped-call")

    verdict = reach_verdict(build_trace(case))

    assert verdict.sentence == "Of the calls, 1 were dropped, 0 altered, 0 invented. Guilty stage: parse."
    assert (verdict.stage, verdict.conclusion) == (Stage.PARSE, Conclusion.FAULT)


def test_a_raw_output_that_was_not_read_proves_nothing() -> None:
    case = next(case for case in CASES if case["name"] == "healthy-call")

    verdict = reach_verdict(replace(build_trace(case), parse=None))
    alone = reach_verdict(replace(build_trace(case), parse=None, chat=None))

    assert verdict.sentence == "The raw output was not read, so whether anything was lost is unknown."
    assert alone.sentence == "The model answered; its output was not read and there is no message to compare it with."
    assert (verdict.conclusion, alone.conclusion) == (Conclusion.UNKNOWN, Conclusion.UNCHECKED)


@pytest.mark.parametrize("case", [case for case in CASES if "follows" in case], ids=lambda case: str(case["name"]))
def test_later_findings_name_the_one_they_may_follow_from(case: Case) -> None:
    expected = case["follows"]
    assert isinstance(expected, dict)

    follows = {finding.code: finding.follows for finding in judged(case).findings}

    assert expected.items() <= follows.items()


@pytest.mark.parametrize("completeness", [Completeness.STRIPPED, Completeness.UNKNOWN])
def test_no_rule_speaks_of_a_raw_text_that_may_lack_control_tokens(completeness: Completeness) -> None:
    case = next(case for case in CASES if case["name"] == "dropped-call")
    whole = build_trace(case)
    assert whole.raw is not None

    findings = diagnose_trace(replace(whole, raw=replace(whole.raw, completeness=completeness)))

    assert "PD401" in {finding.code for finding in diagnose_trace(whole)}
    assert [finding.code for finding in findings if any(item.where == "raw" for item in finding.evidence)] == []
    assert "PD401" not in {finding.code for finding in findings}


def test_text_that_may_lack_control_tokens_is_not_said_to_hold_no_call() -> None:
    case = next(case for case in CASES if case["name"] == "healthy-call")
    trace = build_trace(case)
    assert trace.raw is not None

    verdict = reach_verdict(replace(trace, chat=None, raw=replace(trace.raw, completeness=Completeness.UNKNOWN)))

    assert verdict.sentence == (
        "The raw output contains 1 tool call. The raw text may lack control tokens, so whether "
        "anything was lost is unknown."
    )


@pytest.mark.parametrize("body", [{"prompt": "Hi."}, {"messages": [{"role": "user", "content": "Hi."}]}], ids=repr)
def test_the_request_of_either_api_counts_as_examined(body: JSONObject) -> None:
    assert examined(Trace(Request(body, ""))) == "the request"


def test_nothing_is_reported_to_be_checked_where_there_is_nothing() -> None:
    verdict = reach_verdict(Trace(Request({}, "")))

    assert verdict.sentence == "Nothing was checked: no request, no prompt and no output."


def finding(code: str, stage: Stage, title: str, *, follows: str | None = None) -> Finding:
    return Finding(code, "a-fault", Severity.ERROR, stage, title, "", certainty=Certainty.OBSERVED, follows=follows)


@pytest.mark.parametrize(
    ("follows", "stage", "sentence"),
    [
        ("PD103", Stage.REQUEST, "The stop is foreign. Guilty stage: request."),
        ("PD203", Stage.COMPLETE, "The call was cut. Guilty stage: complete."),
        (None, Stage.COMPLETE, "The call was cut. Guilty stage: complete."),
    ],
)
def test_a_request_is_blamed_where_it_explains_what_broke_and_only_there(
    follows: str | None, stage: Stage, sentence: str
) -> None:
    request = finding("PD103", Stage.REQUEST, "The stop is foreign.")
    cut = finding("PD301", Stage.COMPLETE, "The call was cut.", follows=follows)

    verdict = reach_verdict(Trace(Request({}, ""), findings=(cut, request)))

    assert (verdict.stage, verdict.sentence) == (stage, sentence)


@pytest.mark.parametrize(
    ("count", "words"), [(1, "One is off."), (2, "One is off. (1 more)"), (3, "One is off. (2 more)")]
)
def test_of_several_warnings_the_first_is_named_and_the_others_are_counted(count: int, words: str) -> None:
    warning = replace(finding("PD406", Stage.PARSE, "One is off."), severity=Severity.WARNING)

    verdict = reach_verdict(Trace(Request({}, ""), findings=(warning,) * count))

    assert verdict.sentence.startswith(f"Warning: {words}")
