"""Answers of Gemini's Interactions API: whole, in the older form, as a stream, and what only looks like one."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.dialects import DIALECTS
from prompt_debugger.core.diagnose.fields import returned_calls
from tests.core.evidence.pasted import shown

DIALECT = DIALECTS["interactions"]
USAGE: JSONObject = {"total_tokens": 14, "total_input_tokens": 9, "total_output_tokens": 3, "total_thought_tokens": 2}
CALL: JSONObject = {"type": "function_call", "id": "c1", "name": "look", "arguments": {"at": "gate"}}
SAID: JSONObject = {"type": "user_input", "content": [{"type": "text", "text": "Is it open?"}]}
THOUGHT: JSONObject = {"type": "thought", "summary": [{"type": "text", "text": "I look."}], "signature": "x"}
HEAD: JSONObject = {"id": "v1_a", "object": "interaction", "model": "gemini-3"}
ANSWER: JSONObject = {**HEAD, "status": "requires_action", "steps": [SAID, THOUGHT, CALL], "usage": USAGE}


def delta(index: int, **held: str) -> JSONObject:
    return {"event_type": "step.delta", "index": index, "delta": {**held}}


def events(*arguments: str, status: str = "requires_action") -> list[JSONObject]:
    begun: JSONObject = {"type": "function_call", "id": "c1", "name": "look", "arguments": {}}
    return [
        {"event_type": "interaction.created", "interaction": {**HEAD, "status": "in_progress"}},
        {"event_type": "interaction.status_update", "interaction_id": "v1_a", "status": "in_progress"},
        {"event_type": "step.start", "index": 0, "step": {"type": "thought"}},
        delta(0, type="thought_signature", signature="x"),
        {"event_type": "step.stop", "index": 0},
        {"event_type": "step.start", "index": 1, "step": begun},
        *(delta(1, type="arguments_delta", arguments=one) for one in arguments),
        {"event_type": "step.stop", "index": 1},
        {"event_type": "interaction.completed", "interaction": {"id": "v1_a", "status": status, "usage": USAGE}},
    ]


def texts(*pieces: str, status: str = "completed") -> list[JSONObject]:
    return [
        *events()[:2],
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        *(delta(0, type="text", text=one) for one in pieces),
        {"event_type": "interaction.completed", "interaction": {"id": "v1_a", "status": status}},
    ]


def lines(found: list[JSONObject]) -> str:
    return "\n".join(map(json.dumps, found))


def server_sent(found: list[JSONObject]) -> str:
    sent = "".join(f"event: {one['event_type']}\ndata: {json.dumps(one)}\n\n" for one in found)
    return f"{sent}event: done\ndata: [DONE]\n\n"


def codes(text: str) -> set[str]:
    return {one.code for one in shown(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ANSWER),
        *(lay_out(events('{"at"', ': "gate"}')) for lay_out in (lines, server_sent, json.dumps)),
    ],
)
def test_call_reason_and_usage_are_read(text: str) -> None:
    trace = shown(text)

    assert trace.chat is not None
    assert [(call.name, call.arguments) for call in returned_calls(trace)] == [("look", '{"at": "gate"}')]
    assert trace.chat.finish_reason == "tool_calls"
    assert trace.chat.usage is not None
    assert trace.chat.usage.completion_tokens == 5
    assert not trace.findings


def test_the_older_form_is_read() -> None:
    older = {**HEAD, "status": "completed", "role": "model", "outputs": [{"type": "text", "text": "It is."}]}
    trace = shown(json.dumps(older))

    assert trace.chat is not None
    assert trace.chat.message["content"] == "It is."
    assert not trace.findings


def test_faults_are_named() -> None:
    assert codes(server_sent(texts("It", " is", status="incomplete"))) == {"PD322"}
    assert codes(lines(events("{'at': ", "'gate'}"))) == {"PD450"}
    assert codes(server_sent(texts("It", " is")[:-1])) == {"PD310"}


def test_a_healthy_text_is_silent() -> None:
    assert not codes(lines(texts("It", " is.")))
    assert not codes(lines(texts("It", " is.")[3:]))


@pytest.mark.parametrize(
    "value",
    [
        {"event_type": "step.delta", "name": "build"},
        {"event_type": "interaction.completed", "interaction": "x"},
        {"event_type": "click", "index": 1},
        {"id": "x", "object": "interaction", "status": "completed"},
        {"id": "r1", "status": "completed", "outputs": [{"type": "text", "text": "a"}]},
    ],
)
def test_near_miss_objects_of_other_programs(value: JSONObject) -> None:
    assert not DIALECT.is_answer(value)
    assert not DIALECT.is_event(value)
