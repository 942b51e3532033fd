"""The log of the program `llm`: the newest answer, or the newest with a fault."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence, show_evidence

LEFT = '<tool_call>\n{"name": "look", "arguments": {"at": "gate"}}\n</tool_call>'
CALL: JSONObject = {"id": 1, "tool_id": 1, "name": "look", "arguments": {"at": "gate"}, "tool_call_id": "c1"}


def entry(response: str, reason: str = "stop", calls: list[JSON] | None = None) -> JSONObject:
    return {
        "id": "01j",
        "model": "m",
        "prompt": "Is it open?",
        "response": response,
        "response_json": {"finish_reason": reason, "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
        "conversation_id": "01k",
        "duration_ms": 900,
        "datetime_utc": "2026-06-01T10:00:00",
        "tools": [{"id": 1, "name": "look", "input_schema": {"type": "object"}}],
        "tool_calls": calls or [],
    }


def shown(*entries: JSONObject) -> Trace:
    return asyncio.run(show_evidence(read_evidence(json.dumps(list(entries), indent=2))))


def test_text_and_calls_are_read():
    trace = shown(entry("It is."), entry("", "tool_calls", [CALL]))

    assert [(call.name, call.arguments) for call in returned_calls(trace)] == [("look", '{"at": "gate"}')]
    assert not trace.findings


def test_the_newest_answer_with_a_fault_is_shown():
    assert {one.code for one in shown(entry(LEFT), entry("It is.")).findings} == {"PD426"}
    assert {one.code for one in shown(entry("It", "length")).findings} == {"PD322"}
    assert not any("does not set" in one.title for one in shown(entry("It", "length")).findings)


@pytest.mark.parametrize("lost", ["response", "conversation_id", "duration_ms"])
def test_near_miss_lists_of_other_programs(lost):
    value = {name: one for name, one in entry(LEFT).items() if name != lost}
    words = ""
    with contextlib.suppress(RequestError):
        words = read_evidence(json.dumps([value, value])).words

    assert "`llm`" not in words
