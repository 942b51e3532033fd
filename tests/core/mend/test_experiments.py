"""Experiments on the real lab: each cure that a worked case offers is tried, and works."""

from __future__ import annotations

import pytest

from prompt_debugger.core.mend.experiments import run_experiments, tried_cures
from prompt_debugger.core.pipeline import Target, find_example, run_request
from prompt_debugger.core.request import read_request

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
    trace = await run_request(read_request(text), target, labs)
    return trace, [one async for one in run_experiments(trace, target, labs, **options)]


@pytest.mark.parametrize("name", FAULTY)
async def test_each_cure_of_a_worked_case_is_tried_and_works(labs, name):
    example = find_example(name)

    trace, done = await experiments_on(example.request_text, Target(lab=example.lab), labs)

    cures = tried_cures(trace, done)
    assert cures
    assert {code: (cure.tried, cure.worked) for code, cure in cures.items()} == dict.fromkeys(cures, (True, True))


async def test_a_budget_ends_the_experiments_and_is_told_before(labs):
    example, told = find_example("dropped-call"), []

    _, done = await experiments_on(
        example.request_text, Target(lab=example.lab), labs, samples=2, budget=3, tell=told.append
    )

    assert [len(one.traces) for one in done] == [2, 1]
    assert told[0] == "2 variants, 2 sample(s) each: 3 runs of 4"
