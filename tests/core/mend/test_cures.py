"""Cures as data, from recorded runs: the right change for each finding, and none where nothing is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.mend.cures import Cure, cures_of
from prompt_debugger.core.mend.experiments import (
    UNCHANGED,
    Experiment,
    Plan,
    can_run,
    plan_experiments,
    step_experiments,
    tried_cures,
)
from prompt_debugger.core.mend.patch import apply_patch, patch_between
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.recordings import load_recording

NAMES = st.text(alphabet="ab/~", max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet="ab/~", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="ab/~", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=4)


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def cured_body(name, code):
    trace = recorded(name)
    return apply_patch(trace.request.body, cures_of(trace)[code].patch)


@given(OBJECTS, OBJECTS)
def test_a_patch_makes_the_one_of_the_other(before, after):
    assert apply_patch(before, tuple(patch_between(before, after))) == after


@given(OBJECTS)
def test_the_same_needs_no_patch(value):
    assert list(patch_between(value, value)) == []


@pytest.mark.parametrize("name", ["healthy-call", "parallel-calls"])
def test_a_healthy_run_has_no_cure(name):
    assert cures_of(recorded(name)) == {}


def test_a_dropped_call_is_cured_at_its_cause_in_the_history():
    body = cured_body("dropped-call", "PD401")

    assert body["messages"][2]["tool_calls"][0]["id"] == "functions.search:0"
    assert body["messages"][3]["tool_call_id"] == "functions.search:0"


def test_fields_are_left_out_raised_or_set():
    assert "add_generation_prompt" not in cured_body("missing-generation-prompt", "PD203")
    assert cured_body("truncated-call", "PD301")["max_tokens"] > 16
    assert cured_body("polluted-content", "PD205")["messages"][2]["content"] is None
    assert cured_body("answer-swallowed-as-reasoning", "PD408")["chat_template_kwargs"] == {"thinking": False}
    assert "stop_token_ids" not in cured_body("tutorial-tool-types", "PD100")
    types = cured_body("tutorial-tool-types", "PD101")["tools"][1]["function"]["parameters"]["properties"]
    assert (types["a"]["type"], types["b"]["type"]) == ("integer", "number")


def test_another_parser_is_a_matter_of_flags_and_runs_on_the_lab_alone():
    trace = recorded("wrong-parser")
    cure = cures_of(trace)["PD405"]
    at_lab = plan_experiments(trace, Target())
    elsewhere = plan_experiments(trace, Target(base_url="http://localhost:1/v1"))

    assert (cure.kind, cure.patch, cure.tool_parser) == ("flags", (), "kimi_k2")
    assert [can_run(plan) for plan in at_lab] == [True, True]
    assert [can_run(plan) for plan in elsewhere] == [True, False]


def test_the_unchanged_request_comes_first_and_several_cures_are_put_together():
    names = [plan.name for plan in plan_experiments(recorded("tutorial-tool-types"), Target())]

    assert names[0] == UNCHANGED
    assert names[-1] == "the first 2 changes together"


def test_a_cure_works_where_the_finding_is_gone_and_no_other_error_has_come():
    trace = recorded("dropped-call")
    plan = plan_experiments(trace, Target())[1]
    outcomes = {
        name: tried_cures(trace, [Experiment(plan, [recorded(name)])])["PD401"].worked
        for name in ("healthy-call", "dropped-call", "truncated-call")
    }

    assert outcomes == {"healthy-call": True, "dropped-call": False, "truncated-call": False}
    assert tried_cures(trace, [Experiment(plan)])["PD401"].tried is False


def test_a_row_counts_what_the_ledger_counts():
    trace = recorded("dropped-call")
    row = Experiment(plan_experiments(trace, Target())[0], [trace, recorded("healthy-call")], valid=1).to_json()

    assert (row["n"], row["written"], row["returned"], row["dropped"], row["valid"]) == (2, 2, 1, 1, 1)
    assert row["finish_reasons"] == {"stop": 1, "tool_calls": 1}
    low, high = row["interval"]
    assert 0 < low < 0.5 < high < 1


def test_a_variant_is_held_against_the_unchanged_request_sample_by_sample():
    dropped, healthy = recorded("dropped-call"), recorded("healthy-call")
    base = Experiment(Plan("unchanged"), [dropped, dropped, healthy], [0, 1, 2])
    variant = Experiment(Plan("a change"), [healthy, dropped, dropped], [0, 2, 3])

    assert base.change_from(base) == (0, 0, 0, 3)
    assert variant.change_from(base) == (0, 1, 1, 2)  # of sample 1 and of sample 3 there is no pair


async def test_steps_tell_what_goes_on_and_what_will_come():
    first = recorded("dropped-call")

    async def run(body, plan):
        return recorded("healthy-call")

    plans = [Plan("unchanged"), Plan("other flags", cure=Cure("x", "flags", command="--x")), Plan("a change")]
    steps = [
        (len(step.experiments), step.ended, step.done, step.runs)
        async for step in step_experiments(first, plans, run, samples=2, budget=3)
    ]

    assert steps == [
        (0, 0, 0, 3), (1, 0, 0, 3), (1, 0, 1, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 2, 2, 3), (3, 3, 3, 3),
    ]  # fmt: skip
