"""The server is asked for the ids of a run, and the client gets what it would get without."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.tools.capture.exchange import Api
from prompt_debugger.core.tools.capture.same_run import asking_for_ids, events_without_ids, strip_ids
from tests.core.complete.faulty_server import FaultyServer, answer, faulty_server
from tests.core.tools.capture.capturing import patient_client
from tests.core.tools.watch.watching import watching

ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": 'Say "token_ids": [1].'}]}
TEXT = 'It is "token_ids": [1, 2].'


def _whole(*, with_ids: bool) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    ids: Any = [5, 6] if with_ids else None
    document = {"id": "x", "choices": [{**choice, "token_ids": ids}], "prompt_token_ids": [1, 2] if with_ids else None}
    return json.dumps(document, separators=(",", ":")).encode()


def _events(*, with_ids: bool) -> bytes:
    def event(delta: Any, ids: Any, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, "token_ids": ids, **more}
        return b"data: " + json.dumps({"id": "x", "choices": [choice]}, separators=(",", ":")).encode() + b"\n\n"

    first: Any = {"id": "x", "choices": [{"index": 0, "delta": {"role": "assistant"}}]}
    first["prompt_token_ids"] = [1, 2] if with_ids else None
    return b"".join(
        (
            b"data: " + json.dumps(first, separators=(",", ":")).encode() + b"\n\n",
            event({}, [3]) if with_ids else b"",  # vLLM sends it to no one else
            event({"content": TEXT}, [5] if with_ids else None),
            event({}, [6] if with_ids else None, finish_reason="stop"),
            b"data: [DONE]\n\n",
        )
    )


async def _answer_as_vllm(server: list[FaultyServer], writer: asyncio.StreamWriter) -> None:
    body = server[0].received[-1].json
    assert isinstance(body, dict)
    with_ids = body.get("return_token_ids") is True
    if body.get("stream"):
        await answer(200, _events(with_ids=with_ids), "text/event-stream")(writer)
    else:
        await answer(200, _whole(with_ids=with_ids))(writer)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_the_client_gets_the_bytes_that_it_would_get_without(tmp_path: Path, *, is_stream: bool) -> None:
    servers: list[FaultyServer] = []

    async def behave(writer: asyncio.StreamWriter) -> None:
        await _answer_as_vllm(servers, writer)

    body = {**ASKED, "stream": is_stream}
    async with faulty_server(behave) as server:
        servers.append(server)
        async with (
            watching(server.base_url, tmp_path / "watch.sqlite", evidence=True) as watch,
            patient_client() as client,
        ):
            direct = await client.post(f"{server.base_url}/chat/completions", json=body)
            through = await client.post(f"{watch.base_url}/chat/completions", json=body)
            own = await client.post(f"{watch.base_url}/chat/completions", json={**body, "return_token_ids": True})
            await watch.until(lambda counts: counts.read == 2)

    asked = [received.json for received in server.received]
    assert asked[1] == {**body, "return_token_ids": True}
    assert through.content == direct.content
    assert own.content == (_events(with_ids=True) if is_stream else _whole(with_ids=True))  # as that client asked
    assert through.headers.get("content-length") == direct.headers.get("content-length") or is_stream


async def test_a_server_that_refuses_the_question_gets_what_the_client_wrote(tmp_path: Path) -> None:
    servers: list[FaultyServer] = []

    async def behave(writer: asyncio.StreamWriter) -> None:
        if b"return_token_ids" in servers[0].received[-1].body:
            await answer(400, {"error": {"message": "Unrecognized request argument: return_token_ids"}})(writer)
        else:
            await answer(200, _whole(with_ids=False))(writer)

    async with faulty_server(behave) as server:
        servers.append(server)
        async with (
            watching(server.base_url, tmp_path / "watch.sqlite", evidence=True) as watch,
            patient_client() as client,
        ):
            got = await client.post(f"{watch.base_url}/chat/completions", json=ASKED)

    assert (got.status_code, got.content) == (200, _whole(with_ids=False))
    assert [received.json for received in server.received][1:] == [ASKED]
    assert watch.counts.total.success == 1


async def test_events_are_the_same_however_they_come() -> None:
    data = _events(with_ids=True)
    for size in (1, 7, 64, len(data)):

        async def pieces(size: int = size) -> Any:
            for start in range(0, len(data), size):
                yield data[start : start + size]

        assert b"".join([piece async for piece in events_without_ids(pieces())]) == _events(with_ids=False)


def test_what_is_left_alone() -> None:
    assert asking_for_ids(Api.GEMINI, b'{"model": "m"}', "") is None
    assert asking_for_ids(Api.CHAT, b'{"model": "m"}', "gzip") is None
    assert asking_for_ids(Api.CHAT, b"{}", "") is None
    assert asking_for_ids(Api.CHAT, b"[1]", "") is None
    assert asking_for_ids(Api.COMPLETIONS, b'{"echo": true}', "") is None
    quoted = json.dumps({"content": '{"token_ids":[1]}'}).encode()
    assert strip_ids(quoted) == quoted


@pytest.mark.parametrize("spaces", [False, True])
def test_prompt_and_output_of_responses_are_taken_out_and_nothing_else(*, spaces: bool) -> None:
    shown = [{"type": "raw_message_tokens", "message": 'é "output_messages":[1] ]}', "tokens": [1, 2]}]
    document: Any = {"output": [{"text": '"input_messages":[2]'}], "input_messages": shown, "output_messages": shown}
    separators = (", ", ": ") if spaces else (",", ":")

    def written(value: Any) -> bytes:
        return json.dumps(value, separators=separators, ensure_ascii=False).encode()

    assert strip_ids(written(document)) == written({**document, "input_messages": None, "output_messages": None})
    assert strip_ids(written(document)[:-40]).startswith(written(document)[:30])  # cut: passed on, and no failure


def test_each_api_is_asked_with_its_own_field_and_messages_with_none() -> None:
    body = b'{"model": "m"}'

    assert asking_for_ids(Api.RESPONSES, body, "") == b'{"enable_response_messages":true,"model": "m"}'
    assert asking_for_ids(Api.RESPONSES, b'{"enable_response_messages": false}', "") is None
    assert asking_for_ids(Api.MESSAGES, body, "") is None
