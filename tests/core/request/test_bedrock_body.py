"""Bodies of Bedrock's Converse are read as chat completions; other bodies with parts are not taken for one."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.request import read_request
from prompt_debugger.core.request.bedrock_body import is_converse_body

BODY: JSONObject = {
    "modelId": "eu.example.m-v1:0",
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
    "messages": [
        {"role": "user", "content": [{"text": "Is the gate open?"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "I look.", "signature": "s"}}},
                {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"at": "gate"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"json": {"open": True}}], "status": "success"}},
                {"text": "And now?"},
                {"document": {"name": "plan", "format": "pdf", "source": {"bytes": "JVBERg=="}}},
            ],
        },
    ],
    "inferenceConfig": {"maxTokens": 50, "topP": 0.5, "stopSequences": ["END"]},
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object", "properties": {}}}}}],
        "toolChoice": {"any": {}},
    },
    "guardrailConfig": {"guardrailIdentifier": "g"},
}


def test_messages_calls_results_tools_and_options_are_read() -> None:
    body = read_request(json.dumps(BODY)).body

    assert body["model"] == "eu.example.m-v1:0"
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is the gate open?"},
        {
            "role": "assistant",
            "content": None,
            "reasoning": "I look.",
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "look", "arguments": '{"at": "gate"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": '{"open": true}'},
        {"role": "user", "content": "And now?"},
    ]
    assert body["tools"] == [
        {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    ]
    assert (body["tool_choice"], body["max_tokens"], body["top_p"], body["stop"]) == ("required", 50, 0.5, ["END"])


def test_what_has_no_place_is_told() -> None:
    said = {notice.field: notice.message for notice in read_request(json.dumps(BODY)).notices}

    assert "Bedrock" in said[""]
    assert {"system[1]", "messages[2].content[2]", "guardrailConfig"} <= said.keys()
    assert not any("vLLM ignores" in words for words in said.values())


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "Hi"}], "inferenceConfig": {"maxTokens": 5}},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "toolConfig": {}},
        {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
        {"system": "Be brief.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
        {"messages": [], "inferenceConfig": {}},
    ],
)
def test_near_miss_bodies_of_other_apis(body: JSONObject) -> None:
    assert not is_converse_body(body)
