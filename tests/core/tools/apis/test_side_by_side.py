"""One request by three APIs: every difference with its cause, and none where only the form differs."""

import asyncio
import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Api, ChatResult, Trace
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.report import trace_to_json
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.apis import COMPARED, compare_apis, run_by_all
from prompt_debugger.core.tools.experiments.documents import ANSWERS, apis_to_json
from scripts.json_schemas import schema_of_class
from tests.core.complete.faulty_server import answer, faulty_server

ARGUMENTS = '{"city":"Oslo"}'
CALL = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
BODY = {
    "model": "m",
    "temperature": 0,
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [
        {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    ],
}


def chat(**message):
    whole = {"role": "assistant", "content": "", "tool_calls": [CALL], **message}
    return answer(200, {"choices": [{"index": 0, "message": whole, "finish_reason": "tool_calls"}]})


def messages(*blocks, **fields):
    content = [{"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Oslo"}}, *blocks]
    said = {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    return answer(200, {**said, **fields})


def responses(*items, **fields):
    output = [{"type": "function_call", "call_id": "c", "name": "weather", "arguments": ARGUMENTS}, *items]
    return answer(200, {"object": "response", "status": "completed", "output": output, **fields})


def run_at(behaviours, body=BODY):
    async def go():
        async with faulty_server({**behaviours, "*": answer(404)}) as server:
            target = Target(base_url=server.base_url, asks_once=True)
            return await run_by_all(read_request(json.dumps(body)), target, None)

    return asyncio.run(go())


ALIKE = {"/v1/chat/completions": chat(), "/v1/responses": responses(), "/v1/messages": messages()}


def shown(done):
    return [(one.between[1], one.where, one.field, one.cause) for one in done.differences]


def test_only_the_form_differs_and_nothing_is_reported():
    done = run_at(ALIKE)

    assert [None if trace is None else trace.api for trace in done.runs.values()] == [*COMPARED]
    assert shown(done) == []


def test_an_answer_that_differs_without_an_output_is_not_explained():
    done = run_at({**ALIKE, "/v1/messages": messages({"type": "text", "text": "Well"})})

    assert shown(done) == [(Api.MESSAGES, "message", "content", None)]
    assert 'null with chat completions, "Well" with Messages' in done.differences[0].detail


@pytest.mark.parametrize(("sampling", "cause"), [({}, "sampling: "), ({"seed": 1}, None), ({"temperature": 0}, None)])
def test_a_stream_beside_an_answer_is_a_generation_of_its_own(sampling, cause):
    body = {"model": "m", "messages": BODY["messages"], **sampling}
    chats = ChatResult({"role": "assistant", "content": "Hi"}, "stop")
    left = Trace(read_request(json.dumps(body)), sent=body, chat=chats, chat_stream=chats)
    other = replace(chats, message={"role": "assistant", "content": "Ho"})
    right = replace(left, api=Api.RESPONSES, chat_stream=other)

    found = [*compare_apis(left, right)]

    assert [one.where for one in found] == ["stream"]
    assert found[0].cause is None if cause is None else found[0].cause.startswith(cause)


def refused(api, message):
    return answer(400, {"error": {"message": message, "type": "BadRequestError"}} | ({"type": "error"} if api else {}))


BUILT_IN = {"type": "web_search_20250305", "name": "web_search"}
ASKED = {
    "model": "m",
    "max_tokens": 9,
    "temperature": 0,
    "messages": BODY["messages"],
    "tools": [{"name": "weather", "input_schema": {"type": "object"}}, BUILT_IN],
}


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("{'loc': 'body.tools.1.input_schema', 'msg': 'Field required'}", "request conversion: To chat completions: "),
        ("tools[1]: web_search_20250305 is not supported", "request conversion: To chat completions: "),
        ("`tools` holds a web_search_20250305, which is not supported", "request conversion: To chat completions: "),
        ("{'loc': 'body.tools.0.input_schema', 'msg': 'Field required'}", "request checks: "),
        ("{'loc': 'body.tools.11.input_schema', 'msg': 'Field required'}", "request checks: "),
    ],
)
def test_a_refusal_of_what_was_left_out_of_the_other_request_is_explained_by_that(said, cause):
    done = run_at({**ALIKE, "/v1/messages": refused("messages", said)}, ASKED)

    assert [(one.where, one.cause.startswith(cause)) for one in done.differences if one.between[1] is Api.MESSAGES] == [
        ("status", True)
    ]


def test_an_api_that_the_server_does_not_have_is_one_difference():
    done = run_at({**ALIKE, "/v1/responses": answer(404)})

    assert shown(done) == [(Api.RESPONSES, "status", None, "endpoint: the server has none for Responses")]
    assert "no `/v1/responses`" in done.differences[0].detail


def test_a_model_that_the_server_does_not_have_is_no_missing_endpoint():
    unknown = answer(404, {"error": {"message": "The model `m` does not exist.", "code": 404}})
    done = run_at({**ALIKE, "/v1/responses": unknown})

    assert [cause for *_, cause in shown(done)] != ["endpoint: the server has none for Responses"]


def test_a_server_that_has_none_of_them_is_a_failure():
    with pytest.raises(BackendError):
        run_at({})


def test_the_document_is_that_of_the_contract():
    done = run_at({**ALIKE, "/v1/responses": answer(404)})
    document = apis_to_json(dict.fromkeys(done.runs), done.differences)

    assert list(document) == ["schema_version", "apis", "differences", "error"]
    assert document["apis"] == {"chat": None, "responses": None, "messages": None}
    assert document["differences"][0]["between"] == ["chat", "responses"]


def test_the_document_with_its_runs_keeps_to_its_schema():
    done = run_at({**ALIKE, "/v1/messages": messages({"type": "text", "text": "Well"})})
    document = apis_to_json({api: trace_to_json(trace) for api, trace in done.runs.items()}, done.differences)
    validator = Draft202012Validator(schema_of_class(ANSWERS["apis"]))

    assert document["differences"]
    assert [error.message for error in validator.iter_errors(json.loads(json.dumps(document)))] == []
    assert not validator.is_valid({})


def lab_runs(labs, name):
    request = read_request(find_example(name).request_text)
    return asyncio.run(run_by_all(request, Target(), labs))


@pytest.mark.lab
def test_an_empty_text_that_one_api_cannot_say_explains_prompt_output_and_answer(labs):
    done = lab_runs(labs, "polluted-content")
    prompt = next(one for one in done.differences if one.where == "prompt")

    assert (prompt.field, prompt.first_token) == ("messages[2].content", 115)
    assert prompt.cause.startswith("request conversion: ")
    assert all(one.cause is not None for one in done.differences)


@pytest.mark.lab
def test_a_cut_call_differs_on_the_way_out_alone(labs):
    done = lab_runs(labs, "truncated-call")

    assert [(api, where) for api, where, _, _ in shown(done)] == [(Api.RESPONSES, "message"), (Api.MESSAGES, "status")]
    assert all(one.cause.startswith("response: ") for one in done.differences)


@pytest.mark.lab
def test_two_calls_are_the_same_by_all_three(labs):
    done = lab_runs(labs, "parallel-calls")

    assert shown(done) == []
    assert [*compare_apis(done.runs[Api.RESPONSES], done.runs[Api.MESSAGES])] == []
