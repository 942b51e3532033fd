"""Runs by Responses and Messages: asked at their own endpoints, read and named in their own ways."""

import asyncio
import json
from dataclasses import replace

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.comparable import compare_outputs
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import (
    Api,
    Basis,
    CallOutcome,
    Certainty,
    ChatResult,
    Completion,
    Server,
    Trace,
    Usage,
)
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.pipeline.api_choice import asked_by
from prompt_debugger.core.report import read_bundle, trace_to_json, write_bundle
from prompt_debugger.core.request import read_request, to_api
from tests.core.complete.faulty_server import answer, faulty_server, raw

TOOL = {"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
MESSAGES = {
    "model": "m",
    "max_tokens": 9,
    "temperature": 0,
    "system": "Be brief",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}],
    "tools": [TOOL],
}
RESPONSES = {
    "model": "m",
    "input": "hi",
    "temperature": 0,
    "previous_response_id": "r",
    "tools": [{"type": "web_search"}],
}
SAID = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Well"},
        {"type": "tool_use", "id": "t", "name": "weather", "input": {"town": 3}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
OUTPUT = {
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Well"}]}],
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
}


def test_an_answer_that_is_streamed_unasked_is_read_as_a_stream():
    async def go():
        async with faulty_server({"/v1/messages": events(*STREAM), "*": answer(404)}) as server:
            target = Target(base_url=server.base_url, asks_once=True)
            return await pipeline.run(read_request(json.dumps(MESSAGES)), target)

    trace = asyncio.run(go())

    assert trace.chat.message["tool_calls"][0]["function"]["name"] == "weather"
    assert any("although no stream was asked for" in note for note in trace.notes)
    assert "PD310" not in {finding.code for finding in trace.findings}


def events(*values):
    lines = "".join(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n" for value in values)
    head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    return raw((head + lines).encode())


STREAM = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "weather"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"ci'}},
)


def run_at(behaviours, body, **target):
    async def go():
        async with faulty_server(behaviours) as server:
            aimed = Target(base_url=server.base_url, asks_once=True, **target)
            trace = await pipeline.run(read_request(json.dumps(body)), aimed)
            return trace, [one for one in server.received if one.method == "POST"]

    return asyncio.run(go())


def test_a_messages_body_goes_to_its_endpoint_as_it_is():
    trace, asked = run_at({"/v1/messages": answer(200, SAID), "/v1/models": answer(200, {"data": []})}, MESSAGES)

    assert [one.path for one in asked] == ["/v1/messages"]
    assert asked[0].json == {**MESSAGES, "model": "m"}
    assert (trace.api, trace.sent_native, trace.lost) == (Api.MESSAGES, MESSAGES, ())
    assert trace.chat.finish_reason == "tool_calls"
    assert trace.chat.message["tool_calls"][0]["function"] == {"name": "weather", "arguments": '{"town": 3}'}
    assert any("cache_control" in note for note in trace.notes)


def test_findings_name_the_places_of_the_api():
    strict = {**TOOL, "input_schema": {**TOOL["input_schema"], "required": ["city"]}}
    trace, _ = run_at({"/v1/messages": answer(200, SAID), "*": answer(404)}, {**MESSAGES, "tools": [strict]})

    places = {item.native_field for finding in trace.findings for item in finding.evidence if item.native_field}

    assert "content[1].input" in places
    assert trace_to_json(trace)["api"] == "messages"


def test_a_stream_that_breaks_off_is_kept_as_far_as_it_came():
    trace, asked = run_at({"/v1/messages": events(*STREAM), "*": answer(404)}, {**MESSAGES, "stream": True})

    assert asked[0].json["stream"] is True
    assert trace.chat.message["tool_calls"][0]["function"]["arguments"] == '{"ci'
    assert "without `message_stop`" in trace.chat.error


def test_what_does_not_show_of_responses_is_reported():
    trace, asked = run_at({"/v1/responses": answer(200, OUTPUT), "*": answer(404)}, RESPONSES)

    assert asked[0].json == RESPONSES
    assert trace.chat.message["content"] == "Well"
    assert [word for word in ("previous_response_id", "`web_search`") if any(word in note for note in trace.notes)] == [
        "previous_response_id",
        "`web_search`",
    ]


def test_a_server_without_the_endpoint_says_so_and_the_converted_run_is_named():
    with pytest.raises(BackendError, match="no `/v1/messages`: it answered HTTP 404") as caught:
        run_at({"/v1/chat/completions": answer(404), "*": answer(404)}, MESSAGES)

    assert "--api chat" in caught.value.hint
    assert "a different request" in caught.value.hint


@pytest.mark.parametrize("words", ["Provider other not found", "The API deployment for this resource does not exist"])
def test_a_gateway_that_does_not_know_a_provider_has_the_endpoint(words):
    refused = answer(404, {"error": {"message": words}})
    with pytest.raises(BackendError) as caught:
        run_at({"/v1/messages": refused, "*": refused}, MESSAGES)

    assert words in caught.value.message
    assert "has no `" not in caught.value.message


def test_a_gateway_that_names_an_unknown_provider_refuses_the_request():
    refused = answer(404, {"error": {"message": "Provider 'other' not found"}})

    trace, _ = run_at({"/v1/messages": refused, "*": refused}, MESSAGES)

    assert trace.refusal is not None
    assert "configuration has no provider with that name" in " ".join(found.detail for found in trace.findings)


def test_a_converted_run_says_what_it_lost():
    chat = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
    trace, asked = run_at({"/v1/chat/completions": answer(200, chat), "*": answer(404)}, MESSAGES, api=Api.CHAT)

    assert asked[-1].path == "/v1/chat/completions"
    assert [finding.code for finding in trace.findings if finding.code == "PD470"] == ["PD470"]
    assert trace.lost[0].field == "messages[0].content[0]"


def test_a_request_that_was_changed_since_it_was_pasted_is_converted_back():
    request = read_request(json.dumps(MESSAGES))
    changed = replace(request, body={**request.body, "max_tokens": 5})

    kept = pipeline.asked_by(request, None, "m")
    again = pipeline.asked_by(changed, None, "m")

    assert kept.native == MESSAGES
    assert again.native["max_tokens"] == 5
    assert again.native["messages"][0]["content"] == "hi"


CHAT_OF_VLLM = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
    "ignore_eos": True,
    "stop_token_ids": [20],
    "min_tokens": 3,
}


@pytest.mark.parametrize(
    ("kind", "version", "api", "lost"),
    [
        ("vllm", "0.32.0", Api.RESPONSES, ["min_tokens"]),
        ("vllm", "0.26.0", Api.RESPONSES, ["stop_token_ids", "min_tokens"]),
        ("vllm", "0.9.2", Api.RESPONSES, ["ignore_eos", "stop_token_ids", "min_tokens"]),
        ("vllm", None, Api.RESPONSES, ["ignore_eos", "stop_token_ids", "min_tokens"]),
        ("vllm", "0.32.0", Api.MESSAGES, ["ignore_eos", "stop_token_ids", "min_tokens"]),
        ("llama.cpp", "0.32.0", Api.RESPONSES, ["ignore_eos", "stop_token_ids", "min_tokens"]),
    ],
)
def test_what_a_server_takes_by_another_api_too_goes_there_and_the_rest_is_lost(kind, version, api, lost):
    server = Server("http://127.0.0.1:1/v1", kind=kind, version=version)

    asked = asked_by(read_request(json.dumps(CHAT_OF_VLLM)), api, "m", server)

    given = ("ignore_eos", "stop_token_ids", "min_tokens")
    assert [one.field for one in asked.lost] == lost
    assert [name for name in given if name not in asked.native] == lost
    assert [name for name in given if name not in asked.body] == lost


def test_a_run_opens_again_with_its_api_and_its_body():
    trace, _ = run_at({"/v1/messages": answer(200, SAID), "*": answer(404)}, MESSAGES)
    again = read_bundle(write_bundle(trace)).trace

    assert (again.api, again.sent_native) == (Api.MESSAGES, MESSAGES)
    assert (again.request.api, again.request.native) == (Api.MESSAGES, MESSAGES)


@pytest.mark.parametrize(
    ("counted", "certainty"), [((3, 3), Certainty.INFERRED), ((3, 4), None), ((None, 3), None), ((3, None), None)]
)
def test_a_second_run_counts_only_where_both_read_as_many_tokens(counted, certainty):
    raw_count, chat_count = counted
    raw_output = Completion("hi", None, "stop", evidence=Basis.OWN_RENDER, usage=Usage(raw_count))
    shown = ChatResult({"content": "hi"}, "stop", usage=Usage(chat_count))
    request = read_request(json.dumps(MESSAGES))
    trace = Trace(request, raw=raw_output, chat=shown, evidence=Basis.OWN_RENDER, api=Api.MESSAGES)

    assert compare_outputs(trace).certainty is certainty


def lab_run(labs, name, api, **fields):
    body = {**json.loads(find_example(name).request_text), **fields}
    request = read_request(json.dumps(body if api is Api.CHAT else to_api(body, api).body))
    return asyncio.run(pipeline.run(request, Target(), labs))


@pytest.mark.lab
@pytest.mark.parametrize("stream", [False, True])
def test_responses_on_vllm_reports_the_ids_of_its_own_run(labs, stream):
    trace = lab_run(labs, "parallel-calls", Api.RESPONSES, stream=stream)

    assert (trace.api, trace.evidence) == (Api.RESPONSES, Basis.SAME_RUN)
    assert trace.prompt.token_ids == trace.chat.prompt_token_ids
    assert {match.outcome for match in trace.parse.ledger.matches} == {CallOutcome.KEPT}


@pytest.mark.lab
def test_messages_on_vllm_is_judged_by_a_second_run_on_its_own_render(labs):
    trace = lab_run(labs, "parallel-calls", Api.MESSAGES)

    assert (trace.api, trace.evidence) == (Api.MESSAGES, Basis.OWN_RENDER)
    assert len(trace.prompt.token_ids) == trace.chat.usage.prompt_tokens
    assert {match.outcome for match in trace.parse.ledger.matches} == {CallOutcome.KEPT}


@pytest.mark.lab
def test_a_cut_call_is_an_error_of_messages_and_the_output_is_found_anyway(labs):
    trace = lab_run(labs, "truncated-call", Api.MESSAGES)

    assert trace.refusal.status == 400
    assert [call.status.value for call in trace.parse.parsed.calls] == ["truncated"]
    assert {"PD301", "PD445"} <= {finding.code for finding in trace.findings}
