"""Servers that never end: what had come is kept, one sentence says what was cut, and others have their turn."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete import ServerClient, Timeouts
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.backends import events, http
from prompt_debugger.core.complete.backends.exchanges import MAX_PIECES, ExchangeLog, listening
from prompt_debugger.core.complete.backends.limits import MAX_CALLS, MAX_CHOICES
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import read_request
from tests.core.complete.faulty_server import Behaviour, answer, chunk, drip, faulty_server, raw, stream

BODY: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WORD = chunk(delta={"content": "a"})
TEXT = chunk(text="a")


def endless(head: bytes, piece: bytes) -> Behaviour:
    return drip(head, piece * (1 + 50_000 // len(piece)), 0)


@pytest.mark.parametrize(
    ("bound", "behaviour", "words"),
    [
        ("MAX_EVENTS", endless(SSE_HEAD, WORD), "was cut after 500 events"),
        ("MAX_LINES", endless(SSE_HEAD + WORD, b":\n"), "was cut after 500 lines"),
        ("MAX_EVENT_BYTES", endless(SSE_HEAD + WORD + b"data: ", b"x"), "was cut after 500 bytes in one event"),
        ("MAX_EVENT_BYTES", endless(SSE_HEAD + WORD, b"data: x\n"), "was cut after 500 bytes in one event"),
        (
            "MAX_PIECES",
            endless(CHUNKED + b"%x\r\n%s\r\n" % (len(WORD), WORD), b"1\r\n:\r\n"),
            "was cut after 500 pieces",
        ),
    ],
)
async def test_a_stream_without_an_end_is_cut_and_what_had_come_is_kept(
    monkeypatch: pytest.MonkeyPatch, bound: str, behaviour: Behaviour, words: str
) -> None:
    monkeypatch.setattr(http if bound == "MAX_PIECES" else events, bound, 500)
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        result = await client.chat_stream(BODY)
        await server.client_left.wait()

    assert words in (result.error or ""), result.error
    assert "what had arrived is kept" in (result.error or "")
    assert set(str(result.message["content"])) == {"a"}
    assert len(result.deltas) == (500 if bound == "MAX_EVENTS" else 1)


async def test_a_stream_of_as_many_events_as_there_may_be_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 500)
    done = stream(WORD * 498, chunk(delta={}, finish_reason="stop"), b"data: [DONE]\n\n")
    async with faulty_server(done) as server, ServerClient(server.base_url) as client:
        result = await client.chat_stream(BODY)

    assert (result.error, result.message) == (None, {"content": "a" * 498})


async def test_a_raw_completion_without_an_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 500)
    async with faulty_server(endless(SSE_HEAD, TEXT)) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError) as caught:
            await client.complete([1], {}, lambda _: None)
        await server.client_left.wait()

    assert (caught.value.kind, "was cut after 500 events" in caught.value.message) == ("too-large", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "burst",
    [SSE_HEAD + WORD * 20_000, CHUNKED + b"%x\r\n%s\r\n" % (len(WORD), WORD) * 20_000 + b"0\r\n\r\n"],
    ids=["events", "pieces"],
)
async def test_others_have_their_turn_while_a_burst_is_read(burst: bytes) -> None:
    async with faulty_server(raw(burst)) as server, ServerClient(server.base_url) as client:
        reading = asyncio.ensure_future(client.chat_stream(BODY))
        turns = 0
        while not reading.done():
            await asyncio.sleep(0)
            turns += 1

    assert len(reading.result().deltas) == 20_000
    assert turns >= 20_000 // 64


async def test_more_choices_than_anybody_asks_for_are_not_all_read() -> None:
    many: list[JSON] = [{"index": 0, "delta": {"content": "a"}}] * (MAX_CHOICES + 1)
    event = b"data: " + json.dumps({"choices": many}).encode() + b"\n\n"
    async with (
        faulty_server(stream(event, b"data: [DONE]\n\n")) as server,
        ServerClient(server.base_url) as client,
    ):
        result = await client.chat_stream(BODY)
        with pytest.raises(BackendError, match="1,025 choices"):
            await client.complete([1], {}, lambda _: None)

    assert result.error == "event 1 of the stream contains 1,025 choices, of which 1,024 are read"
    assert len(result.deltas) == MAX_CHOICES


def _calls(count: int, first: int = 0) -> list[JSON]:
    return [{"index": first + index, "id": f"c{first + index}", "function": {"name": "f"}} for index in range(count)]


def test_more_calls_than_any_model_writes_are_not_all_read() -> None:
    message: JSONObject = {"role": "assistant", "tool_calls": _calls(MAX_CALLS + 1)}
    result = read_chat({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, "", 0.0)

    assert result.error == "the message contains 10,001 tool calls, of which 10,000 are read"
    assert result.message == {"role": "assistant", "tool_calls": _calls(MAX_CALLS)}


def test_as_many_calls_as_a_looping_model_writes_are_read() -> None:
    message: JSONObject = {"role": "assistant", "tool_calls": _calls(MAX_CALLS)}

    assert read_chat({"choices": [{"message": message}]}, "", 0.0).error is None


@pytest.mark.parametrize("events_count", [1, 2])
async def test_a_stream_of_more_calls_than_any_model_writes_is_not_all_read(events_count: int) -> None:
    parts = [_calls(MAX_CALLS)] if events_count == 2 else []
    parts.append(_calls(1 if parts else MAX_CALLS + 1, MAX_CALLS if parts else 0))
    shown = [json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": part}}]}) for part in parts]
    sent = [f"data: {data}\n\n".encode() for data in [*shown, "[DONE]"]]
    async with faulty_server(stream(*sent)) as server, ServerClient(server.base_url) as client:
        result = await client.chat_stream(BODY)

    assert len(objects_in(result.message["tool_calls"])) == MAX_CALLS
    assert result.error is not None
    assert "10,000 are read" in result.error


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/chat/completions#stream"])
async def test_one_finding_says_that_the_answer_was_cut(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 500)
    whole = answer(200, {"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]})
    behaviours = {
        "/v1/models": answer(200, {"data": [{"id": "m"}]}),
        "/v1/chat/completions": whole,
        "/v1/chat/completions#stream": endless(SSE_HEAD, WORD),
        path: endless(SSE_HEAD, WORD),
    }
    async with faulty_server(behaviours) as server:
        body = {**BODY, "stream": path.endswith("#stream")}
        trace = await pipeline.run(read_request(json.dumps(body)), Target(base_url=server.base_url))

    assert [finding.title for finding in trace.findings if finding.code == "PD310"] == [
        "The answer was not read to its end."
        if path == "/v1/chat/completions"
        else "The streamed answer was not read to its end."
    ]
    assert trace.chat_stream is not None
    assert trace.chat_stream.message == {"content": "a" * 500}


@pytest.mark.parametrize("head", [SSE_HEAD + WORD, b"HTTP/1.1 200 OK\r\n"], ids=["answer", "headers"])
async def test_the_time_of_a_run_ends_what_drips(head: bytes) -> None:
    drop = b":\n" if head.endswith(b"\n\n") else b"x: y\r\n"
    times = Timeouts(run_s=0.5)
    async with (
        faulty_server(drip(head, drop, 0.01)) as server,
        ServerClient(server.base_url, timeouts=times) as client,
    ):
        with pytest.raises(BackendError, match=r"run's time limit of 0\.5 s;"):
            await client.chat(BODY)
        with pytest.raises(BackendError, match=r"run's time limit of 0\.5 s;"):  # nor is anything asked after it
            await client.chat(BODY)


async def test_a_run_takes_no_longer_than_its_target_says() -> None:
    behaviours = {
        "/v1/models": answer(200, {"data": [{"id": "m"}]}),
        "/v1/chat/completions": drip(SSE_HEAD + WORD, b":\n", 0.01),
        "*": answer(404),
    }
    async with faulty_server(behaviours) as server:
        try:
            trace = await pipeline.run(read_request(json.dumps(BODY)), Target(base_url=server.base_url, run_s=2.0))
            said = " ".join(finding.detail for finding in trace.findings)
        except BackendError as error:  # nothing had come yet, on a slow machine
            said = error.message

    assert "run's time limit of 2 s;" in said


async def test_the_pieces_of_a_burst_are_kept_together() -> None:
    log = ExchangeLog()
    piece = b"%x\r\n%s\r\n" % (len(WORD), WORD)
    burst = raw(CHUNKED + piece * 3 * MAX_PIECES + b"0\r\n\r\n")

    async with faulty_server(burst) as server, ServerClient(server.base_url) as client:
        await asyncio.create_task(client.chat_stream(BODY), context=listening(log))

    [exchange] = log.exchanges
    assert exchange.size == 3 * MAX_PIECES * len(WORD)
    assert b"".join(kept for _, kept in exchange.pieces) == WORD * 3 * MAX_PIECES
    assert len(exchange.pieces) < MAX_PIECES + MAX_PIECES // 10
