"""Whose prompt ids count, and when a stream may speak for an answer that failed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject, Prompt, Refusal, Server
from prompt_debugger.core.complete import Gathered, ServerClient, gather
from tests.core.complete.faulty_server import Behaviour, FaultyServer, answer, chunk, faulty_server, stream

SERVER = Server("http://127.0.0.1:1/v1", model="m")
BODY: JSONObject = {"model": "m", "messages": [], "temperature": 0}
END = b"data: [DONE]\n\n"
HI = chunk(delta={"role": "assistant", "content": "hi"}, finish_reason="stop")
FIRST = b'data: {"choices": [], "prompt_token_ids": [1, 2, 3]}\n\n'


def whole(**fields: JSON) -> Behaviour:
    choice: JSON = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    return answer(200, {"choices": [choice], **fields})


BOTH: dict[str, Behaviour] = {
    "/v1/chat/completions": whole(),
    "/v1/chat/completions#stream": stream(HI, END),
    "/v1/completions": answer(200, {"choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}]}),
}


async def run(
    changes: dict[str, Behaviour], *, features: frozenset[str] = frozenset(), kind: str = "vllm"
) -> tuple[Gathered, FaultyServer]:
    async with faulty_server({**BOTH, **changes}) as server, ServerClient(server.base_url) as client:
        local = Prompt("local", "ours", (), None)
        found = await gather(client, replace(SERVER, kind=kind, features=features), BODY, local_prompt=local)
    return found, server


def sampled_on(server: FaultyServer) -> list[JSON]:
    bodies = [one.json for one in server.received if one.path == "/v1/completions"]
    return [body["prompt"] for body in bodies if isinstance(body, dict)]


@pytest.mark.parametrize("kind", ["vllm", "openai-compatible"])
async def test_ids_that_only_the_stream_tells_are_the_prompt_s(kind: str) -> None:
    found, server = await run({"/v1/chat/completions#stream": stream(FIRST, HI, END)}, kind=kind)

    assert (found.prompt_token_ids, sampled_on(server)) == ((1, 2, 3), [[1, 2, 3]])


async def test_ids_that_only_the_stream_tells_are_known_where_nothing_is_sampled() -> None:
    found, server = await run({"/v1/chat/completions#stream": stream(FIRST, HI, END)}, kind="ollama")

    assert (found.prompt_token_ids, sampled_on(server)) == ((1, 2, 3), [])


async def test_ids_of_the_answer_itself_come_before_those_of_the_stream() -> None:
    shown = {"/v1/chat/completions": whole(prompt_token_ids=[7, 8]), "/v1/chat/completions#stream": stream(FIRST, END)}
    found, _ = await run(shown)

    assert found.prompt_token_ids == (7, 8)


async def test_ids_of_a_stream_that_broke_off_are_still_the_prompt_s() -> None:
    broken = stream(FIRST, chunk(delta={"content": "h"}, finish_reason=None), is_closed_properly=False)
    found, server = await run({"/v1/chat/completions#stream": broken})

    assert found.chat is not None
    assert (found.chat.message["content"], found.prompt_token_ids) == ("hi", (1, 2, 3))
    assert sampled_on(server) == [[1, 2, 3]]
    assert found.chat_stream is not None
    assert found.chat_stream.error is not None


TEMPLATED = {
    "/apply-template": answer(200, {"prompt": "<s>q"}),
    "/tokenize": answer(200, {"tokens": [{"id": 4, "piece": "<s>"}, {"id": 5, "piece": "q"}]}),
}
TELLS_TEMPLATE = frozenset({"apply_template"})


@pytest.mark.parametrize(("own", "ids"), [("<s>q", (4, 5)), (None, (4, 5)), ("<s>another", None)])
async def test_ids_of_a_template_are_the_run_s_unless_the_answer_tells_another_prompt(
    own: str | None, ids: tuple[int, ...] | None
) -> None:
    shown = whole() if own is None else whole(prompt_text=own)
    found, server = await run({**TEMPLATED, "/v1/chat/completions": shown}, features=TELLS_TEMPLATE, kind="llama.cpp")

    assert found.prompt_token_ids == ids
    assert sampled_on(server) == [[4, 5]]
    assert found.prompt_pieces == (None if ids is None else (b"<s>", b"q"))


DECLINED = answer(400, {"error": {"message": "only stream=true is supported"}})


async def test_a_stream_that_broke_off_does_not_speak_for_an_answer_that_was_declined() -> None:
    broken = stream(chunk(delta={"content": "h"}, finish_reason=None), is_closed_properly=False)
    found, _ = await run({"/v1/chat/completions": DECLINED, "/v1/chat/completions#stream": broken})

    assert found.chat is not None
    assert (found.chat.message, found.refusal) == ({}, None)
    assert "only stream=true is supported" in (found.chat.error or "")
    assert not any("only when streaming" in note for note in found.notes)


@pytest.mark.parametrize(
    ("error", "options", "is_refused"),
    [
        ({"message": "The 'stream_options' parameter is only allowed when 'stream' is enabled."}, True, True),
        ({"message": "Stream options can only be defined when `stream=True`."}, True, True),
        ({"message": "Unknown value.", "param": "stream_options"}, True, True),
        ({"message": "Stream options can only be defined when `stream=True`."}, False, False),
        ({"message": "only stream=true is supported"}, True, False),
    ],
)
async def test_options_of_a_stream_that_was_not_asked_for_are_the_request_s_fault(
    error: JSON, options: bool, is_refused: bool
) -> None:
    """Though our own stream of the same request was answered."""
    body: JSONObject = {**BODY, **({"stream_options": {"include_usage": True}} if options else {})}
    declined = {**BOTH, "/v1/chat/completions": answer(400, {"error": error})}
    async with faulty_server(declined) as server, ServerClient(server.base_url) as client:
        found = await gather(client, SERVER, body, local_prompt=Prompt("local", "ours", (), None))

    assert (found.refusal is not None) is is_refused
    assert (found.chat is None) is is_refused


async def test_a_whole_stream_does() -> None:
    found, _ = await run({"/v1/chat/completions": DECLINED})

    assert found.chat is not None
    assert (found.chat.message["content"], found.chat.error) == ("hi", None)


async def test_where_all_three_failed_the_answer_s_own_failure_is_reported() -> None:
    failed = answer(500, {"error": {"message": "EngineCore died"}})
    broken = stream(chunk(delta={"content": "h"}, finish_reason=None), is_closed_properly=False)
    declined = answer(404, b"", "text/plain")

    found, _ = await run(
        {"/v1/chat/completions": failed, "/v1/chat/completions#stream": broken, "/v1/completions": declined}
    )

    assert found.refusal == Refusal(500, "EngineCore died")


async def test_a_failure_without_words_is_raised() -> None:
    mute = answer(500, b"", "text/plain")

    with pytest.raises(BackendError, match="answered 500"):
        await run(dict.fromkeys(BOTH, mute))
