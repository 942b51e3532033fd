"""Experiments on the real lab: each fix that a worked case offers is tried, and works."""

from __future__ import annotations

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.plans import pick_plans
from prompt_debugger.core.tools.fixes.try_fixes import run_experiments, tried_fixes
from scripts.fix_lab import ALL, CAUSES, REQUESTS
from scripts.fix_lab import experiments_on as prove

pytestmark = pytest.mark.lab
FAULTY = (
    "dropped-call",
    "missing-generation-prompt",
    "polluted-content",
    "truncated-call",
    "wrong-parser",
    "answer-swallowed-as-reasoning",
    "tutorial-tool-types",
)


async def experiments_on(text, target, labs, **options):
    trace = await pipeline.run(read_request(text), target, labs)
    return trace, [one async for one in run_experiments(trace, target, labs, **options)]


@pytest.mark.parametrize("name", FAULTY)
async def test_each_fix_of_a_example_is_tried_and_works(labs, name):
    example = find_example(name)

    trace, done = await experiments_on(example.request_text, Target(lab=example.lab), labs)

    fixes = tried_fixes(trace, done)
    assert fixes
    each = [(code, one.kind, one.tried, one.worked) for code, fix in fixes.items() for one in fix.each]
    assert each == [(code, kind, True, True) for code, kind, *_ in each]
    assert any(one.prompt_difference for fix in fixes.values() for one in fix.each if one.kind == "template") == (
        name == "polluted-content"
    )


async def test_a_budget_ends_the_experiments_and_is_reported_before(labs):
    example, shown = find_example("dropped-call"), []

    _, done = await experiments_on(
        example.request_text, Target(lab=example.lab), labs, samples=2, budget=3, report=shown.append
    )

    assert [len(one.traces) for one in done] == [2, 1]
    assert shown[0].startswith("2 variants, 2 sample(s) each: 3 runs of 4; about ")


@pytest.mark.parametrize("fault", CAUSES)
async def test_each_fault_of_the_kimi_report_is_named_and_its_fix_brings_the_call_back(labs, fault):
    trace, done = await prove(REQUESTS[fault], labs)

    fixes = tried_fixes(trace, done)
    assert CAUSES[fault] in fixes
    assert all(fix.worked for fix in fixes.values())
    assert [one.returned for one in done] == [0] + [1] * len(done[1:])


async def test_all_three_faults_in_one_request_are_named_and_fixed_one_by_one(labs):
    trace, done = await prove(REQUESTS[ALL], labs)

    fixes = tried_fixes(trace, done)
    by_name = {one.plan.name: one for one in done}
    together = [by_name[f"the first {count} changes together"] for count in (2, 3)]
    assert {code: fixes[code].worked for code in CAUSES.values()} == dict.fromkeys(CAUSES.values(), True)
    assert [(one.written, one.returned) for one in (done[0], done[1], *together)] == [(0, 0), (0, 0), (1, 0), (1, 1)]
    assert together[-1].errors == set()


async def test_a_plugin_that_a_person_picks_is_put_into_a_lab_of_its_own_and_brings_the_call_back(labs):
    example = find_example("dropped-call")
    target = Target(lab=example.lab)
    trace = await pipeline.run(read_request(example.request_text), target, labs)

    plans = pick_plans(trace, target, ["plugin"])
    done = [one async for one in run_experiments(trace, target, labs, picked=plans)]

    rows = {one.plan.name: one for one in done}
    assert [(rows[name].written, rows[name].returned) for name in ("unchanged", "plugin")] == [(1, 0), (1, 1)]
    assert rows["plugin"].traces[0].verdict.dropped_calls == 0
