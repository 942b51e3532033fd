"""The runner: guard, order, and which finding follows from which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.base.types import ChatResult, Finding, JSONObject, Request, Severity, Stage, Trace
from prompt_debugger.core.diagnose import CRASH_CODE, RULES, diagnose_trace, index_rules
from prompt_debugger.core.diagnose.blame import mark_followers, worst_first
from prompt_debugger.core.diagnose.fields import calls_of_message, remembering, request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart

EMPTY = Trace(request=Request(body={}, text=""))


def finding(code: str, severity: Severity, stage: Stage) -> Finding:
    return Finding(code=code, name=code.lower(), severity=severity, stage=stage, title="It is so.", detail="")


def test_a_crashing_rule_is_reported_and_the_others_still_run() -> None:
    def crash(trace: Trace) -> Iterator[Report]:
        yield Report("Seen before the crash.", "")
        raise KeyError("content")

    bad = TraceRule("PD499", "bad-rule", Severity.ERROR, Stage.PARSE, crash)

    found = diagnose_trace(
        EMPTY, {"PD499": bad, "PD400": replace(bad, code="PD400", find=lambda _: iter([Report("Fine.", "")]))}
    )

    assert {item.code for item in found} == {"PD400", "PD499", CRASH_CODE}
    crashed = next(item for item in found if item.code == CRASH_CODE)
    assert "PD499 bad-rule" in crashed.title
    assert "KeyError: \"'content'\"" in crashed.detail or "KeyError" in crashed.detail
    assert crashed.severity is Severity.WARNING


def test_order_is_severity_then_blame_then_code() -> None:
    found = [
        finding("PD501", Severity.ERROR, Stage.CONTRACT),
        finding("PD101", Severity.ERROR, Stage.REQUEST),
        finding("PD402", Severity.ERROR, Stage.PARSE),
        finding("PD202", Severity.WARNING, Stage.RENDER),
        finding("PD401", Severity.ERROR, Stage.PARSE),
        finding("PD203", Severity.ERROR, Stage.RENDER),
    ]

    assert [item.code for item in worst_first(found)] == ["PD203", "PD401", "PD402", "PD501", "PD101", "PD202"]


def test_an_error_of_an_earlier_stage_may_explain_later_findings() -> None:
    found = [
        finding("PD203", Severity.ERROR, Stage.RENDER),
        finding("PD303", Severity.WARNING, Stage.COMPLETE),
        finding("PD401", Severity.ERROR, Stage.PARSE),
        finding("PD309", Severity.NOTE, Stage.COMPLETE),
        finding("PD101", Severity.ERROR, Stage.REQUEST),
    ]

    follows = {item.code: item.follows for item in mark_followers(found, {})}

    assert follows == {"PD203": None, "PD303": "PD203", "PD401": "PD203", "PD309": None, "PD101": None}


def test_of_several_earlier_errors_the_one_to_blame_first_explains_a_later_one() -> None:
    found = [
        finding("PD305", Severity.ERROR, Stage.COMPLETE),
        finding("PD203", Severity.ERROR, Stage.RENDER),
        finding("PD202", Severity.ERROR, Stage.RENDER),
        finding("PD501", Severity.ERROR, Stage.CONTRACT),
    ]

    follows = {item.code: item.follows for item in mark_followers(found, {})}

    assert follows == {"PD305": "PD202", "PD203": None, "PD202": None, "PD501": "PD202"}


def test_a_named_explanation_wins_over_the_order_of_stages() -> None:
    found = [
        finding("PD203", Severity.ERROR, Stage.RENDER),
        finding("PD404", Severity.ERROR, Stage.PARSE),
        finding("PD401", Severity.ERROR, Stage.PARSE),
    ]

    follows = {item.code: item.follows for item in mark_followers(found, {"PD404": ("PD401",)})}

    assert follows["PD401"] == "PD404"


def test_of_several_named_explanations_the_one_that_explains_the_others_wins() -> None:
    found = [finding(code, Severity.ERROR, Stage.PARSE) for code in ("PD401", "PD404", "PD405")]
    explains = {"PD404": ("PD401",), "PD405": ("PD401", "PD404")}

    follows = {item.code: item.follows for item in mark_followers(found, explains)}

    assert follows == {"PD401": "PD405", "PD404": "PD405", "PD405": None}


def test_a_warning_of_an_earlier_stage_explains_nothing_by_itself() -> None:
    found = [finding("PD210", Severity.WARNING, Stage.RENDER), finding("PD401", Severity.ERROR, Stage.PARSE)]

    assert {item.follows for item in mark_followers(found, {})} == {None}


A_RULE = TraceRule("PD101", "some-defect", Severity.NOTE, Stage.REQUEST, lambda trace: iter(()))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            {"one": A_RULE, "two": replace(A_RULE, name="another")},
            "The code `PD101` is used by both .*/one.py` and .*/two.py`",
        ),
        (
            {"one": A_RULE, "two": replace(A_RULE, code="PD102")},
            "The name `some-defect` is used by both .*/one.py` and .*/two.py`",
        ),
        ({"one": "x"}, "`RULE` of `core/diagnose/rules/one.py` is not a `TraceRule` but"),
        ({"one": replace(A_RULE, code="X-1")}, "Invalid rule code 'X-1' in `core/diagnose/rules/one.py`"),
        ({"one": replace(A_RULE, code="PD601")}, "Invalid rule code 'PD601' in `core/diagnose/rules/one.py`"),
        (
            {"one": replace(A_RULE, name="Some defect")},
            "Invalid rule name 'Some defect' in `core/diagnose/rules/one.py`",
        ),
    ],
)
def test_a_bad_rule_is_refused_with_its_file_and_the_way_out(found: dict[str, object], words: str) -> None:
    with pytest.raises(PluginError, match=words) as caught:
        index_rules(found)

    assert caught.value.hint


def test_rules_are_in_order_of_their_codes() -> None:
    assert list(RULES) == sorted(RULES)
    assert all(code == rule.code for code, rule in RULES.items())


def test_a_rule_is_asked_only_where_the_trace_shows_what_it_needs() -> None:
    asked: list[str] = []

    def find(trace: Trace) -> Iterator[Report]:
        asked.append(trace.request.text)
        return iter(())

    rule = TraceRule("PD999", "asked-at-all", Severity.NOTE, Stage.PARSE, find, needs=TracePart.ANSWER)

    diagnose_trace(Trace(request=Request(body={}, text="alone")), {"PD999": rule})
    diagnose_trace(Trace(request=Request(body={}, text="answered"), chat=ChatResult({}, "stop")), {"PD999": rule})

    assert asked == ["answered"]


def test_what_the_request_asks_for_is_not_an_error_and_blames_no_parser() -> None:
    body: JSONObject = {
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "tool_choice": "none",
    }
    chat = ChatResult({"role": "assistant", "content": '<tool_call>{"name": "f", "arguments": {}}</tool_call>'}, "stop")

    found = {finding.code: finding for finding in diagnose_trace(Trace(Request(body, ""), chat=chat))}
    free = diagnose_trace(Trace(Request({**body, "tool_choice": "auto"}, ""), chat=chat))

    assert (found["PD426"].severity, found["PD426"].stage) == (Severity.WARNING, Stage.REQUEST)
    assert "parser" not in found["PD426"].fix
    assert [finding.severity for finding in free if finding.code == "PD426"] == [Severity.ERROR]


def test_in_a_part_only_what_is_true_of_the_whole_is_reported_and_a_crash_always() -> None:
    def crash(trace: Trace) -> Iterator[Report]:
        raise KeyError("content")

    fine = TraceRule("PD400", "fine", Severity.ERROR, Stage.PARSE, lambda _: iter([Report("Fine.", "")]))
    rules = {
        "PD400": fine,
        "PD401": replace(fine, code="PD401", name="of-part", stands_in_part=True),
        "PD499": replace(fine, code="PD499", name="bad-rule", find=crash),
    }

    part = diagnose_trace(replace(EMPTY, notes=(REQUEST_GAP,)), rules)
    whole = diagnose_trace(EMPTY, rules)

    assert [one.code for one in whole] == ["PD400", "PD401", CRASH_CODE]
    assert [one.code for one in part] == ["PD401", CRASH_CODE]


def test_calls_and_tools_are_read_once_while_rules_are_asked_and_anew_after_it() -> None:
    function: JSONObject = {"name": "f", "arguments": "{}"}
    message: JSONObject = {"tool_calls": [{"id": "a", "type": "function", "function": function}]}
    request = Request({"tools": [{"type": "function", "function": {"name": "f"}}]}, "")

    with remembering():
        calls, tools = calls_of_message(message), request_tools(request)
        assert calls_of_message(message) is calls
        assert calls_of_message(message, "messages[1]")[0].field == "messages[1].tool_calls[0]"
        assert calls_of_message({"tool_calls": [{"id": "b", "function": function}]})[0].id == "b"
        assert request_tools(request) is tools
        assert request_tools(Request({}, "")) == ()
    function["name"] = "g"

    assert calls_of_message(message)[0].name == "g"
