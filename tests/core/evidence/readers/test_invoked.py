"""The pieces of a stream of Bedrock's InvokeModel, as Python prints them and in base64."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence, show_evidence

HEAD: JSONObject = {"type": "message_start", "message": {"role": "assistant", "content": []}}
BLOCK: JSONObject = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
NOVA: list[JSONObject] = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "look"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"at": "gate"}'}}}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "tool_use"}},
]


def events(arguments: str, reason: str = "tool_use") -> list[JSONObject]:
    delta: JSONObject = {"type": "input_json_delta", "partial_json": arguments}
    return [
        HEAD,
        {"type": "content_block_start", "index": 0, "content_block": BLOCK},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}},
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 9}},
    ]


def printed(found: list[JSONObject]) -> str:
    return "\n".join(str({"chunk": {"bytes": json.dumps(one).encode()}}) for one in found)


def coded(found: list[JSONObject]) -> str:
    texts = [base64.b64encode(json.dumps(one).encode()).decode() for one in found]
    return "\n".join(json.dumps({"chunk": {"bytes": text}}) for text in texts)


def codes(text: str) -> set[str]:
    return {one.code for one in asyncio.run(show_evidence(read_evidence(text))).findings}


@pytest.mark.parametrize("lay_out", [printed, coded])
@pytest.mark.parametrize("found", [events('{"at": "gate"}'), events('{"at": "gate"}')[1:], NOVA])
def test_the_events_within_are_read(lay_out, found):
    trace = asyncio.run(show_evidence(read_evidence(lay_out(found))))

    assert [(call.name, call.arguments) for call in returned_calls(trace)] == [("look", '{"at": "gate"}')]
    assert not trace.findings


@pytest.mark.parametrize("lay_out", [printed, coded])
def test_faults_are_named(lay_out):
    assert codes(lay_out(events('{"at": "ga', "max_tokens"))) == {"PD320"}
    assert codes(lay_out(events("{'at': 'gate'}"))) == {"PD450"}


@pytest.mark.parametrize(
    "text",
    [
        '{"chunk": {"bytes": "aGVsbG8="}}',
        '{"chunk": {"bytes": "a"}}\n{"chunk": {"bytes": "b"}}',
        "{'chunk': {'bytes': b'no json'}}",
        '{"chunk": {"text": "a"}}',
    ],
)
def test_near_miss_pieces_of_anything_else(text):
    words = ""
    with contextlib.suppress(RequestError):
        words = read_evidence(text).words

    assert "stream" not in words
