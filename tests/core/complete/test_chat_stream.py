"""Answers of chat completions, whole and streamed: what came is kept, whatever shape it has."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, StreamDelta, TokenLogprob, Usage
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.chat_stream import ChatStreamReader
from prompt_debugger.core.complete.problem import Problem
from prompt_debugger.core.complete.raw_completion import CompletionReader
from tests.core.complete.faulty_server import Behaviour, answer, chunk, faulty_server, in_turn, reset, stream
from tests.core.complete.test_assemble import JSON_VALUES

BODY: JSONObject = {"model": "m", "messages": []}
MESSAGE: JSONObject = {"role": "assistant", "content": "hi"}
FIELDS = st.sampled_from(["choices", "message", "delta", "index", "token_ids", "logprobs", "content", "error", "usage"])
ODD_ANSWERS: st.SearchStrategy[JSON] = st.recursive(
    JSON_VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


def read_stream(*data: str, failure: str | None = None) -> ChatResult:
    reader = ChatStreamReader()
    for at, item in enumerate(data):
        reader.feed(SseEvent(item), float(at))
    return reader.finish("\n".join(data), 9.0, None if failure is None else Problem(failure))


def event(**fields: JSON) -> str:
    return json.dumps({"choices": [{"index": 0, **fields}]})


def test_a_whole_answer_is_read_with_all_that_it_tells() -> None:
    top: JSON = [{"token": "b", "logprob": -2.0}, {"token": "a", "logprob": -0.5}]
    result = read_chat(
        {
            "prompt_token_ids": [1, 2],
            "prompt_text": "p",
            "usage": {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3},
            "choices": [
                {
                    "index": 0,
                    "message": MESSAGE,
                    "finish_reason": "stop",
                    "stop_reason": 7,
                    "token_ids": [5],
                    "logprobs": {"content": [{"token": "token_id:5", "logprob": -0.5, "top_logprobs": top}]},
                }
            ],
        },
        "body",
        1.5,
    )

    assert result == ChatResult(
        message=MESSAGE,
        finish_reason="stop",
        stop_reason=7,
        token_ids=(5,),
        prompt_token_ids=(1, 2),
        prompt_text="p",
        usage=Usage(2, 1, 3),
        logprobs=(TokenLogprob("", 5, -0.5, (("a", -0.5), ("b", -2.0))),),
        body="body",
        elapsed_s=1.5,
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (None, "the answer is not an object but null"),
        ([], "the answer is not an object but a list"),
        ("hi", "the answer is not an object but a text"),
        (1.5, "the answer is not an object but a number"),
        ({}, "the answer contains no `choices`"),
        ({"choices": None}, "no list of choices, only null"),
        ({"choices": []}, "the answer contains no choice"),
        ({"choices": [None]}, "the first choice is None"),
        ({"choices": [{}]}, "no message, only None"),
        ({"choices": [{"message": "hi"}]}, "no message, only 'hi'"),
        ({"error": {"message": "overloaded"}}, "the server reported an error: overloaded"),
        ({"error": "overloaded"}, "the server reported an error: overloaded"),
    ],
)
def test_an_odd_answer_says_what_it_lacks(given: JSON, problem: str) -> None:
    result = read_chat(given, "", 0.0)

    assert result.error is not None
    assert problem in result.error
    assert result.message == {}


def test_content_as_a_list_of_parts_is_kept_as_it_came() -> None:
    message: JSONObject = {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}

    result = read_chat({"choices": [{"message": message}]}, "", 0.0)

    assert (result.message, result.error) == (message, None)


def test_of_several_choices_the_one_with_index_0_counts() -> None:
    other: JSONObject = {"role": "assistant", "content": "other"}

    result = read_chat({"choices": [{"index": 1, "message": other}, {"index": 0, "message": MESSAGE}]}, "", 0.0)

    assert result.message == MESSAGE


@pytest.mark.parametrize("ids", ["12", [1, "2"], [True], [1.5], [-1], {"0": 1}])
def test_what_are_not_token_ids_are_none(ids: JSON) -> None:
    assert read_chat({"choices": [{"message": MESSAGE, "token_ids": ids}]}, "", 0.0).token_ids is None


@given(ODD_ANSWERS)
def test_no_answer_is_too_odd(given_answer: JSON) -> None:
    read_chat(given_answer, "", 0.0)
    reader = ChatStreamReader()
    reader.feed(SseEvent(json.dumps(given_answer)), 0.0)
    reader.finish("", 0.0)
    with suppress(BackendError):  # an error that the server reports
        CompletionReader().take(given_answer)


def test_a_stream_is_put_together_with_ids_and_times() -> None:
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    result = read_stream(
        json.dumps(
            {"prompt_token_ids": [1, 2], "prompt_text": "p", "choices": [{"index": 0, "delta": {"content": ""}}]}
        ),
        event(delta={"content": "a"}, token_ids=[7]),
        event(delta={}, token_ids=[8, 9], finish_reason="length", stop_reason="x"),
        json.dumps({"choices": [], "usage": usage}),
        "[DONE]",
    )

    assert (result.message, result.error) == ({"content": "a"}, None)
    assert (result.token_ids, result.prompt_token_ids, result.prompt_text) == ((7, 8, 9), (1, 2), "p")
    assert (result.finish_reason, result.stop_reason, result.usage) == ("length", "x", Usage(2, 3, 5))
    assert [(delta.token_ids, delta.at_s) for delta in result.deltas] == [(None, 0.0), ((7,), 1.0), ((8, 9), 2.0)]


def test_logprobs_of_a_stream_are_one_per_token() -> None:
    result = read_stream(
        event(delta={}, logprobs={"content": [{"token": "a", "logprob": -1}, {"token": "b", "logprob": -2}]}),
        event(delta={}, logprobs=None),
        event(
            delta={}, logprobs={"content": [{"token": "c", "logprob": -3, "top_logprobs": []}]}, finish_reason="stop"
        ),
    )

    assert result.logprobs == (TokenLogprob("a", None, -1), TokenLogprob("b", None, -2), TokenLogprob("c", None, -3))


@pytest.mark.parametrize("content", [[{"token": "a"}], [None], "x", [{"token": "a", "logprob": True}]])
def test_logprobs_with_a_gap_are_none(content: JSON) -> None:
    assert read_stream(event(delta={}, logprobs={"content": content})).logprobs is None


@pytest.mark.parametrize("tokens", [["a"], ["a", 1], "ab", None])
def test_logprobs_of_a_raw_completion_that_do_not_fit_are_none(tokens: JSON) -> None:
    reader = CompletionReader()
    reader.take({"choices": [{"text": "ab", "logprobs": {"tokens": tokens, "token_logprobs": [-1, -2]}}]})
    reader.is_done = True

    assert reader.finish("", 0.0, None).logprobs is None


def test_an_error_in_place_of_a_stream_is_the_error() -> None:
    body = '{"error": {"message": "overloaded"}}'

    result = ChatStreamReader().finish(body, 0.0)

    assert (result.error, result.body) == ("the server reported an error: overloaded", body)


def test_other_choices_of_a_stream_are_left_out() -> None:
    result = read_stream(
        json.dumps({"choices": [{"index": 1, "delta": {"content": "b"}, "token_ids": [2]}]}),
        event(delta={"content": "a"}, token_ids=[1], finish_reason="stop"),
    )

    assert (result.message, result.token_ids, len(result.deltas)) == ({"content": "a"}, (1,), 1)


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        (["nothing", "[DONE]"], "event 1 of the stream is not JSON: 'nothing'"),
        (['["a"]', "[DONE]"], "event 1 of the stream is not an object: ['a']"),
        (['{"error": {"message": "died", "code": 500}}', "[DONE]"], "the server reported an error: died"),
        ([event(delta={"content": "a"})], "the stream ended without a finish reason and without `[DONE]`"),
        ([], "the stream ended without any event; it contained ''"),
    ],
)
def test_a_fault_of_a_stream_is_reported(events: list[str], problem: str) -> None:
    assert read_stream(*events).error == problem


def test_the_first_fault_counts_and_what_follows_is_still_taken() -> None:
    result = read_stream("broken", event(delta={"content": "a"}, finish_reason="stop"), failure="cut")

    assert result.error == "event 1 of the stream is not JSON: 'broken'"
    assert (result.message, result.finish_reason) == ({"content": "a"}, "stop")


def test_a_stream_that_lacks_only_its_end_mark_is_whole() -> None:
    assert read_stream(event(delta={"content": "a"}, finish_reason="stop")).error is None


BROKEN_STREAMS: dict[str, tuple[Behaviour, str]] = {
    "half-closed": (stream(chunk(delta=MESSAGE), is_closed_properly=False), "the answer broke off"),
    "reset": (
        reset(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + chunk(delta=MESSAGE)),
        "the answer broke off",
    ),
    "cut in an event": (stream(chunk(delta=MESSAGE), b'data: {"choices": [{"del'), "the end of the stream cut off"),
    "error event": (
        stream(chunk(delta=MESSAGE), b'data: {"error": {"message": "EngineCore died"}}\n\ndata: [DONE]\n\n'),
        "EngineCore died",
    ),
    "invalid UTF-8": (
        stream(chunk(delta=MESSAGE), b'data: {"x": "\xff"}\n\ndata: [DONE]\n\n'),
        "event 2 of the stream is not UTF-8",
    ),
    "no stream at all": (
        answer(200, {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}),
        "the server does not stream",
    ),
}


@pytest.mark.parametrize("name", BROKEN_STREAMS)
async def test_what_a_broken_stream_brought_is_kept(name: str) -> None:
    behaviour, problem = BROKEN_STREAMS[name]
    seen: list[StreamDelta] = []

    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        result = await client.chat_stream(BODY, seen.append)

    assert result.message == MESSAGE
    assert result.error is not None
    assert problem in result.error
    assert tuple(seen) == result.deltas
    assert '"hi"' in result.body


async def test_an_answer_that_is_not_utf8_is_read_and_said() -> None:
    data = b'{"choices": [{"index": 0, "message": {"content": "a\xff"}}]}'
    async with faulty_server(answer(200, data)) as server, ServerClient(server.base_url) as client:
        result = await client.chat(BODY)

    assert result.message == {"content": "a\ufffd"}
    assert result.error is not None
    assert "not UTF-8" in result.error


async def test_a_server_that_refuses_our_fields_is_asked_without_them() -> None:
    """OpenAI's own server answers 400 to a field it does not know."""
    unknown: JSON = {"error": {"message": "Unrecognized request argument supplied: return_token_ids"}}
    good: JSON = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}
    behaviour = in_turn(answer(400, unknown), answer(200, good))
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        first, second = await client.chat(BODY), await client.chat(BODY)

    assert (first.message, second.message) == (MESSAGE, MESSAGE)
    bodies = [request.json for request in server.received]
    without = {**BODY, "logprobs": True}
    assert bodies == [{**without, "return_token_ids": True, "return_prompt_text": True}, without, without]
    assert client.body_as_sent(BODY) == without
    assert list(client.refused_fields) == ["return_token_ids", "return_prompt_text"]


async def test_a_server_that_refuses_one_field_after_the_other_is_asked_without_all() -> None:
    extra: JSON = {"detail": [{"type": "extra_forbidden", "loc": ["body", "return_token_ids"], "msg": "Extra inputs"}]}
    reasoning: JSON = {"error": {"message": "logprobs are not supported with this model", "param": "logprobs"}}
    good: JSON = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}
    behaviour = in_turn(answer(422, extra), answer(400, reasoning), answer(200, good))
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        result = await client.chat(BODY)

    assert result.message == MESSAGE
    assert server.received[-1].json == BODY
    assert set(client.refused_fields) == {"return_token_ids", "return_prompt_text", "logprobs"}


async def test_log_probabilities_that_the_request_asks_for_are_its_own() -> None:
    refusal: JSON = {"error": {"message": "logprobs is not supported with tools + stream"}}
    wanted: JSONObject = {**BODY, "logprobs": True}
    async with faulty_server(answer(400, refusal)) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError, match="logprobs is not supported"):
            await client.chat(wanted)

    assert server.received[-1].json == wanted


async def test_a_stream_leaves_our_fields_out_once_they_were_refused() -> None:
    behaviour = in_turn(answer(400), stream(chunk(delta=MESSAGE, finish_reason="stop")))
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        first, second = await client.chat_stream(BODY), await client.chat_stream(BODY)

    assert (first.message, second.message) == (MESSAGE, MESSAGE)
    assert [request.json for request in server.received][1:] == [{**BODY, "stream": True}] * 2


async def test_what_vllm_refuses_on_a_stream_is_asked_of_the_whole_answer_alone() -> None:
    wanted: JSONObject = {**BODY, "prompt_logprobs": 2}
    good: JSON = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}
    behaviour = in_turn(answer(200, good), stream(chunk(delta=MESSAGE, finish_reason="stop")))
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        await client.chat(wanted)
        await client.chat_stream(wanted)

    whole, streamed = (as_object(request.json) for request in server.received)
    assert whole["prompt_logprobs"] == 2
    assert "prompt_logprobs" not in streamed


async def test_a_request_that_is_refused_for_its_own_sake_stays_refused() -> None:
    async with faulty_server(answer(400, {"error": {"message": "too long"}})) as server:
        async with ServerClient(server.base_url) as client:
            with pytest.raises(BackendError, match="too long"):
                await client.chat(BODY)

        assert client.body_as_sent(BODY) != BODY
        assert len(server.received) == 2


def test_prompt_logprobs_are_candidates_by_token_id() -> None:
    given: JSON = [
        None,
        {"7": {"logprob": -2.5, "rank": 2, "decoded_token": "x"}, "9": {"logprob": -0.25, "rank": 1}},
        {"9" * 5_000: {"logprob": -1}, "²": {"logprob": -1}, "8": {"logprob": "no"}, "3": None},
    ]

    result = read_chat({"choices": [{"message": {}}], "prompt_logprobs": given}, "", 0.0)

    likeliest_first = (TokenLogprob("", 9, -0.25), TokenLogprob("x", 7, -2.5))
    assert result.prompt_logprobs == ((), likeliest_first, ())


@pytest.mark.parametrize("given", [None, [], {}, "x"])
def test_prompt_logprobs_of_another_shape_are_none(given: JSON) -> None:
    assert read_chat({"choices": [{"message": {}}], "prompt_logprobs": given}, "", 0.0).prompt_logprobs is None


def test_a_token_id_of_absurd_length_is_text() -> None:
    text = "token_id:" + "9" * 5_000

    result = read_stream(event(delta={}, logprobs={"content": [{"token": text, "logprob": -1}]}))

    assert result.logprobs == (TokenLogprob(text, None, -1),)
