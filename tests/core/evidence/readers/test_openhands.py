"""Events of OpenHands: the answer that each keeps, each once; the first with a fault is shown."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence, show_evidence


def event(arguments: str, answer_id: str = "a", reason: str = "tool_calls", action: str = "run") -> JSONObject:
    call: JSONObject = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": arguments}}
    message: JSONObject = {"role": "assistant", "content": "", "tool_calls": [call]}
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": reason}
    answer: JSONObject = {"id": answer_id, "object": "chat.completion", "model": "m", "choices": [choice]}
    held: JSONObject = {"function_name": "shell", "tool_call_id": "c1", "model_response": answer}
    return {"id": 5, "source": "agent", "message": "Running", "action": action, "tool_call_metadata": held, "args": {}}


ASKED: JSONObject = {"id": 1, "source": "user", "message": "List files", "action": "message", "args": {"content": "x"}}
SEEN: JSONObject = {**event('{"run": "ls"}'), "action": None, "observation": "run", "content": "a.py"}
GOOD, CUT = event('{"run": "ls"}'), event('{"run": "cat', "b", "length")


def codes(text: str, row: int = 1) -> set[str]:
    return {one.code for one in asyncio.run(show_evidence(read_evidence(text, row=row))).findings}


@pytest.mark.parametrize("lay_out", [json.dumps, lambda values: "\n".join(map(json.dumps, values))])
def test_an_answer_counts_once_whatever_follows_it(lay_out):
    text = lay_out([ASKED, GOOD, SEEN])
    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert [(call.name, call.arguments) for call in returned_calls(trace)] == [("shell", '{"run": "ls"}')]
    assert not trace.findings
    assert read_evidence(text).rows == 1


def test_the_answer_with_a_fault_is_shown():
    last = event('{"run": "rm"}', "c")

    assert codes(json.dumps(CUT)) == {"PD320"}
    assert codes(json.dumps([ASKED, GOOD, SEEN, CUT])) == {"PD320"}
    assert codes(json.dumps([GOOD, CUT, last])) == {"PD320"}
    assert not codes(json.dumps([CUT, GOOD, last]), row=1) - {"PD320"}
    assert not codes(json.dumps([GOOD, CUT, last]), row=3)


@pytest.mark.parametrize("held", [{"function_name": "x", "model_response": {"model": "m"}}, {"model_response": None}])
def test_near_miss_events_without_an_answer(held):
    words = ""
    with contextlib.suppress(RequestError):
        words = read_evidence(json.dumps({**ASKED, "tool_call_metadata": held})).words

    assert "OpenHands" not in words
