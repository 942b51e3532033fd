"""Rules and verdict on traces that no one would make by hand."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose import CRASH_CODE, RULES, diagnose_trace, reach_verdict
from prompt_debugger.core.diagnose.blame import worst_first
from prompt_debugger.core.diagnose.trace_queries import parts_of_trace
from tests.core.diagnose.strategies import traces
from tests.examples import examples

slow = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(traces())
def test_no_rule_raises_on_any_trace(trace: Trace) -> None:
    for rule in RULES.values():
        for finding in rule.check(trace):
            assert finding.title


@slow
@given(traces())
def test_a_rule_is_silent_where_what_it_needs_is_missing(trace: Trace) -> None:
    sights = parts_of_trace(trace)
    for rule in RULES.values():
        needs = getattr(rule, "needs", None)
        if needs is not None and needs not in sights:
            assert list(rule.check(trace)) == []


@slow
@given(traces())
def test_findings_come_worst_first_and_none_is_a_crash(trace: Trace) -> None:
    findings = diagnose_trace(trace)

    assert findings == worst_first(findings)
    assert CRASH_CODE not in {finding.code for finding in findings}
    assert {finding.follows for finding in findings} <= {None, *(finding.code for finding in findings)}


@slow
@given(traces())
def test_a_verdict_names_a_stage_whenever_there_is_an_error(trace: Trace) -> None:
    trace = replace(trace, findings=diagnose_trace(trace))

    verdict = reach_verdict(trace)

    errors = {finding.stage for finding in trace.findings if finding.severity is Severity.ERROR}
    assert verdict.sentence.endswith((".", ")"))
    assert (verdict.stage in errors) if errors else (verdict.stage in (None, Stage.PARSE, Stage.CONTRACT))
    if verdict.stage is not None:
        assert f"Guilty stage: {verdict.stage.value}." in verdict.sentence
        assert "Nothing lost" not in verdict.sentence
