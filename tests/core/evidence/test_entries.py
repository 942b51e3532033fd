"""Entries of a proxy's log or of a batch's output, as lines and in a list: the first with a fault is shown."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence, show_evidence

TOOL: JSONObject = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
REQUEST: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "Is it open?"}], "tools": [TOOL]}


def answer(arguments: str, reason: str = "tool_calls") -> JSONObject:
    call: JSONObject = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]}


def pair(answered: JSON) -> JSONObject:
    return {"request": REQUEST, "response": answered}


def of_openai(answered: JSON, status: int = 200) -> JSONObject:
    held: JSONObject = {"status_code": status, "request_id": "r", "body": answered}
    return {"id": "b", "custom_id": "a", "response": held, "error": None}


def of_anthropic(block: JSONObject, reason: str = "tool_use") -> JSONObject:
    message: JSONObject = {"type": "message", "role": "assistant", "content": [block], "stop_reason": reason}
    return {"custom_id": "a", "result": {"type": "succeeded", "message": message}}


USED: JSONObject = {"type": "tool_use", "id": "t", "name": "look", "input": {"at": "gate"}}
LEFT: JSONObject = {"type": "text", "text": '<tool_call>\n{"name": "look", "arguments": {"at": "gate"}}\n</tool_call>'}
GOOD, CUT = answer('{"at": "gate"}'), answer('{"at": "ga', "length")
ERROR: JSONObject = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "max_tokens: Field required"},
}


def as_lines(values: list[JSONObject]) -> str:
    return "\n".join(map(json.dumps, values))


def as_list(values: list[JSONObject]) -> str:
    return json.dumps(values, indent=1)


def shown(text: str, row: int = 1) -> Trace:
    return asyncio.run(show_evidence(read_evidence(text, row=row)))


def codes(text: str, row: int = 1) -> set[str]:
    return {one.code for one in shown(text, row).findings}


@pytest.mark.parametrize("lay_out", [as_lines, as_list])
@pytest.mark.parametrize("wrap", [pair, of_openai])
def test_the_first_entry_with_a_fault_is_shown(lay_out, wrap):
    text = lay_out([wrap(GOOD), wrap(CUT), wrap(GOOD)])

    assert codes(text) == {"PD320"}
    assert any(note.startswith("Entry 2 of 3 is shown") for note in shown(text).notes)
    assert not codes(text, row=3)
    assert read_evidence(text, row=2).words.startswith("line 2 of 3")


@pytest.mark.parametrize("lay_out", [as_lines, as_list])
@pytest.mark.parametrize("values", [[pair(GOOD)] * 2, [of_openai(GOOD)] * 2, [of_anthropic(USED)] * 2])
def test_healthy_entries_are_silent(lay_out, values):
    trace = shown(lay_out(values))

    assert [(call.name, call.arguments) for call in returned_calls(trace)] == [("look", '{"at": "gate"}')]
    assert not trace.findings


def test_a_batch_of_anthropic_is_read_as_its_messages():
    assert shown(json.dumps(of_anthropic(USED))).chat is not None
    assert "PD426" in codes(as_lines([of_anthropic(USED), of_anthropic(LEFT, "end_turn")]))


def test_an_error_in_a_batch_is_an_error():
    refused = {"error": {"message": "Unknown parameter: 'tool'.", "type": "invalid_request_error"}}
    errored = {"custom_id": "a", "result": {"type": "errored", "error": ERROR}}

    assert codes(as_lines([of_openai(GOOD), of_openai(refused, 400)])) == {"PD100"}
    for text in (json.dumps(errored), as_lines([errored, {"custom_id": "b", "result": {"type": "expired"}}])):
        trace = shown(text)
        assert trace.refusal is not None
        assert trace.refusal.message == "max_tokens: Field required"


def test_near_miss_a_list_of_messages_stays_a_request():
    conversation = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "response": GOOD}]

    assert read_evidence(json.dumps(conversation)).request is not None


def test_near_miss_a_choice_keeps_its_message():
    choice = {"result": {"type": "succeeded", "note": "x"}, "custom": 1, **GOOD}

    assert codes(json.dumps(choice)) == set()
