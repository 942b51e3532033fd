"""What was asked is what is judged, and nothing that we ask besides disturbs it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSON, Basis, JSONObject, Prompt, Server, Span, Token, TokenKind
from prompt_debugger.core.complete import Gathered, ServerClient, gather
from prompt_debugger.core.render.tokenizers import load_tokenizer
from tests.conftest import ROOT
from tests.core.complete.faulty_server import (
    Behaviour,
    FaultyServer,
    answer,
    chunk,
    faulty_server,
    in_turn,
    reset,
    stream,
)

SERVER = Server("http://127.0.0.1:1/v1", model="m")
BODY: JSONObject = {"model": "m", "messages": [], "temperature": 0}
LAB_MODEL = ROOT / "assets" / "lab-model"
LOCAL = Prompt("local", "q", (), (Token(5, "q", Span(0, 1), TokenKind.TEXT, b"q", None),))


def whole(text: str, **fields: JSON) -> JSONObject:
    choice: JSONObject = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [{**choice, **fields}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


def streamed(*texts: str, finish_reason: str | None = "stop", ids: Sequence[Sequence[int]] = ()) -> Behaviour:
    def shown(number: int) -> JSONObject:
        return {"token_ids": list(ids[number])} if ids else {}

    events = [chunk(delta={"content": text}, finish_reason=None, **shown(place)) for place, text in enumerate(texts)]
    events.append(chunk(delta={}, finish_reason=finish_reason))
    return stream(*events, b"data: [DONE]\n\n")


async def run(
    behaviours: dict[str, Behaviour], body: JSONObject = BODY, *, kind: str = "openai-compatible", once: bool = False
) -> tuple[Gathered, FaultyServer]:
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await gather(
            client,
            replace(SERVER, kind=kind),
            body,
            local_prompt=LOCAL,
            tokenizer=load_tokenizer(LAB_MODEL),
            asks_once=once,
        )
    return found, server


def kinds(server: FaultyServer) -> list[str]:
    def kind(path: str, body: object) -> str:
        if path == "/v1/completions":
            return "raw"
        return "stream" if isinstance(body, dict) and body.get("stream") is True else "whole"

    return [kind(one.path, one.json) for one in server.received]


RAW = answer(200, {"choices": [{"index": 0, "text": "hi", "token_ids": [77], "finish_reason": "stop"}]})
BOTH: dict[str, Behaviour] = {
    "/v1/chat/completions": answer(200, whole("whole")),
    "/v1/chat/completions#stream": streamed("stream", "ed", finish_reason="length"),
    "/v1/completions": RAW,
}


async def test_a_stream_that_was_asked_for_is_judged() -> None:
    found, _ = await run(BOTH, {**BODY, "stream": True})

    assert found.chat is not None
    assert found.chat_whole is not None
    assert (found.chat.message["content"], found.chat.finish_reason) == ("streamed", "length")
    assert found.chat_stream == found.chat
    assert found.chat_whole.message["content"] == "whole"


async def test_a_whole_answer_that_was_asked_for_is_judged() -> None:
    found, _ = await run(BOTH)

    assert found.chat is not None
    assert (found.chat.message["content"], found.chat.finish_reason, found.chat_whole) == ("whole", "stop", None)
    assert found.chat_stream is not None
    assert found.chat_stream.message["content"] == "streamed"


async def test_a_stream_is_asked_to_tell_its_own_run_where_it_is_what_was_asked_for() -> None:
    tokenizer = load_tokenizer(LAB_MODEL)
    ids = tokenizer.encode("hello there")
    shown = streamed("hello there", ids=[ids])
    found, server = await run({**BOTH, "/v1/chat/completions#stream": shown}, {**BODY, "stream": True})

    assert found.raw is not None
    assert (found.evidence, found.raw.text) == (Basis.SAME_RUN, "hello there")
    asked = next(one.json for one in server.received if kinds(server)[server.received.index(one)] == "stream")
    assert isinstance(asked, dict)
    assert asked["return_token_ids"] is True
    assert "logprobs" not in asked  # llama-cpp-python's stream is another one with them
    assert (found.sent["stream"], found.sent["return_token_ids"]) == (True, True)


async def test_our_own_stream_is_not_asked_for_more_than_it_needs() -> None:
    _, server = await run(BOTH)

    (ours,) = [one.json for one in server.received if isinstance(one.json, dict) and one.json.get("stream") is True
               and one.path == "/v1/chat/completions"]  # fmt: skip
    assert "logprobs" not in ours


async def test_a_stream_without_ids_is_held_against_the_whole_answer_s_ids() -> None:
    ids: list[JSON] = list(load_tokenizer(LAB_MODEL).encode("hello there"))
    shown = answer(200, {**whole("hello there", token_ids=ids), "usage": {"completion_tokens": len(ids)}})
    found, _ = await run({**BOTH, "/v1/chat/completions": shown}, {**BODY, "stream": True})

    assert found.raw is not None
    assert (found.evidence, found.raw.text) == (Basis.OWN_RENDER, "hello there")
    assert found.why.endswith("so the raw output is a second sampling on the same request, asked without `stream`.")


async def test_our_whole_answer_that_fails_is_a_note() -> None:
    found, _ = await run({**BOTH, "/v1/chat/completions": reset()}, {**BODY, "stream": True})

    assert found.chat is not None
    assert (found.chat.message["content"], found.chat.error, found.chat_whole) == ("streamed", None, None)
    assert any("without `stream` failed" in note for note in found.notes)
    assert not any("has a fault" in note for note in found.notes)


async def test_a_server_that_is_not_known_to_take_several_is_asked_one_at_a_time() -> None:
    open_now, most = 0, 0

    def counted(behaviour: Behaviour) -> Behaviour:
        async def behave(writer: asyncio.StreamWriter) -> None:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            for _ in range(300):  # turns of the loop in which another request could come
                await asyncio.sleep(0)
            await behaviour(writer)
            open_now -= 1

        return behave

    behaviours = {path: counted(behaviour) for path, behaviour in BOTH.items()}
    _, server = await run(behaviours)
    assert (most, kinds(server)) == (1, ["whole", "stream", "raw"])

    _, server = await run(behaviours, {**BODY, "stream": True})
    assert (most, kinds(server)) == (1, ["stream", "whole", "raw"])

    tells = stream(b'data: {"choices": [], "prompt_token_ids": [5]}\n\n', chunk(delta={}, finish_reason="stop"))
    _, server = await run({**behaviours, "/v1/chat/completions#stream": counted(tells)}, {**BODY, "stream": True})
    assert (most, kinds(server)) == (1, ["stream", "whole", "raw"])


async def test_a_server_that_takes_several_is_asked_at_once() -> None:
    all_came = asyncio.Event()
    count = 0

    def waits(behaviour: Behaviour) -> Behaviour:
        async def behave(writer: asyncio.StreamWriter) -> None:
            nonlocal count
            count += 1
            if count == 2:
                all_came.set()
            await all_came.wait()  # for ever if they came one after the other
            await behaviour(writer)

        return behave

    chats = [path for path in BOTH if "chat" in path]
    found, _ = await run(BOTH | {path: waits(BOTH[path]) for path in chats}, kind="vllm")

    assert found.chat is not None
    assert found.chat.error is None


async def test_a_tokenizer_that_reads_the_prompt_as_the_server_does_is_believed() -> None:
    """Then it is the server that answered with another text, and that is for the rules to say."""
    message = "Paris is warm today, and so is Rome."
    ids: list[JSON] = list(load_tokenizer(LAB_MODEL).encode("zebra quantum lattice"))
    usage: JSON = {"completion_tokens": len(ids)}
    alike = answer(200, {**whole(message, token_ids=ids), "usage": usage, "prompt_token_ids": [5]})
    other = answer(200, {**whole(message, token_ids=ids), "usage": usage, "prompt_token_ids": [6]})

    believed, _ = await run({**BOTH, "/v1/chat/completions": alike})
    doubted, _ = await run({**BOTH, "/v1/chat/completions": other})

    assert believed.raw is not None
    assert (believed.evidence, believed.raw.text) == (Basis.SAME_RUN, "zebra quantum lattice")
    assert doubted.evidence is not Basis.SAME_RUN
    assert any("Wrong tokenizer?" in note for note in doubted.notes)


async def test_once_asks_for_the_request_itself_alone() -> None:
    for body, kind, text in ((BODY, "whole", "whole"), ({**BODY, "stream": True}, "stream", "streamed")):
        found, server = await run(BOTH, body, once=True)

        assert kinds(server) == [kind]
        assert found.chat is not None
        assert found.chat.message["content"] == text
        assert (found.raw, found.evidence) == (None, None)
        assert found.why == "The server does not report the ids of the chat's run, and nothing else was asked."
        assert not any("failed" in note for note in found.notes)


async def test_once_rests_on_the_ids_of_the_run_where_they_are_reported() -> None:
    ids: list[JSON] = list(load_tokenizer(LAB_MODEL).encode("whole"))
    shown = answer(200, {**whole("whole", token_ids=ids), "usage": {"completion_tokens": len(ids)}})
    found, server = await run({**BOTH, "/v1/chat/completions": shown}, once=True)

    assert (found.evidence, kinds(server)) == (Basis.SAME_RUN, ["whole"])
    assert found.notes == ()


async def test_once_a_refusal_is_a_refusal() -> None:
    refused = answer(400, {"error": {"message": "no tools here"}})
    found, server = await run({**BOTH, "/v1/chat/completions": refused}, once=True)

    assert found.refusal is not None
    assert (found.refusal.message, set(kinds(server))) == ("no tools here", {"whole"})


async def test_a_list_that_contradicts_itself_is_asked_for_once_more_without_alternatives() -> None:
    """As mlx-lm: with alternatives any of them is listed as the token, without them the ids of the run."""
    ids = load_tokenizer(LAB_MODEL).encode("hello there")
    alone: JSON = {"content": [{"id": one, "logprob": 0.0} for one in ids]}
    rival: JSON = [{"token": "x", "logprob": -9.0}, {"token": "hello", "logprob": 0.0}]
    any_of: JSON = {"content": [{"token": "x", "id": 5, "logprob": -9.0, "top_logprobs": rival} for _ in ids]}
    counted: JSONObject = {"usage": {"completion_tokens": len(ids), "prompt_tokens": 3}}
    behaviours = {
        "/v1/chat/completions": in_turn(
            answer(200, {**whole("hello there", logprobs=any_of), **counted}),
            answer(200, {**whole("hello there", logprobs=alone), **counted}),
        ),
        "/v1/chat/completions#stream": BOTH["/v1/chat/completions#stream"],
    }
    found, server = await run(behaviours, {**BODY, "logprobs": True, "top_logprobs": 3})

    asked = [one.json for one in server.received if isinstance(one.json, dict) and "messages" in one.json]
    assert [one.get("top_logprobs") for one in asked] == [3, 3, None]
    assert found.raw is not None
    assert found.chat is not None
    assert (found.evidence, found.raw.text, found.chat.logprobs) == (Basis.OWN_RENDER, "hello there", None)
    assert "cannot be used, so the raw output is a second sampling on the same request" in found.why
    assert any("contradict themselves" in note for note in found.notes)

    drawing = {**BODY, "temperature": 1, "logprobs": True, "top_logprobs": 3}
    _, server = await run(behaviours, drawing)
    assert kinds(server).count("whole") == 1  # another draw proves nothing


@pytest.mark.parametrize(("room", "ended"), [(0, "length"), (5, None)])
async def test_an_output_that_fills_the_context_ended_at_its_limit(room: int, ended: str | None) -> None:
    ids = load_tokenizer(LAB_MODEL).encode("hello there")
    reply: JSONObject = {
        **whole("hello there", token_ids=[*ids], finish_reason="tool_calls"),
        "prompt_token_ids": [1, 2, 3],
    }
    reply["usage"] = {"prompt_tokens": 3, "completion_tokens": len(ids)}
    async with (
        faulty_server({"/v1/chat/completions": answer(200, reply)}) as server,
        ServerClient(server.base_url) as client,
    ):
        described = replace(SERVER, max_model_len=3 + len(ids) + room)
        found = await gather(client, described, BODY, tokenizer=load_tokenizer(LAB_MODEL), asks_once=True)

    assert found.raw is not None
    assert found.raw.finish_reason == ended
