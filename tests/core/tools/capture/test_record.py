"""What is written of an exchange: no key, no answer that was none, and it opens wherever a request is read."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.evidence import Form, read_evidence
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.capture.exchange import Exchange, Held, api_of
from prompt_debugger.core.tools.capture.record import count_calls, raw_of, write_exchange
from prompt_debugger.core.tools.capture.secrets import secrets_of
from tests.core.complete.faulty_server import chunk

KEY = "planted-credential-0123456789"
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [TOOL]}
MESSAGE = {"role": "assistant", "content": "Hello"}
CHAT = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}


def record(
    sent: Any = BODY,
    answered: Any = CHAT,
    *,
    path: str = PATHS["chat"],
    headers: list[tuple[bytes, bytes]] | None = None,
    query: bytes = b"",
    content_type: str = "application/json",
    packing: str = "",
    error: str = "",
) -> tuple[str, Any]:
    """Return what is written of an exchange, as text and read back."""
    exchange = Exchange.begin(7, api_of("POST", path), "POST", path, secrets_of(headers or [], query), Held())
    exchange.sent.take(sent if isinstance(sent, bytes) else json.dumps(sent).encode())
    exchange.head(200, content_type, packing)
    exchange.take(answered if isinstance(answered, bytes) else json.dumps(answered).encode())
    exchange.end(error)
    line = write_exchange(raw_of(exchange, "http://127.0.0.1:1/v1"))
    assert "\n" not in line.text
    return line.text, json.loads(line.text)


PLANTED: dict[str, dict[str, Any]] = {
    "bearer, repeated by the server": {
        "headers": [(b"Authorization", f"Bearer {KEY}".encode())],
        "answered": {"error": {"message": f"wrong key {KEY}", KEY: [f"x{KEY}y"]}},
    },
    "basic": {
        "headers": [(b"authorization", b"Basic " + b64encode(f"me:{KEY}".encode()))],
        "answered": {"error": f"no {KEY}"},
    },
    "header of a vendor": {"headers": [(b"X-Acme-Token", KEY.encode())], "answered": {"error": KEY}},
    "unknown header": {
        "headers": [(b"X-Acme-Gate", KEY.encode())],
        "answered": {"error": f"as {KEY}"},
        "sent": {**BODY, "user": KEY},
    },
    "x-api-key": {"headers": [(b"x-api-key", KEY.encode())], "answered": KEY.encode()},
    "cookie": {"headers": [(b"cookie", f"a=1; session={KEY}".encode())], "answered": {"error": KEY}},
    "query": {"query": f"api-version=1&key={KEY}".encode(), "answered": {"error": KEY}},
    "field of the body": {"sent": {**BODY, "api_key": KEY, "extra_headers": {"x": KEY}}},
    "body that is no JSON": {"headers": [(b"x-api-key", KEY.encode())], "sent": b'{"messages": "' + KEY.encode()},
    "path": {"headers": [(b"x-api-key", KEY.encode())], "path": f"/v1/{KEY}/chat/completions"},
    "stream, in parts": {
        "headers": [(b"x-api-key", KEY.encode())],
        "content_type": "text/event-stream",
        "answered": chunk(delta={"content": KEY[:15]})
        + chunk(delta={"content": KEY[15:]}, finish_reason="stop")
        + b"data: [DONE]\n\n",
    },
}


@pytest.mark.parametrize("name", PLANTED)
def test_no_key_is_written(name: str) -> None:
    text, written = record(**PLANTED[name])

    assert KEY not in text
    assert KEY[:15] not in text
    assert KEY[15:] not in text
    assert written["captured"]["status"] == 200


def test_a_key_of_a_known_shape_is_not_written_wherever_it_stands() -> None:
    key = "sk-" + "a1B2" * 8
    body = {**BODY, "messages": [{"role": "user", "content": f"use {key}"}]}

    text, written = record(body)

    assert key not in text
    assert written["captured"]["keys_removed"] is True


def test_a_placeholder_for_a_key_is_not_a_key() -> None:
    """Servers without keys are given such, and they are words of prompts, too."""
    body = {**BODY, "messages": [{"role": "user", "content": "the glass is EMPTY, none left"}]}

    _, written = record(body, headers=[(b"authorization", b"Bearer EMPTY")])

    assert written["request"] == body
    assert written["captured"]["keys_removed"] is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"x-stainless-os", b"Linux 6.1.0-13"),
        (b"x-forwarded-host", b"box-17.example"),
        (b"x-env", b"production"),
        (b"x-team", b"blue-42"),
        (b"user-agent", b"client/1.2.3 (Linux)"),
    ],
)
def test_what_a_client_tells_of_itself_is_not_a_key(name: bytes, value: bytes) -> None:
    body = {**BODY, "messages": [{"role": "user", "content": f"repeat {value.decode()}"}]}

    _, written = record(body, headers=[(name, value)])

    assert written["request"] == body


def test_a_whole_exchange_opens_as_request_and_response() -> None:
    text, written = record()

    intake = read_evidence(text)
    assert (written["id"], written["request"], written["response"]) == (7, BODY, CHAT)
    assert intake.form is Form.EXCHANGE
    assert intake.chat is not None
    assert intake.chat.message == MESSAGE
    assert intake.request is not None
    assert intake.request.body == BODY
    assert read_request(text).body == BODY


def test_several_open_as_lines() -> None:
    text, _ = record()

    intake = read_evidence(f"{text}\n{text}\n", row=2)

    assert (intake.form, intake.row, intake.rows) == (Form.LINES, 2, 2)
    assert intake.request is not None
    assert intake.request.body == BODY


RESPONSES = {"model": "m", "input": "hi", "instructions": "be short"}
ANTHROPIC = {"model": "m", "max_tokens": 9, "system": "be short", "messages": [{"role": "user", "content": "hi"}]}
ANSWERS: dict[str, tuple[Any, Any, int]] = {
    "responses": (
        RESPONSES,
        {"object": "response", "output": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]},
        1,
    ),
    "messages": (
        ANTHROPIC,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}],
            "stop_reason": "tool_use",
        },
        1,
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_exchanges_of_other_apis_open_as_chat(name: str) -> None:
    body, answer, count = ANSWERS[name]

    text, written = record(body, answer, path=PATHS[name])

    intake = read_evidence(text)
    assert (written["request"], written["response"]) == (body, answer)
    assert count_calls(name, answer) == count
    assert intake.form is Form.EXCHANGE
    assert intake.chat is not None
    assert len(intake.chat.message["tool_calls"]) == count  # type: ignore[arg-type]
    assert [message["role"] for message in read_request(text).messages] == ["system", "user"]


@pytest.mark.parametrize("error", ["", "the client disconnected before the end of the answer"])
def test_an_answer_that_did_not_come_whole_is_none(error: str) -> None:
    text, written = record(
        answered=chunk(delta={"role": "assistant", "content": "He"}), content_type="text/event-stream", error=error
    )

    assert "response" not in written
    assert written["partial"]["choices"][0]["message"]["content"] == "He"
    assert len(written["captured"]["problems"]) == 1
    assert read_evidence(text).form is Form.REQUEST


@pytest.mark.parametrize(
    ("answered", "word"), [(b"<html>busy</html>", "not JSON"), (b"[1]", "not a JSON object"), (b'{"a": ', "not JSON")]
)
def test_an_answer_that_is_not_a_document_is_an_excerpt(answered: bytes, word: str) -> None:
    text, written = record(answered=answered, content_type="text/html")

    assert written["captured"]["answer_excerpt"] == answered.decode()
    assert word in written["captured"]["problems"][0]
    assert "response" not in written
    assert read_evidence(text).form is Form.REQUEST


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip", "gzip"])
def test_an_answer_that_cannot_be_unpacked_is_said_to_be_so(packing: str) -> None:
    _, written = record(answered=b"\x00not packed", packing=packing)

    assert "decompressed" in written["captured"]["problems"][0]
    assert written["request"] == BODY


def test_what_is_nested_too_deeply_is_said_to_be_and_loses_nothing_else() -> None:
    deep = b'{"messages": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    _, written = record(deep)

    assert "nested too deeply" in written["captured"]["problems"][0]
    assert (written["captured"]["status"], written["captured"]["sent_bytes"]) == (200, len(deep))
    assert "request" not in written


def test_an_event_that_is_not_json_makes_a_stream_no_answer() -> None:
    whole = chunk(delta={"content": "a"}) + b"data: {oops\n\n" + chunk(delta={}, finish_reason="stop")

    _, written = record(answered=whole + b"data: [DONE]\n\n", content_type="text/event-stream; charset=utf-8")

    assert written["captured"]["problems"] == ["event 2 of the stream is not a JSON object"]
    assert "response" not in written


def test_events_keep_the_time_at_which_they_came() -> None:
    exchange = Exchange.begin(1, api_of("POST", PATHS["chat"]), "POST", PATHS["chat"], (), Held())
    exchange.sent.take(json.dumps(BODY).encode())
    exchange.head(200, "text/event-stream", "")
    exchange.take(chunk(delta={"content": "a"}))
    exchange.take(chunk(delta={}, finish_reason="stop"))
    exchange.end()
    exchange.marks = [(0, 1.5), (exchange.marks[1][0], 2.5)]

    written = json.loads(write_exchange(raw_of(exchange, "")).text)

    assert [at_s for at_s, _ in written["captured"]["events"]] == [1.5, 2.5]


@pytest.mark.corpus
def test_bodies_of_real_clients_are_kept_as_they_were_sent(corpus_dir: Path) -> None:
    """Each is read from the record as it is read by itself."""
    paths = sorted((corpus_dir.parent / "bodies").glob("*.json"))
    if not paths:
        pytest.skip("no bodies of real clients beside the template corpus")
    for path in paths:
        body = json.loads(path.read_text("utf-8"))
        api = "/v1/messages" if "anthropic" in path.name else PATHS["chat"]

        text, written = record(body, path=api)

        assert written["request"] == body, path.name
        assert read_request(text).body == read_request(json.dumps(body)).body, path.name
