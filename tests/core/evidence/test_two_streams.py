"""Two streams copied one after the other: never put together into a call that no one made."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.answers.events import events_of_objects
from tests.attacks.growth import grows_linearly

DONE = "data: [DONE]\n\n"


def chunk(delta, reason=None):
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': reason}]})}\n\n"


def stream(city, call_id):
    head = {"index": 0, "id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": json.dumps({"city": city})}}
    first = chunk({"role": "assistant", "tool_calls": [head]})
    return first + chunk({"tool_calls": [rest]}) + chunk({}, "tool_calls") + DONE


FIRST, SECOND = stream("Oslo", "call_1"), stream("Rome", "call_2")


@pytest.mark.parametrize(
    "text",
    [
        FIRST + SECOND,
        f"first:\n{FIRST}\nsecond:\n{SECOND}",
        FIRST.partition("\n\n")[2].removeprefix("data") + SECOND,
    ],
    ids=["one after the other", "labelled", "the first one without its head"],
)
def test_the_last_of_two_streams_is_read(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert [finding.code for finding in trace.findings] == []
    assert "the last one was read" in trace.verdict.sentence
    assert [call["id"] for call in trace.chat.message["tool_calls"]] == ["call_2"]
    assert [call["function"]["arguments"] for call in trace.chat.message["tool_calls"]] == ['{"city": "Rome"}']


def test_usage_behind_the_end_is_no_other_stream():
    trace = asyncio.run(show_evidence(read_evidence(f'{FIRST}data: {{"choices": [], "usage": null}}\n\n')))

    assert [call["id"] for call in trace.chat.message["tool_calls"]] == ["call_1"]


def test_an_index_that_comes_twice_in_one_stream_still_collides():
    trace = asyncio.run(show_evidence(read_evidence(FIRST.removesuffix(DONE) + SECOND)))

    assert "PD417" in {finding.code for finding in trace.findings}


def piece(answer_id, delta, reason=None):
    choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return {"id": answer_id, "object": "chat.completion.chunk", "choices": choices}


def pieces(city, *ids):
    head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    rest = {"index": 0, "function": {"arguments": json.dumps({"city": city})}}
    deltas = [{"role": "assistant"}, {"tool_calls": [head]}, {"tool_calls": [rest]}]
    chunks = [piece(one, delta) for one, delta in zip(ids, deltas, strict=False)]
    return [*chunks, piece(ids[3], {}, "tool_calls")]


def lines(found):
    return "\n".join(map(json.dumps, found))


def server_sent(found):
    return "".join(f"data: {json.dumps(one)}\n\n" for one in found) + DONE


@pytest.mark.parametrize("lay_out", [lines, server_sent, json.dumps])
def test_answers_that_came_at_once_are_told_apart_by_their_ids(lay_out):
    both = zip(pieces("Oslo", *"aaaa"), pieces("Rome", *"bbbb"), strict=True)
    trace = asyncio.run(show_evidence(read_evidence(lay_out([one for pair in both for one in pair]))))

    assert [call["function"]["arguments"] for call in trace.chat.message["tool_calls"]] == ['{"city": "Rome"}']
    assert trace.findings == ()
    assert "are of 2 answers" in trace.verdict.sentence


@pytest.mark.parametrize("lay_out", [lines, server_sent, json.dumps])
@pytest.mark.parametrize("ids", ["abcd", "abbb", "aabb"])
def test_near_miss_ids_that_a_gateway_makes_for_each_event_are_one_answer(lay_out, ids):
    trace = asyncio.run(show_evidence(read_evidence(lay_out(pieces("Oslo", *ids)))))

    assert [call["function"]["arguments"] for call in trace.chat.message["tool_calls"]] == ['{"city": "Oslo"}']
    assert trace.findings == ()
    assert "answers; the last" not in trace.verdict.sentence


def test_many_answers_that_streamed_at_once_are_told_apart_in_linear_time() -> None:
    def read(count: int) -> None:
        deltas: list[JSONObject] = [{"role": "assistant"}, {"content": "a"}]
        events: list[JSONObject] = [
            {"id": f"a{number}", "choices": [{"index": 0, "delta": delta}]}
            for delta in deltas
            for number in range(count)
        ]
        events_of_objects(events)

    assert grows_linearly(read, first=4_000, tries=1, doublings=2)
