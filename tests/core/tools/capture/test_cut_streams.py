"""Streams of every API, cut after each of their events: what came is kept, and nothing is passed off as an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prompt_debugger.core.base.types import Severity
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.tools.capture.exchange import Api
from tests.core.complete.faulty_server import chunk
from tests.core.tools.capture.test_record import ANTHROPIC, BODY, PATHS, RESPONSES, record

ARGUMENTS = '{"city": "Oslo"}'
PIECES = ("", '{"city"', ': "Oslo"}')


def _of_chat() -> list[Any]:
    call: Any = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    calls: Any = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in PIECES[1:]]
    texts: Any = [{"role": "assistant", "content": "We"}, {"content": "ll"}, {"tool_calls": [call]}]
    return [_data(chunk(delta=one)) for one in (*texts, *calls)] + [_data(chunk(delta={}, finish_reason="tool_calls"))]


def _data(event: bytes) -> Any:
    return json.loads(event.decode().strip().removeprefix("data: "))


def _of_responses() -> list[Any]:
    text: Any = {"type": "message", "id": "m", "role": "assistant", "content": []}
    call: Any = {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": ""}
    said: Any = {**text, "content": [{"type": "output_text", "text": "Well"}]}
    whole: Any = {"object": "response", "status": "completed", "output": [said, {**call, "arguments": ARGUMENTS}]}
    arguments: Any = {"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "f"}
    return [
        {"type": "response.created", "response": {"object": "response", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": text},
        *(
            {"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": at}
            for at in ("We", "ll")
        ),
        {"type": "response.output_item.done", "output_index": 0, "item": said},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        *({**arguments, "delta": piece} for piece in PIECES[1:]),
        {"type": "response.output_item.done", "output_index": 1, "item": {**call, "arguments": ARGUMENTS}},
        {"type": "response.completed", "response": whole},
    ]


def _of_messages() -> list[Any]:
    def delta(index: int, **fields: Any) -> Any:
        return {"type": "content_block_delta", "index": index, "delta": fields}

    used: Any = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    return [
        {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(delta(0, type="text_delta", text=text) for text in ("We", "ll")),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": used},
        *(delta(1, type="input_json_delta", partial_json=piece) for piece in PIECES),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]


def _of_gemini() -> list[Any]:
    def parts(*made: Any, **fields: Any) -> Any:
        return {"candidates": [{"content": {"role": "model", "parts": [*made]}, **fields}]}

    call = {"functionCall": {"name": "f", "args": json.loads(ARGUMENTS)}}
    return [parts({"text": "We"}), parts({"text": "ll"}), parts(call), parts(finishReason="STOP")]


GEMINI: Any = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
STREAMS: dict[Api, tuple[str, Any, list[Any]]] = {
    Api.CHAT: (PATHS["chat"], BODY, _of_chat()),
    Api.RESPONSES: (PATHS["responses"], RESPONSES, _of_responses()),
    Api.MESSAGES: (PATHS["messages"], ANTHROPIC, _of_messages()),
    Api.GEMINI: ("/v1beta/models/m:streamGenerateContent", GEMINI, _of_gemini()),
}
CUTS = [(api, count) for api, (_, _, events) in STREAMS.items() for count in range(1, len(events))]


def _recorded(api: Api, count: int) -> tuple[str, Any]:
    path, body, events = STREAMS[api]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events[:count])
    sent = body if api is Api.GEMINI else {**body, "stream": True}
    return record(sent, text.encode(), path=path, content_type="text/event-stream")


@pytest.mark.parametrize(("api", "count"), CUTS)
def test_what_came_of_a_cut_stream_is_kept_and_nothing_more(api: Api, count: int) -> None:
    text, written = _recorded(api, count)

    said = json.dumps(STREAMS[api][2][:count])
    kept = json.dumps(written.get("partial", {}))
    assert "response" not in written
    assert len(written["captured"]["problems"]) == 1
    for piece in ("We", "ll"):
        assert (f'"{piece}"' in said or '"Well"' in said) <= (piece in kept)
    for word in ("city", "Oslo"):
        assert (word in said) <= (word in kept)
    assert not [one for one in trace_of(read_evidence(text)).findings if one.severity is Severity.ERROR]


@pytest.mark.parametrize("api", STREAMS)
def test_a_whole_stream_is_the_answer(api: Api) -> None:
    text, written = _recorded(api, len(STREAMS[api][2]))

    chat = read_evidence(text).chat
    assert written["captured"]["problems"] == []
    assert chat is not None
    assert chat.message["content"] == "Well"
    assert chat.finish_reason == "tool_calls"
    message: Any = chat.message
    (call,) = message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == json.loads(ARGUMENTS)


@pytest.mark.parametrize("api", STREAMS)
def test_a_client_that_leaves_is_why_its_stream_has_no_end(api: Api) -> None:
    path, body, events = STREAMS[api]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events[:2])
    sent = body if api is Api.GEMINI else {**body, "stream": True}
    left = "the client disconnected before the end of the answer"

    problems = [
        record(sent, data.encode(), path=path, content_type="text/event-stream", error=left)[1]["captured"]["problems"]
        for data in (text, text[:-9])
    ]

    assert problems == [[left], [left]]


@pytest.mark.parametrize("api", STREAMS)
@pytest.mark.parametrize("error", ["", "the server closed the connection: the answer broke off"])
def test_a_stream_that_is_cut_within_its_first_event_keeps_what_came_and_shows_it(api: Api, error: str) -> None:
    path, body, events = STREAMS[api]
    begun = f"data: {json.dumps(events[0])}"[:40]
    sent = body if api is Api.GEMINI else {**body, "stream": True}

    text, written = record(sent, begun.encode(), path=path, content_type="text/event-stream", error=error)

    assert written["captured"]["answer_excerpt"] == begun.strip()
    assert "response" not in written
    evidence = read_evidence(text)
    assert any(json.dumps(events[0])[:20] in note for note in evidence.notes)
    assert evidence.request is not None
    assert not error or (evidence.chat is not None and json.dumps(events[0])[:20] in (evidence.chat.error or ""))


@pytest.mark.parametrize("api", STREAMS)
@pytest.mark.parametrize("size", [4, 20, 24])
def test_a_key_that_such_a_stream_was_cut_in_is_not_kept(api: Api, size: int) -> None:
    key = "Zq8Hj2Lm9Pw4Rt6Vx1Bn3Kd5"
    path, body, _ = STREAMS[api]
    begun = f'data: {{"said": "{key[:size]}'

    text, written = record(
        body,
        begun.encode(),
        path=path,
        content_type="text/event-stream",
        headers=[(b"authorization", f"Bearer {key}".encode())],
    )

    assert written["captured"]["answer_excerpt"].startswith('data: {"said": "')
    assert key[:4] not in text


@pytest.mark.parametrize("api", STREAMS)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_stream_of_whole_events_has_no_excerpt(api: Api, count: int) -> None:
    assert "answer_excerpt" not in _recorded(api, count)[1]["captured"]
