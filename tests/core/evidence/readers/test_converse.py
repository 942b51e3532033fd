"""Bedrock's Converse and ConverseStream, as JSON, as lines, as a list, and as Python prints them."""

from __future__ import annotations

import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

CALL: JSONObject = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}
ANSWER: JSONObject = {
    "output": {"message": {"role": "assistant", "content": [{"text": "So."}, CALL]}},
    "stopReason": "tool_use",
    "usage": {"inputTokens": 3, "outputTokens": 4},
}


def events(*pieces: str, reason: str = "tool_use") -> list[JSONObject]:
    given: list[JSONObject] = [
        {"contentBlockDelta": {"delta": {"toolUse": {"input": one}}, "contentBlockIndex": 1}} for one in pieces
    ]
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "So."}, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t1", "name": "f"}}, "contentBlockIndex": 1}},
        *given,
        {"contentBlockStop": {"contentBlockIndex": 1}},
        {"messageStop": {"stopReason": reason}},
        {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 4}}},
    ]


def calls(trace: Trace) -> list[tuple[str, str]]:
    return [(str(call.name), str(call.arguments)) for call in returned_calls(trace)]


@pytest.mark.parametrize("text", [json.dumps(ANSWER), json.dumps(ANSWER, indent=2), str(ANSWER)])
def test_an_answer_is_read_with_its_calls(text):
    evidence = read_evidence(text)
    trace = shown(text)

    assert evidence.words == "an answer of Bedrock's Converse API"
    assert calls(trace) == [("f", '{"a": 1}')]
    assert not trace.findings


@pytest.mark.parametrize(
    "lay_out",
    [
        lambda found: "\n".join(map(json.dumps, found)),
        lambda found: "\n".join(map(str, found)),
        json.dumps,
        str,
    ],
)
def test_a_stream_is_read_whatever_printed_it(lay_out):
    text = lay_out(events('{"a"', ": 1}"))

    assert read_evidence(text).words == "a stream of Bedrock's ConverseStream"
    assert calls(shown(text)) == [("f", '{"a": 1}')]


def test_two_objects_in_the_pieces_of_a_call_are_named():
    trace = shown("\n".join(map(json.dumps, events('{"a": 1}', '{"b": 2}'))))

    assert [one.code for one in trace.findings] == ["PD451"]


def test_a_stream_that_begins_inside_a_call_shows_no_call():
    with pytest.raises(RequestError, match="begins in the middle"):
        shown("\n".join(map(json.dumps, events('{"a": 1}')[4:])))


@pytest.mark.parametrize("text", ['{"output": "Hi.", "stopReason": "x"}', '{"metadata": {"a": 1}}', '{"output": {}}'])
def test_other_objects_are_no_answer_of_bedrock(text):
    words = ""
    with contextlib.suppress(RequestError):
        words = read_evidence(text).words

    assert "Bedrock" not in words
