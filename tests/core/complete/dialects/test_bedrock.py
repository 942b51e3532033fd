"""Answers of Bedrock's Converse: whole, as the events that its clients print, and what only looks like one."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.dialects import DIALECTS
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

ANSWER: JSONObject = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"text": "I look. "},
                {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"at": "gate"}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13},
}
EVENTS: list[JSONObject] = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "I look."}}},
    {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t1", "name": "look"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"at": '}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '"gate"}'}}}},
    {"contentBlockStop": {"contentBlockIndex": 1}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}, "metrics": {"latencyMs": 1}}},
]
DIALECT = DIALECTS["bedrock"]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_text_call_reason_and_usage_are_read(is_streamed: bool) -> None:
    answer = DIALECT.read_events(EVENTS, "") if is_streamed else DIALECT.read_answer(ANSWER)
    chat = answer.chat
    assert chat is not None
    calls = chat.message["tool_calls"]
    assert isinstance(calls, list)
    call = calls[0]
    assert isinstance(call, dict)

    assert str(chat.message["content"]).strip() == "I look."
    assert call["id"] == "t1"
    assert call["function"] == {"name": "look", "arguments": '{"at": "gate"}'}
    assert chat.finish_reason == "tool_calls"
    assert chat.error is None
    assert chat.usage is not None
    assert chat.usage.completion_tokens == 4


def test_a_stream_that_breaks_off_says_so() -> None:
    chat = DIALECT.read_events(EVENTS[:4], "").chat

    assert chat is not None
    assert "messageStop" in (chat.error or "")


def test_request_and_answer_pasted_together_are_one_run() -> None:
    request = {
        "messages": [{"role": "user", "content": [{"text": "Is it open?"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]},
    }
    evidence = read_evidence(f"{json.dumps(request)}\n\n{json.dumps(ANSWER)}")

    assert "Bedrock" in evidence.words
    assert {one.code for one in diagnose_trace(trace_of(evidence))} <= {"PD105"} - {"PD105"}


@pytest.mark.parametrize(
    "value",
    [
        {"output": {"message": "done"}, "stopReason": "end_turn"},
        {"output": {"message": {}}},
        {"message": {"content": "a"}, "stopReason": "end_turn"},
        {"metadata": {"author": "x"}},
        {"messageStop": "end_turn"},
        {"messageStart": {}, "other": {}},
    ],
)
def test_near_miss_objects_of_other_programs(value: JSONObject) -> None:
    assert not DIALECT.is_answer(value)
    assert not DIALECT.is_event(value)


def found_in(message: JSON, reason: str = "stop") -> set[str]:
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    return {one.code for one in diagnose_trace(trace_of(read_evidence(json.dumps(answer))))}


def test_a_gateways_blank_fields_are_no_call() -> None:
    blank: JSONObject = {"name": "", "arguments": ""}
    message: JSONObject = {"role": "assistant", "content": "4", "refusal": "", "function_call": blank}

    assert not {"PD466", "PD416", "PD412"} & found_in(message)


def test_near_miss_a_call_that_lost_only_its_name() -> None:
    call: JSONObject = {"name": "", "arguments": '{"at": "gate"}'}

    assert "PD466" in found_in({"role": "assistant", "content": None, "function_call": call}, "function_call")


def test_a_tool_that_bedrock_runs_itself_is_no_call_for_the_client() -> None:
    used: JSONObject = {"toolUse": {"toolUseId": "s1", "name": "own", "input": {}, "type": "server_tool_use"}}
    message: JSONObject = {"role": "assistant", "content": [used, {"text": "4"}]}
    chat = DIALECT.read_answer({"output": {"message": message}, "stopReason": "end_turn"}).chat

    assert chat is not None
    assert chat.message == {"role": "assistant", "content": "4"}
