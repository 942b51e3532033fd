"""Runs by Gemini's generateContent: asked at its own address, whole and streamed, and read in its own words."""

import asyncio
import json

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Api
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report.repeat import curl_of
from prompt_debugger.core.request import read_request
from tests.core.complete.faulty_server import answer, faulty_server, raw

BODY = {
    "contents": [{"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]}],
    "tools": [{"functionDeclarations": [{"name": "weather"}]}, {"googleSearch": {}}],
    "generationConfig": {"temperature": 0},
    "safetySettings": [{"category": "X"}],
}
CALL = {"functionCall": {"name": "weather", "args": {"town": 3}}}
COUNTS = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
SAID = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Well"}, CALL]}, "finishReason": "STOP"}]}
WHOLE, STREAMED = "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent"
OTHERS = {"*": answer(404)}


def events(*values):
    head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    return raw((head + "".join(f"data: {json.dumps(value)}\n\n" for value in values)).encode())


def part(*parts, **fields):
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, **fields}]}


STREAM = events(part({"text": "We"}), part({"text": "ll"}, CALL), part(finishReason="STOP"))


def run(behaviours, body=BODY, **target):
    async def go():
        async with faulty_server({**behaviours, **OTHERS}) as server:
            asked = Target(base_url=server.base_url, model="m", **target)
            trace = await pipeline.run(read_request(json.dumps(body)), asked)
            paths = {one.path: one.path.removesuffix("?alt=sse") for one in server.received}
            return trace, {paths[one.path]: one.json for one in server.received if paths[one.path] in behaviours}

    return asyncio.run(go())


def test_a_pasted_body_goes_out_as_it_is_whole_and_streamed():
    trace, sent = run({WHOLE: answer(200, {**SAID, "usageMetadata": COUNTS}), STREAMED: STREAM})

    assert sent == {WHOLE: BODY, STREAMED: BODY}
    assert trace.api is Api.GEMINI
    assert trace.sent_native == BODY
    for chat in (trace.chat, trace.chat_stream):
        assert chat.message["content"] == "Well"
        assert chat.message["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"town": 3}'}
        assert chat.finish_reason == "tool_calls"
    assert trace.chat.usage.prompt_tokens == 3


def test_what_does_not_show_is_named():
    trace, _ = run({WHOLE: answer(200, SAID)}, asks_once=True)

    notes = " ".join(trace.notes)
    assert "`googleSearch`" in notes
    assert "Images were sent as they are" in notes
    assert "`finishReason: STOP`" in notes
    assert "safetySettings" not in notes  # it went out


def test_a_call_without_an_id_is_no_finding_and_its_place_is_that_of_the_part():
    trace, _ = run({WHOLE: answer(200, part({"text": "Well"}, {"functionCall": {"name": "wether"}}))}, asks_once=True)

    found = {finding.code: finding for finding in trace.findings}
    assert "PD507" not in found
    fields = [item.native_field for finding in trace.findings for item in finding.evidence if item.native_field]
    assert "candidates[0].content.parts[1].functionCall" in " ".join(fields)


def test_a_stream_that_breaks_off_is_kept_as_far_as_it_came():
    trace, _ = run({STREAMED: events(part({"text": "We"}))}, {**BODY, "stream": True}, asks_once=True)

    assert trace.chat_stream.message["content"] == "We"
    assert "`finishReason`" in trace.chat_stream.error


def test_zeros_are_no_counts():
    said = {**SAID, "usageMetadata": dict.fromkeys(COUNTS, 0)}

    assert run({WHOLE: answer(200, said)}, asks_once=True)[0].chat.usage is None


def test_a_chat_body_is_converted_for_it():
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}

    _, sent = run({WHOLE: answer(200, SAID)}, body, asks_once=True, api=Api.GEMINI)

    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    assert sent == {WHOLE: {"contents": contents, "generationConfig": {"maxOutputTokens": 5}}}


def test_a_server_without_the_endpoint_is_said_to_have_none():
    with pytest.raises(BackendError) as caught:
        run({})

    assert "has no `/v1beta/models/{model}:generateContent`" in caught.value.message
    assert "--api chat" in caught.value.hint


def test_the_command_that_asks_again_has_the_address_of_the_model():
    trace, _ = run({WHOLE: answer(200, SAID)}, asks_once=True)

    assert f"{WHOLE} " in curl_of(trace).replace("'", " ")
