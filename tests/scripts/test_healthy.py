"""No false alarm: healthy answers of the real lab, and conversations in the templates of real models."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.tools.lab import LabSpec
from scripts.healthy import TRUE_FINDINGS, errors_in_templates, healthy_requests, run_healthy
from tests.conftest import ROOT


def test_the_requests_are_the_same_every_time_and_hold_no_deliberate_fault():
    bodies = [one.body for one in islice(healthy_requests(), 40)]

    assert bodies == [one.body for one in islice(healthy_requests(), 40)]
    assert not any(f'"type": "{wrong}"' in json.dumps(bodies) for wrong in ("int", "float", "str"))
    assert {bool(body.get("tools")) for body in bodies} == {True, False}
    assert {bool(body.get("stream")) for body in bodies} == {True, False}


def test_no_tool_refuses_what_it_is_to_be_called_with():
    asked = [one for one in islice(healthy_requests(), 300) if one.answer.get("tool_calls")]
    arguments = [
        (one.body["tools"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for one in asked
        for call in one.answer["tool_calls"]
    ]
    checked = [(_parameters(tools, name), given) for tools, name, given in arguments]

    assert any(isinstance(value, float) for _, given in checked for value in given.values())
    assert [given for schema, given in checked if not Draft202012Validator(schema).is_valid(given)] == []


def _parameters(tools, name):
    return next(tool["function"]["parameters"] for tool in tools if tool["function"]["name"] == name)


def test_the_lab_models_own_templates_raise_no_error():
    rendered, alarms = errors_in_templates(ROOT / "assets" / "lab-model")

    assert rendered > 20
    assert alarms == []


@pytest.mark.corpus
def test_no_template_of_a_real_model_raises_a_false_error(corpus_dir):
    rendered, found = errors_in_templates(corpus_dir)

    assert rendered > 300
    assert [one for one in found if one[:2] not in TRUE_FINDINGS] == []


@pytest.mark.lab
async def test_no_healthy_answer_of_the_lab_raises_an_error(labs):
    requests = [one for one in islice(healthy_requests(), 100) if one.lab == LabSpec()][:40]

    ran = [one async for one in run_healthy(requests, labs)]

    assert len(ran) == 40
    assert sum(one.is_healthy for one in ran) >= 25
    assert [one for one in ran if one.is_false_alarm] == []
