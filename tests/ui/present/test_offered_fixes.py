"""Fixes as they are drawn: the changes of the request, once for all findings that one change fixes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.tools.fixes.offered import fixes_of
from prompt_debugger.core.tools.fixes.plans import Plan
from prompt_debugger.core.tools.fixes.try_fixes import Experiment
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.findings import findings_payload
from prompt_debugger.ui.present.offered_fixes import can_try, change_view, tried_payload


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def cards(trace):
    payload = findings_payload(trace)
    assert payload is not None
    return {card["code"]: card for card in unpack_payload(payload)[0]["findings"]}


def test_the_change_is_drawn_at_the_first_finding_and_the_others_say_where():
    shown = cards(recorded("dropped-call"))

    fix = shown["PD401"]["offered"]
    assert fix["changes"] == [
        {"field": "messages[2].tool_calls[0].id", "before": '"search"', "after": '"functions.search:0"'},
        {"field": "messages[3].tool_call_id", "before": '"search"', "after": '"functions.search:0"'},
    ]
    assert fix["can_try"]
    assert (shown["PD104"]["offered"], shown["PD104"]["offered_at"]) == (None, "PD401")
    assert shown["PD401"]["offered_at"] is None


def test_a_healthy_run_offers_no_fix():
    assert [card["offered"] for card in cards(recorded("healthy-call")).values()] == []


def test_other_flags_can_be_tried_on_the_lab_alone():
    trace = recorded("wrong-parser")
    fix = next(iter(fixes_of(trace).values()))
    elsewhere = replace(trace, server=replace(trace.server, is_lab=False))

    assert can_try(fix, trace)
    assert not can_try(fix, elsewhere)


@pytest.mark.parametrize(
    ("operation", "drawn"),
    [
        ({"op": "add", "path": "/a~1b", "value": 1}, {"field": "a/b", "before": None, "after": "1"}),
        ({"op": "remove", "path": "/list/1"}, {"field": "list[1]", "before": "true", "after": None}),
        (
            {"op": "replace", "path": "/gone/x", "value": "\u202e"},
            {"field": "gone.x", "before": "null", "after": '"\u202e"'},
        ),
    ],
)
def test_a_change_names_the_field_and_both_values(operation, drawn):
    assert change_view(operation, {"list": [0, True]}) == drawn


def test_a_trial_says_what_is_gone_and_what_has_come():
    first, healthy, other = recorded("dropped-call"), recorded("healthy-call"), recorded("truncated-call")

    def reported(trace, *, worked):
        return unpack_payload(tried_payload("PD401", first, Experiment(Plan("x"), [trace], [0]), worked=worked))[0]

    assert reported(healthy, worked=True)["sentence"].endswith(
        "PD401 is gone and there is no new error; 1 of 1 call returned."
    )
    assert "PD401 is still there; 0 of 1 call" in reported(first, worked=False)["sentence"]
    assert "there is a new error: PD301" in reported(other, worked=False)["sentence"]
    assert reported(first, worked=False)["short"].startswith("Not fixed: PD401 is still there")
    assert reported(other, worked=False)["short"].startswith("PD401 is gone, but there is a new error: PD301")


def test_an_error_that_only_the_fix_lets_one_see_is_the_next_to_go_on_with():
    first, healthy, other = recorded("dropped-call"), recorded("healthy-call"), recorded("truncated-call")
    code = next(code for code, fix in fixes_of(first).items() if fix.kind == "request")

    def revealed(trace, *, worked, of=code):
        return unpack_payload(tried_payload(of, first, Experiment(Plan("x"), [trace], [0]), worked=worked))[0][
            "revealed"
        ]

    assert revealed(other, worked=False) == "PD301"
    assert revealed(first, worked=False) == ""
    assert revealed(healthy, worked=True) == ""
    assert revealed(other, worked=False, of="PD999") == ""
