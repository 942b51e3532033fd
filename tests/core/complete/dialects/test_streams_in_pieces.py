"""Streams that were pasted as lines: several runs one after the other, and calls whose arguments come in pieces."""

import json

import pytest

from prompt_debugger.core.evidence import Form, read_evidence, show_evidence


def lines(*events):
    return "\n".join(json.dumps(event) for event in events)


def calls_of(evidence):
    calls = evidence.chat.message.get("tool_calls", [])
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


def gemini(*parts, **fields):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}], "modelVersion": "g"}


def piece(path, is_more=False, **value):
    held = {"jsonPath": path, **value} | ({"willContinue": True} if is_more else {})
    return gemini({"functionCall": {"partialArgs": [held], "willContinue": True}})


def begun(name):
    return gemini({"functionCall": {"name": name, "willContinue": True}})


ENDED = gemini({"functionCall": {}})
STOP = gemini({"text": ""}, finishReason="STOP")


async def test_geminis_calls_in_pieces_are_put_together():
    text = lines(
        gemini({"functionCall": {"name": "now"}}),
        begun("plan"),
        piece("$.trip.stops[0].city", is_more=True, stringValue="Os"),
        piece("$.trip.stops[0].city", stringValue="lo"),
        gemini({"functionCall": {"willContinue": True}}),
        piece("$.trip.stops[1].city", stringValue="Rome"),
        piece("$.days", numberValue=3),
        piece("$['by train']", boolValue=False),
        piece("$.via", nullValue="NULL_VALUE"),
        ENDED,
        begun("now"),
        ENDED,
        STOP,
    )

    evidence = read_evidence(text)

    plan = {"trip": {"stops": [{"city": "Oslo"}, {"city": "Rome"}]}, "days": 3, "by train": False, "via": None}
    assert calls_of(evidence) == [("now", {}), ("plan", plan), ("now", {})]
    assert [finding.code for finding in (await show_evidence(evidence)).findings] == []


@pytest.mark.parametrize("end", [(STOP,), (begun("now"), STOP)], ids=["the end of the answer", "the next call"])
def test_a_call_in_pieces_ends_without_its_last_piece(end):
    evidence = read_evidence(lines(begun("weather"), piece("$.city", stringValue="Oslo"), *end))

    assert calls_of(evidence)[0] == ("weather", {"city": "Oslo"})


async def test_a_call_of_gemini_without_a_name_is_still_found():
    evidence = read_evidence(lines(gemini({"functionCall": {"args": {"city": "Oslo"}}}), STOP))

    assert "PD466" in [finding.code for finding in (await show_evidence(evidence)).findings]


@pytest.mark.parametrize("path", ["$", "city", "$.a[999999]", "$.a.", "$" + ".a" * 900])
def test_an_odd_path_is_no_crash(path):
    assert read_evidence(lines(begun("weather"), piece(path, stringValue="Oslo"), STOP)).form is Form.STREAM


def messages_run(number, reason="tool_use"):
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "weather", "input": {}}
    arguments = {"type": "input_json_delta", "partial_json": json.dumps({"city": f"City {number}"})}
    return [
        {"type": "message_start", "message": {"id": f"msg_{number}", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": arguments},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


def responses_run(number):
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "weather"}
    whole = {**call, "arguments": json.dumps({"city": f"City {number}"})}
    response = {"id": f"resp_{number}", "object": "response"}
    return [
        {"type": "response.created", "response": {**response, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**call, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [whole]}},
    ]


@pytest.mark.parametrize("run", [messages_run, responses_run])
@pytest.mark.parametrize("write", [lines, lambda *events: json.dumps(events)], ids=["lines", "a list"])
async def test_of_runs_in_one_recording_the_last_is_read(run, write):
    evidence = read_evidence(write(*run(1), *run(2)))

    assert calls_of(evidence) == [("weather", {"city": "City 2"})]
    assert "The text contains 2 streams; the last one was read." in evidence.notes
    assert [finding.code for finding in (await show_evidence(evidence)).findings] == []


async def test_a_run_that_begins_within_another_is_no_second_recording():
    cut = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"ci'}}
    evidence = read_evidence(lines(*messages_run(1)[:2], cut, *messages_run(2)))

    assert not any("2 streams" in note for note in evidence.notes)
    assert "PD320" in [finding.code for finding in (await show_evidence(evidence)).findings]
