"""Bare JSON is a call where something proves it: arguments as an object, an id, a type. Words are no arguments."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence, show_evidence

PERSON = {"name": "Ada", "arguments": "none"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PERSON),
        str(PERSON),
        json.dumps({"name": "Ada", "parameters": "none"}),
        json.dumps([PERSON, {"name": "Ben", "arguments": "against the plan"}]),
        "\n".join(json.dumps(one) for one in (PERSON, {"name": "Ben", "arguments": "the budget"})),
        f"The list holds\n\n{json.dumps(PERSON)}\n\nand nothing else.",
        f"```json\n{json.dumps(PERSON)}\n```",
        json.dumps({"id": "7", "name": "Ada", "arguments": "[optional] the year"}),
    ],
)
def test_a_name_with_words_for_arguments_is_a_record(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    "call",
    [
        {"name": "find", "arguments": '{"q": "rain"}'},
        {"name": "find", "arguments": ' {"q": "ra'},
        {"name": "find", "arguments": '"{\\"q\\": \\"rain\\"}"'},
        {"name": "find", "arguments": ""},
        {"id": "call_7f", "name": "find", "arguments": "none"},
        {"type": "function", "name": "find", "arguments": "rain in Oslo"},
        {"function": {"name": "find", "arguments": "none"}},
    ],
)
def test_arguments_that_begin_as_an_object_or_an_id_or_a_type_prove_a_call(call):
    assert Part.MESSAGE in read_evidence(json.dumps(call)).holds


async def test_one_call_of_a_list_proves_those_beside_it():
    text = json.dumps([{"name": "find", "arguments": "{}"}, {"name": "find", "arguments": "none"}])

    trace = await show_evidence(read_evidence(text))

    assert [finding.code for finding in trace.findings] == ["PD506"]


async def codes(content):
    answer = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    trace = await show_evidence(read_evidence(json.dumps(answer)))
    return [finding.code for finding in trace.findings]


async def test_keys_that_records_share_with_agents_need_an_object():
    assert await codes('{"tool": "hammer", "args": "-v"}') == []
    assert await codes('{"tool": "find", "args": {"q": "rain"}}') == ["PD426"]
    assert await codes('{"action": "find", "action_input": "rain in Oslo"}') == ["PD426"]
