"""Rules that look at a request alone: asked once for all outputs of it, they say what they say of each."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace
from prompt_debugger.core.diagnose import RULES, diagnose_request, diagnose_trace
from prompt_debugger.core.pipeline import CaseParser
from tests.core.diagnose.cases import RuleCase, build_trace, load_rule_cases

CASES = load_rule_cases()
ALONE = {code for code, rule in RULES.items() if rule.asks_request_alone}


@pytest.mark.parametrize("rule_case", [case for case in CASES if case.code in ALONE], ids=str)
def test_what_a_rule_finds_in_a_request_holds_for_the_whole_run(rule_case: RuleCase) -> None:
    trace = build_trace(rule_case.case)

    known = diagnose_request(trace.request)

    assert known[rule_case.code] == tuple(RULES[rule_case.code].check(trace))
    assert bool(known[rule_case.code]) == rule_case.fires
    assert diagnose_trace(trace, of_request=known) == diagnose_trace(trace)


def test_what_is_known_of_a_request_is_not_asked_again() -> None:
    trace = Trace(Request({"stop": ["a", "a"]}, ""))
    known = dict.fromkeys(diagnose_request(trace.request), ())

    assert [finding.code for finding in diagnose_trace(trace)] == ["PD107"]
    assert diagnose_trace(trace, of_request=known) == ()


def test_a_rule_that_looks_at_more_is_not_among_them() -> None:
    assert set(diagnose_request(Request({}, ""))) == ALONE
    assert {"PD101", "PD102", "PD108"} <= ALONE
    assert not ALONE & {"PD109", "PD301", "PD404"}


def line(schema_type: JSON, least: JSON = 1) -> JSONObject:
    city: JSON = {"type": schema_type, "minLength": least}
    parameters: JSON = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    return {"raw": "Hello.", "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]}


def test_lines_of_a_file_are_judged_by_their_own_tools() -> None:
    lines: list[JSONObject] = [line("str"), line("str"), line("string"), {"raw": "Hello."}, line("int"), line("int")]

    with CaseParser() as parser:
        found = [[finding.code for finding in parser.parse(case)[1]] for case in lines]
        alone = [[finding.code for finding in CaseParser().parse(case)[1]] for case in lines]

    assert found == alone
    assert ["PD101" in codes for codes in found] == [True, True, False, False, True, True]


def test_tools_that_are_equal_and_not_the_same_are_distinguished() -> None:
    one, other = line("string"), line("string", least=True)
    assert one == other

    with CaseParser() as parser:
        found = [[finding.code for finding in parser.parse(case)[1]] for case in (one, other, one)]

    assert ["PD108" in codes for codes in found] == [False, True, False]


def test_tools_nested_too_deep_to_be_compared_are_read_anew() -> None:
    nested: JSON = {"type": "str"}
    for _ in range(3000):
        nested = {"items": nested}
    case: JSONObject = {"raw": "", "tools": [{"type": "function", "function": {"name": "f", "parameters": nested}}]}

    with CaseParser() as parser:
        assert parser.parse(case) == parser.parse(case)
