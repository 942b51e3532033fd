"""Answers of Cohere's chat API: whole, as lines, as server-sent events, and what only looks like one."""

from __future__ import annotations

import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.dialects import DIALECTS
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

DIALECT = DIALECTS["cohere"]
CALL: JSONObject = {"id": "look_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "gate"}'}}
ANSWER: JSONObject = {
    "id": "m1",
    "finish_reason": "TOOL_CALL",
    "message": {"role": "assistant", "tool_plan": "I will look.", "tool_calls": [CALL]},
    "usage": {"billed_units": {"input_tokens": 3.0}, "tokens": {"input_tokens": 9.0, "output_tokens": 4.0}},
}
PRINTED = (
    "V2ChatResponse(id='m1', finish_reason='TOOL_CALL', prompt=None, message=AssistantMessageResponse("
    "role='assistant', tool_calls=[ToolCallV2(id='look_1', type='function', function=ToolCallV2Function(name='look', "
    "arguments='{\"at\": \"gate\"}'))], tool_plan='I will look.', content=None, citations=None), usage=Usage("
    "tokens=UsageTokens(input_tokens=9.0, output_tokens=4.0)), logprobs=None)"
)


def grown(kind: str, message: JSONObject) -> JSONObject:
    return {"type": kind, "index": 0, "delta": {"message": message}}


def events(*arguments: str, reason: str = "TOOL_CALL") -> list[JSONObject]:
    pieces = [
        grown("tool-call-delta", {"tool_calls": {"function": {"arguments": one}}}) for one in (arguments or ("{}",))
    ]
    begun: JSONObject = {"id": "look_1", "type": "function", "function": {"name": "look", "arguments": ""}}
    usage: JSONObject = {"tokens": {"input_tokens": 9, "output_tokens": 4}}
    return [
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant", "content": []}}},
        grown("tool-plan-delta", {"tool_plan": "I will "}),
        grown("tool-plan-delta", {"tool_plan": "look."}),
        grown("tool-call-start", {"tool_calls": begun}),
        *pieces,
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "id": "m1", "delta": {"finish_reason": reason, "usage": usage}},
    ]


def texts(*pieces: str) -> list[JSONObject]:
    said = [grown("content-delta", {"content": {"text": one}}) for one in pieces]
    return [
        {"type": "message-start", "id": "m1"},
        grown("content-start", {"content": {"type": "text", "text": ""}}),
        *said,
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    ]


def lines(found: list[JSONObject]) -> str:
    return "\n".join(map(json.dumps, found))


def server_sent(found: list[JSONObject]) -> str:
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in found)


def codes(text: str) -> set[str]:
    return {one.code for one in shown(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        *(lay_out(events('{"at"', ': "gate"}')) for lay_out in (lines, server_sent, json.dumps)),
        json.dumps(ANSWER, indent=2),
        PRINTED,
    ],
)
def test_call_plan_reason_and_usage_are_read(text: str) -> None:
    trace = shown(text)
    chat = trace.chat

    assert chat is not None
    assert [(call.name, call.arguments) for call in returned_calls(trace)] == [("look", '{"at": "gate"}')]
    assert chat.message["reasoning"] == "I will look."
    assert chat.finish_reason == "tool_calls"
    assert chat.usage is not None
    assert chat.usage.completion_tokens == 4
    assert not trace.findings


def test_several_calls_and_thinking_and_text_keep_apart() -> None:
    second: JSONObject = {"id": "shut_2", "function": {"name": "shut", "arguments": "{}"}}
    found: list[JSONObject] = [
        *events('{"a": 1}')[:-1],
        grown("tool-call-start", {"tool_calls": second}),
        grown("content-delta", {"content": {"thinking": "So."}}),
        grown("content-delta", {"content": {"text": "Done."}}),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]
    trace = shown(lines(found))

    assert [call.name for call in returned_calls(trace)] == ["look", "shut"]
    assert trace.chat is not None
    assert trace.chat.message["content"] == "Done."


def test_faults_are_named() -> None:
    assert codes(lines(events('{"at": "ga', reason="MAX_TOKENS"))) == {"PD320"}
    assert codes(lines(events("{'at': ", "'gate'}"))) == {"PD450"}
    assert codes(json.dumps({**ANSWER, "finish_reason": "ERROR"})) == {"PD323"}
    written = '[{"tool_call_id": "0", "tool_name": "look", "parameters": {"at": "gate"}}]'
    assert "PD426" in codes(server_sent(texts("<|START_ACTION|>", written, "<|END_ACTION|>")))


def test_a_copy_without_beginning_or_end_is_read_as_far_as_it_goes() -> None:
    found = events('{"at"', ': "gate"}')

    assert codes(lines(found[:5])) <= {"PD310"}
    assert not codes(lines(found[5:]))


def test_a_healthy_text_is_silent() -> None:
    assert not codes(lines(texts("Your ", "gate ", "is open.")))


@pytest.mark.parametrize(
    "values",
    [
        [{"type": "tool-call-delta", "toolCallId": "a", "toolName": "f", "argsTextDelta": "{}"}, {"type": "finish"}],
        [{"type": "content-end", "index": 0, "name": "x"}, {"type": "content-end", "index": 1, "name": "x"}],
        [{"type": "message-start", "author": "x"}, {"type": "message-end", "author": "x"}],
    ],
)
def test_near_miss_events_of_others(values: list[JSONObject]) -> None:
    words = ""
    with contextlib.suppress(RequestError):
        words = read_evidence(lines(values)).words

    assert "Cohere" not in words


@pytest.mark.parametrize(
    "value",
    [
        {"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"},
        {"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "COMPLETE"},
        {"message": {"role": "assistant", "content": None}, "finish_reason": "length"},
        {"message": "a", "finish_reason": "COMPLETE"},
    ],
)
def test_near_miss_choices_of_a_chat_completion(value: JSONObject) -> None:
    assert not DIALECT.is_answer(value)
