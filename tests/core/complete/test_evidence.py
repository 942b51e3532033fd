"""The ladder of evidence on servers that report less than vLLM."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import (
    JSON,
    Api,
    Basis,
    Completeness,
    JSONObject,
    Prompt,
    Refusal,
    Server,
    Span,
    Token,
    TokenKind,
)
from prompt_debugger.core.complete import Gathered, ServerClient, gather
from tests.core.complete.faulty_server import (
    Behaviour,
    FaultyServer,
    answer,
    chunk,
    faulty_server,
    hang,
    in_turn,
    reset,
    stream,
)

SERVER = Server("http://127.0.0.1:1/v1", model="m")

CHAT: JSONObject = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]
}
CHAT_STREAM = stream(chunk(delta={"role": "assistant", "content": "hi"}, finish_reason="stop"), b"data: [DONE]\n\n")
RAW = answer(200, {"choices": [{"index": 0, "text": "hi", "finish_reason": "stop", "token_ids": [7]}]})
RAW_TEXT = answer(200, {"choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}]})
LOCAL_TOKENS = (
    Token(5, "<s>", Span(0, 3), TokenKind.SPECIAL, b"<s>"),
    Token(6, "q", Span(3, 4), TokenKind.TEXT, b"q"),
)
LOCAL = Prompt("local", "<s>q", (), LOCAL_TOKENS)


BEHAVIOURS: dict[str, Behaviour] = {
    "/v1/chat/completions": answer(200, CHAT),
    "/v1/chat/completions#stream": CHAT_STREAM,
    "/v1/completions": RAW,
}


async def run_faulty(changes: dict[str, Behaviour], *, local: Prompt | None = LOCAL) -> tuple[Gathered, FaultyServer]:
    async with faulty_server({**BEHAVIOURS, **changes}) as server, ServerClient(server.base_url) as client:
        return await gather(
            client, SERVER, {"model": "m", "messages": [], "temperature": 0}, local_prompt=local
        ), server


def prompts(server: FaultyServer) -> list[JSON]:
    bodies = [request.json for request in server.received if request.path == "/v1/completions"]
    return [body.get("prompt") for body in bodies if isinstance(body, dict)]


async def test_without_any_ids_our_own_render_is_sampled() -> None:
    found, server = await run_faulty({})

    assert found.raw is not None
    assert (found.evidence, found.raw.token_ids, found.raw.text) == (Basis.OWN_RENDER, (7,), "hi")
    assert found.prompt_token_ids is None  # ours are not the server's
    assert prompts(server) == [[5, 6]]
    assert found.why == (
        "The server does not report the ids of the chat's run, so the raw output is a second "
        "sampling on our own render."
    )


async def test_a_server_that_tells_text_only_is_believed_that_much() -> None:
    found, _ = await run_faulty({"/v1/completions": RAW_TEXT})

    assert found.raw is not None
    assert (found.evidence, found.raw.token_ids, found.raw.text) == (Basis.TEXT_ONLY, None, "hi")
    assert found.raw.completeness is Completeness.UNKNOWN
    assert found.raw.completeness_reason in found.notes


async def test_a_server_that_takes_no_ids_gets_the_text() -> None:
    no_ids = answer(400, {"error": {"message": "prompt must be a string"}})
    found, server = await run_faulty({"/v1/completions": in_turn(no_ids, no_ids, RAW)})

    assert found.evidence is Basis.TEXT_ONLY
    assert "the text of our own render" in found.why
    assert prompts(server) == [[5, 6], [5, 6], "<s>q"]


async def test_a_server_without_raw_completion_leaves_the_chat() -> None:
    found, _ = await run_faulty({"/v1/completions": answer(404, {"error": {"message": "no such endpoint"}})})

    assert (found.evidence, found.raw) == (None, None)
    assert found.chat is not None
    assert found.chat.message["content"] == "hi"
    assert "no such endpoint" in found.notes[0]


async def test_without_a_prompt_the_note_says_what_to_name() -> None:
    found, server = await run_faulty({}, local=None)

    assert (found.evidence, found.raw, prompts(server)) == (None, None, [])
    assert "is available: give a tokenizer" in found.notes[0]


@pytest.mark.parametrize("fault", ["500", "reset"])
async def test_one_generation_that_fails_leaves_the_others(fault: str) -> None:
    behaviour = answer(500, {"error": {"message": "JSONDecodeError"}}) if fault == "500" else reset()

    no_chat, _ = await run_faulty({"/v1/chat/completions": behaviour})
    no_stream, _ = await run_faulty({"/v1/chat/completions#stream": behaviour})

    for failed, kept in ((no_chat.chat, no_chat.chat_stream), (no_stream.chat_stream, no_stream.chat)):
        assert failed is not None
        assert kept is not None
        assert failed.error is not None
        assert (failed.message, kept.message["content"], kept.error) == ({}, "hi", None)
    assert "got no answer" in no_chat.why
    assert any("streamed chat answer has a fault" in note for note in no_stream.notes)


FAILURE = answer(500, {"error": {"message": "EngineCore died"}})


async def test_a_server_that_fails_at_everything_says_why() -> None:
    found, _ = await run_faulty({"*": FAILURE} | dict.fromkeys(BEHAVIOURS, FAILURE))

    assert found.refusal == Refusal(500, "EngineCore died")
    assert (found.chat, found.raw) == (None, None)


@pytest.mark.parametrize("body", [b"", b"Internal Server Error", b"<html><title>Oops</title></html>"])
async def test_a_server_that_fails_without_words_is_a_failure(body: bytes) -> None:
    mute = answer(500, body, "text/plain")

    with pytest.raises(BackendError, match="answered 500"):
        await run_faulty({"*": mute} | dict.fromkeys(BEHAVIOURS, mute))


async def test_what_an_error_quotes_of_the_output_is_the_raw_output() -> None:
    said = "error parsing tool call: raw='{}]', err=invalid character ']' after top-level value"
    failure = answer(500, {"error": said})

    found, _ = await run_faulty({"*": failure} | dict.fromkeys(BEHAVIOURS, failure))

    assert found.refusal == Refusal(500, said)
    assert found.raw is not None
    assert (found.raw.text, found.evidence) == ("{}]", Basis.SAME_RUN)


async def test_raw_output_survives_a_server_that_fails_at_every_chat() -> None:
    found, _ = await run_faulty({"/v1/chat/completions": FAILURE, "/v1/chat/completions#stream": FAILURE})

    assert found.refusal == Refusal(500, "EngineCore died")
    assert found.raw is not None
    assert (found.evidence, found.raw.text, found.chat) == (Basis.OWN_RENDER, "hi", None)


async def test_a_server_that_wants_to_stream_is_judged_by_its_stream() -> None:
    only_streams = answer(400, {"error": {"message": "only stream=true is supported"}})

    found, _ = await run_faulty({"/v1/chat/completions": only_streams})

    assert found.chat is not None
    assert (found.chat.message["content"], found.chat.error, found.refusal) == ("hi", None, None)
    assert any("only when streaming (only stream=true is supported)" in note for note in found.notes)


@pytest.mark.parametrize("words", ["prompt has 9000 tokens, the limit is 8000", "unknown field `parallel_tool_calls`"])
async def test_a_server_that_refuses_without_a_word_of_streams_refused_the_request(words: str) -> None:
    """Of two replicas one may take what the other does not: an answer to our stream says nothing about streams."""
    declines = answer(400, {"error": {"message": words}})

    found, _ = await run_faulty({"/v1/chat/completions": declines})

    assert (found.refusal, found.chat) == (Refusal(400, words), None)
    assert "The same request was answered when it was streamed." in found.notes


@pytest.mark.parametrize("status", [429, 503])
async def test_a_request_that_was_one_too_many_is_sent_again_alone(status: int) -> None:
    too_many = answer(status, {"error": {"message": "Too many requests at once"}})

    found, _ = await run_faulty({"/v1/chat/completions": in_turn(too_many, BEHAVIOURS["/v1/chat/completions"])})

    assert found.chat is not None
    assert (found.chat.message["content"], found.chat.error) == ("hi", None)


@pytest.mark.parametrize("status", [302, 401, 403, 429])
async def test_a_stream_of_ours_is_no_answer_to_a_request_that_was_turned_away(status: int) -> None:
    """A server that takes one request at a time turns the other away: that is not about streams."""
    turned_away = answer(status, {"error": {"message": "Too many requests at once"}}, location="/other")

    found, _ = await run_faulty({"/v1/chat/completions": turned_away})

    assert found.chat is not None
    assert (found.chat.message, found.chat.error is not None, found.chat.error_hint != "") == ({}, True, True)
    assert not any("only when streaming" in note for note in found.notes)


@pytest.mark.parametrize(
    ("status", "body", "refusal"),
    [
        (422, {"detail": [{"loc": ["body", "tools", 0, "type"], "msg": "Input should be 'function'"}]},
         Refusal(422, "`tools[0].type`: Input should be 'function'", "tools[0].type")),
        (422, {"error": "Input validation error: `temperature` must be strictly positive", "error_type": "validation"},
         Refusal(422, "Input validation error: `temperature` must be strictly positive")),
        (500, {"error": {"code": 500, "message": "JSON schema error: unrecognized type", "type": "server_error"}},
         Refusal(500, "JSON schema error: unrecognized type", None, "server_error")),
        (404, {"error": {"message": "The model `x` does not exist.", "param": "model"}},
         Refusal(404, "The model `x` does not exist.", "model")),
    ],
)  # fmt: skip
async def test_a_bad_status_with_words_is_a_refusal(status: int, body: JSON, refusal: Refusal) -> None:
    refused = answer(status, body)

    found, _ = await run_faulty({"*": refused} | dict.fromkeys(BEHAVIOURS, refused))

    assert found.refusal == refusal
    assert found.sent["messages"] == []


async def test_what_could_not_be_probed_is_said_of_a_refusal_too() -> None:
    refused = answer(422, {"detail": [{"loc": ["body", "tools"], "msg": "no list"}]})
    async with faulty_server({"*": refused}) as server, ServerClient(server.base_url) as client:
        client.notes = ("The server hides its version.",)
        found = await gather(client, SERVER, {"model": "m", "messages": []})

    assert found.refusal is not None
    assert found.notes == ("The server hides its version.",)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 503])
async def test_a_bad_status_that_is_not_about_the_request_is_a_failure(status: int) -> None:
    refused = answer(status, {"error": {"message": "not now"}})

    with pytest.raises(BackendError, match="not now"):
        await run_faulty({"*": refused} | dict.fromkeys(BEHAVIOURS, refused))


async def test_a_server_that_declines_is_not_waited_for() -> None:
    wrong_key = answer(401, {"error": {"message": "wrong key"}})

    with pytest.raises(BackendError, match="wrong key"):
        await run_faulty({"*": hang()} | dict.fromkeys(BEHAVIOURS, wrong_key) | {"/v1/completions": hang()})


async def test_a_refusal_inside_a_stream_is_a_refusal_too() -> None:
    error: JSON = {"error": {"message": "out of vocabulary", "param": "stop_token_ids", "code": 400}}
    in_stream = stream(b"data: " + json.dumps(error).encode() + b"\n\ndata: [DONE]\n\n")

    found, _ = await run_faulty({"/v1/chat/completions": answer(400, error), "/v1/chat/completions#stream": in_stream})

    assert found.refusal is not None
    assert (found.refusal.message, found.refusal.field) == ("out of vocabulary", "stop_token_ids")


async def test_ids_that_the_server_counts_differently_are_not_taken_for_all() -> None:
    choice: JSON = {"index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [7]}
    partial: JSON = {"choices": [choice], "usage": {"completion_tokens": 3}, "prompt_token_ids": [1]}

    found, server = await run_faulty({"/v1/chat/completions": answer(200, partial)})

    assert found.evidence is Basis.OWN_RENDER
    assert "did not report 2 ids of the chat's run" in found.why
    assert (found.prompt_token_ids, prompts(server)) == ((1,), [[1]])


async def test_a_server_that_takes_no_ids_gets_the_text_of_the_chats_own() -> None:
    """LiteLLM's proxy answers 429 to a prompt of ids."""
    choice: JSON = {"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}
    shown: JSON = {"choices": [choice], "prompt_token_ids": [1]}
    no_ids = answer(429, {"error": {"message": "Unmapped prompt format"}})
    behaviours = BEHAVIOURS | {
        "/v1/chat/completions": answer(200, shown),
        "/v1/completions": in_turn(no_ids, RAW_TEXT),
        "/detokenize": answer(200, {"prompt": "one"}),
    }
    features = replace(SERVER, features=frozenset({"detokenize"}))
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await gather(client, features, {"model": "m", "messages": [], "temperature": 0})

    assert found.raw is not None
    assert (found.evidence, found.raw.text, found.prompt_token_ids) == (Basis.TEXT_ONLY, "hi", (1,))
    assert prompts(server) == [[1], "one"]
    assert "the text of the chat's own prompt ids" in found.why


async def test_ids_that_their_own_text_does_not_have_are_asked_for_alone() -> None:
    """A model may write a word in other tokens than its tokenizer would."""
    behaviours = {
        "/tokenize": answer(200, {"tokens": [7, 9], "token_strs": ["Ġh", "Ġx"]}),
        "/detokenize": answer(200, {"prompt": "i"}),
    }
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        client.server = replace(SERVER, kind="vllm")
        shown = await client.reported_tokens((7, 8, 7), " hi h")

    assert shown == ("Ġh", b"i", "Ġh")
    assert [request.json for request in server.received][-1] == {"tokens": [8], "model": "m"}


async def test_without_a_tokenizer_the_server_says_what_each_id_stands_for() -> None:
    choice: JSON = {"index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [7]}
    behaviours = BEHAVIOURS | {
        "/v1/chat/completions": answer(200, {"choices": [choice], "prompt_token_ids": [9]}),
        "/tokenize": answer(200, {"tokens": [7, 9], "token_strs": ["Ġh", "Ġx"]}),
        "/detokenize": answer(200, {"prompt": "hi"}),
    }
    known = replace(SERVER, kind="vllm", features=frozenset({"detokenize"}))
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        client.server = known
        found = await gather(client, known, {"model": "m", "messages": [], "temperature": 0})

    assert (found.raw_pieces, found.prompt_pieces) == (("Ġh",), ("Ġx",))


@pytest.mark.parametrize("tokenized", [answer(404), answer(200, {"tokens": [1]}), answer(200, {"tokens": "x"})])
async def test_a_server_that_tells_no_tokens_tells_none(tokenized: Behaviour) -> None:
    async with faulty_server({"/tokenize": tokenized}) as server, ServerClient(server.base_url) as client:
        for kind in ("vllm", "openai-compatible"):
            client.server = replace(SERVER, kind=kind)
            assert await client.reported_tokens((1,), "a") is None


async def test_ids_next_to_log_probabilities_need_no_decoding() -> None:
    """So LiteLLM's proxy tells a run of vLLM token by token; raw completion it runs on the text that was told."""
    entries: list[JSON] = [{"token": "h", "logprob": -0.1}, {"token": "i", "logprob": -0.1}]
    proxied: JSON = {"token_ids": [7, 8]}
    choice: JSON = {
        "index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "logprobs": {"content": entries},
        "provider_specific_fields": proxied,
    }  # fmt: skip
    shown: JSON = {
        "choices": [choice],
        "usage": {"completion_tokens": 2, "prompt_tokens": 1},
        "prompt_token_ids": [1],
        "prompt_text": "one",
    }
    no_ids = answer(429, {"error": {"message": "Unmapped prompt format" + "!" * 500}})
    behaviours = BEHAVIOURS | {"/v1/chat/completions": answer(200, shown)}
    async with (
        faulty_server(behaviours | {"/v1/completions": in_turn(no_ids, RAW_TEXT)}) as server,
        ServerClient(server.base_url) as client,
    ):
        found = await gather(client, SERVER, {"model": "m", "temperature": 0})
    refusing = behaviours | {"/v1/completions": no_ids}
    async with faulty_server(refusing) as server_of_chats, ServerClient(server_of_chats.base_url) as client:
        alone = await gather(client, SERVER, {"model": "m", "temperature": 0})

    assert found.raw is not None
    assert (found.raw.text, found.raw.token_ids, found.raw_pieces) == ("hi", (7, 8), (b"h", b"i"))
    assert prompts(server) == [[1], "one"]
    assert any("Unmapped prompt format" in note and len(note) < 400 for note in alone.notes)


async def test_ollama_is_not_asked_for_a_raw_completion() -> None:
    async with faulty_server(BEHAVIOURS) as server, ServerClient(server.base_url) as client:
        found = await gather(client, replace(SERVER, kind="ollama"), {"model": "m"}, local_prompt=LOCAL)

    assert (found.evidence, found.raw, prompts(server)) == (None, None, [])
    assert "chat template once more" in found.why


async def test_a_stream_that_only_we_wanted_is_refused_without_guilt() -> None:
    refused = answer(400, {"error": {"message": "streaming is off"}})
    ours, _ = await run_faulty({"/v1/chat/completions#stream": refused})
    async with (
        faulty_server(BEHAVIOURS | {"/v1/chat/completions#stream": refused}) as server,
        ServerClient(server.base_url) as client,
    ):
        theirs = await gather(client, SERVER, {"model": "m", "stream": True}, local_prompt=LOCAL)

    assert ours.chat_stream is None
    assert any("streaming is off" in note and "rejected our additional" in note for note in ours.notes)
    assert (theirs.chat, theirs.chat_stream) == (None, None)
    assert theirs.refusal == Refusal(400, "streaming is off")


async def test_the_run_itself_without_its_markers_gives_way_to_a_second_run_that_has_them() -> None:
    entries: list[JSON] = [
        {"token": "", "bytes": [], "logprob": -0.1},
        {"token": "hi", "bytes": [104, 105], "logprob": -0.1},
    ]
    choice: JSON = {
        "index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "logprobs": {"content": entries},
    }  # fmt: skip
    shown: JSON = {"choices": [choice], "usage": {"completion_tokens": 2, "prompt_tokens": 2}}
    async with (
        faulty_server(BEHAVIOURS | {"/v1/chat/completions": answer(200, shown)}) as server,
        ServerClient(server.base_url) as client,
    ):
        unknown = await gather(client, SERVER, {"model": "m", "temperature": 0}, local_prompt=LOCAL)
        vllm = await gather(client, replace(SERVER, kind="vllm"), {"model": "m", "temperature": 0}, local_prompt=LOCAL)

    assert unknown.raw is not None
    assert (unknown.evidence, unknown.raw.completeness) == (Basis.SAME_RUN, Completeness.STRIPPED)
    assert "log-probabilities" in unknown.why
    assert vllm.raw is not None
    assert (vllm.evidence, vllm.raw.completeness) == (Basis.OWN_RENDER, Completeness.WHOLE)


async def test_cancelling_ends_every_generation() -> None:
    prompt: JSON = {"choices": [], "prompt_token_ids": [1]}
    open_stream = hang(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: " + json.dumps(prompt).encode() + b"\n\n"
    )
    behaviours = {"*": hang(), "/v1/chat/completions#stream": open_stream}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        vllm = replace(SERVER, kind="vllm")  # which is asked for everything at once
        task = asyncio.create_task(gather(client, vllm, {"model": "m", "messages": []}))
        while len(server.received) < 3:
            await asyncio.sleep(0)

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        while server.left_count < 3:
            await asyncio.sleep(0)
    assert [request.path for request in server.received][-1] == "/v1/completions"


async def test_what_vllm_counts_shows_its_reasoning_parser() -> None:
    usage: JSON = {"completion_tokens_details": {"reasoning_tokens": 0}}
    whole = answer(200, {**CHAT, "usage": usage})
    async with (
        faulty_server({**BEHAVIOURS, "/v1/chat/completions": whole}) as server,
        ServerClient(server.base_url) as client,
    ):
        found = await gather(client, replace(SERVER, kind="vllm"), {"model": "m", "messages": []}, local_prompt=LOCAL)

    assert found.server is not None
    assert (found.server.kind, found.server.has_reasoning_parser) == ("vllm", True)


UNREAD = (
    "1 validation error for list[function-wrap[__log_extra_fields__()]] Invalid JSON: expected value at "
    "line 1 column 1 [type=json_invalid, input_value='<tool_call>', input_type=str]"
)
MESSAGES_STREAM: tuple[JSONObject, ...] = (
    {"type": "message_start", "message": {"id": "a", "role": "assistant", "content": [], "usage": {"input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "<tool_call>"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)


@pytest.mark.parametrize(("words", "is_about_output"), [(UNREAD, True), ("max_tokens is too large", False)])
async def test_a_refused_answer_stays_refused_where_our_stream_of_it_was_answered(
    words: str, is_about_output: bool
) -> None:
    events = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in MESSAGES_STREAM]
    behaviours = {
        "*": answer(404),
        "/v1/messages": answer(400, {"type": "error", "error": {"type": "invalid_request_error", "message": words}}),
        "/v1/messages#stream": stream(*events),
    }
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        client.api = Api.MESSAGES
        found = await gather(client, SERVER, {"model": "m", "messages": [{"role": "user", "content": "q"}]})

    assert found.refusal is not None
    assert any("the error is about the output" in note for note in found.notes) is is_about_output
    assert any("answered when it was streamed" in note for note in found.notes)
    assert not any("only when streaming" in note for note in found.notes)
