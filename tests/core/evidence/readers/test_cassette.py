"""Cassettes of vcrpy: requests and responses that a test recorded."""

from __future__ import annotations

import json

import pytest
import yaml

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.readers import Paste
from prompt_debugger.core.evidence.readers.cassette import READER
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

BODY: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "It's Bern?"}]}
CALL = '<tool_call>\n{"name": "look_up", "arguments": {"city": "Bern"}}\n</tool_call>'


def answer(content: str) -> JSONObject:
    message: JSONObject = {"role": "assistant", "content": content}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def streamed(*pieces: str) -> str:
    deltas: list[JSONObject] = [{"index": 0, "delta": {"content": one}, "finish_reason": None} for one in pieces]
    deltas.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = "".join(f"data: {json.dumps({'id': 'c', 'choices': [one]})}\n\n" for one in deltas)
    return f"{events}data: [DONE]\n\n"


def recorded(body: JSON, reply: JSON, code: int = 200) -> JSONObject:
    sent: JSONObject = {"body": json.dumps(body)} if isinstance(body, dict) else {"body": body}
    came: JSONObject = {"body": {"string": reply}} if isinstance(reply, str) else {"parsed_body": reply}
    uri = "http://localhost:8000/v1/chat/completions"
    request: JSONObject = {**sent, "headers": {"accept": ["*/*"]}, "method": "POST", "uri": uri}
    return {"request": request, "response": {**came, "headers": {}, "status": {"code": code, "message": "OK"}}}


def cassette(*interactions: JSONObject, width: int = 80) -> str:
    return yaml.safe_dump({"interactions": [*interactions], "version": 1}, width=width)


def codes(text: str) -> list[str]:
    return [finding.code for finding in shown(text).findings]


@pytest.mark.parametrize("width", [80, 100_000])
@pytest.mark.parametrize("reply", [json.dumps(answer(CALL)), answer(CALL), streamed(CALL[:30], CALL[30:])])
def test_a_recorded_call_in_content_is_found(reply: JSON, width: int) -> None:
    trace = shown(cassette(recorded(BODY, reply), width=width))

    assert "PD406" in [finding.code for finding in trace.findings]
    assert trace.request.body["messages"] == BODY["messages"]


def test_of_several_the_one_at_fault_is_shown_and_other_traffic_is_not_counted() -> None:
    listing = recorded(None, json.dumps({"object": "list", "data": []}))
    text = cassette(listing, recorded(BODY, answer(CALL)), recorded(BODY, answer("Yes.")))

    assert "PD406" in codes(text)
    assert codes(cassette(listing, recorded(BODY, answer("Yes.")))) == []


def test_an_error_has_the_status_of_its_response() -> None:
    refused = {"error": {"message": "Invalid schema for function 'f'.", "type": "invalid_request_error"}}
    error = read_evidence(cassette(recorded(BODY, json.dumps(refused), 400))).error

    assert error is not None
    assert error.status == 400


@pytest.mark.parametrize(
    "reply",
    [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": CALL}],
            "stop_reason": "end_turn",
        },
        {"model": "m", "message": {"role": "assistant", "content": CALL}, "done": True},
        "".join(
            json.dumps({"model": "m", "message": {"role": "assistant", "content": one}, "done": not one}) + "\n"
            for one in (CALL[:30], CALL[30:], "")
        ),
    ],
)
def test_answers_of_other_apis_are_read(reply: JSON) -> None:
    assert "PD406" in codes(cassette(recorded(BODY, reply)))


def test_an_error_in_plain_words_is_one_and_a_page_is_no_answer() -> None:
    refused = read_evidence(cassette(recorded(BODY, "404 page not found", 404)))
    page = read_evidence(cassette(recorded(BODY, "<html>It works!</html>")))

    assert refused.error is not None
    assert (refused.error.status, refused.chat) == (404, None)
    assert (page.error, page.chat) == (None, None)


def test_a_response_alone_is_read() -> None:
    one = yaml.safe_dump({"response": recorded(BODY, streamed(CALL))["response"]})

    assert READER.read(Paste(f"{one}\n")).chat is not None


@pytest.mark.parametrize(
    "text",
    [
        "interactions:\n- request:\n    body: null\n  response:\n    body:\n      string: '<html></html>'\n",
        "interactions: all of the tools\nbody: none\n",
        "interactions:\n- request: &a\n    body: '{}'\n  response: *a\n",
        "request:\n  body: [1, 2\n",
        "request:\n  body:\n    string: 3\n",
    ],
)
def test_other_yaml_is_left(text: str) -> None:
    assert READER.finds(Paste(text)) == 0


def test_dates_and_bytes_in_a_cassette_are_no_trouble() -> None:
    dated = "interactions:\n- request:\n    parsed_body:\n      messages: []\n      at: 2026-01-01\n      1: a\n"

    assert READER.finds(Paste(f"{dated}  response:\n    body:\n      string: !!binary |\n        H4sI\n")) > 0


@pytest.mark.parametrize("unit", ["- request:\n", "  body: '{}'\n", "[", "a: "])
def test_a_flood_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: READER.finds(Paste("interactions:\n- body: x\n" + unit * size)), first=500)
