"""What goes through is what came, in both directions, at once, and to the end or not at all."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from prompt_debugger.core.tools.capture.proxy import RequestTimes
from tests.core.complete.faulty_server import (
    Behaviour,
    answer,
    chunk,
    drip,
    faulty_server,
    hang,
    raw,
    reset,
    stream,
)
from tests.core.tools.capture.capturing import capturing, patient_client, through
from tests.patience import PATIENCE_S

BODY = b'{"model": "m",  "messages": [{"role": "user", "content": "caf\\u00e9 \xc3\xa9"}], "odd": 1e2}'
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALL]}
CHAT: Any = {"id": "x", "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]}
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


async def test_an_exchange_goes_through_byte_for_byte_and_is_kept(tmp_path: Path) -> None:
    async with through(answer(200, CHAT, x_request_id="r1"), tmp_path / "out") as (server, capture, client):
        headers = {"authorization": "Bearer none", "x-team": "blue", "connection": "close, x-hop", "x-hop": "1"}
        got = await client.post(f"{capture.base_url}/chat/completions?v=1", content=BODY, headers=headers)
        record = await capture.record()

    (asked,) = server.received
    assert (asked.method, asked.path, asked.body) == ("POST", "/v1/chat/completions?v=1", BODY)
    assert (asked.headers["authorization"], asked.headers["x-team"]) == ("Bearer none", "blue")
    assert "x-hop" not in asked.headers
    assert asked.headers["host"] in server.base_url
    assert (got.status_code, got.json(), got.headers["x-request-id"]) == (200, CHAT, "r1")
    assert (record["request"], record["response"]) == (json.loads(BODY), CHAT)
    assert record["captured"]["status"] == 200
    assert capture.outcomes[0].n_calls == 1
    assert capture.out.joinpath("0001-chat-completions.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("method", "path", "there"),
    [
        ("GET", "/v1/models", "/v1/models"),
        ("DELETE", "/v1/files/a%2Fb?x=%20y", "/v1/files/a%2Fb?x=%20y"),
        ("GET", "/health", "/health"),
        ("POST", "/tokenize", "/tokenize"),
        ("POST", "/v1/embeddings", "/v1/embeddings"),
    ],
)
async def test_whatever_else_is_asked_goes_through_and_is_not_kept(
    method: str, path: str, there: str, tmp_path: Path
) -> None:
    async with through(answer(418, b"tea", "text/plain"), tmp_path / "out") as (server, capture, client):
        got = await client.request(method, capture.base_url.removesuffix("/v1") + path)
        outcome = await capture.outcome()

    assert (server.received[0].method, server.received[0].path) == (method, there)
    assert (got.status_code, got.content) == (418, b"tea")
    assert outcome.file is None
    assert list(capture.out.iterdir()) == []


@pytest.mark.parametrize("begun", [b"", b'{"messages": ['])
async def test_a_body_that_does_not_go_on_is_given_up(begun: bytes, tmp_path: Path) -> None:
    async with through(answer(200, CHAT), tmp_path / "out") as (_, capture, _):
        capture.proxy_times(idle_s=0.05)
        url = httpx.URL(capture.base_url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n"
        writer.write(head + begun)
        async with asyncio.timeout(PATIENCE_S):
            got = await reader.read()
        writer.close()
        record = await capture.record()

    assert got.startswith(b"HTTP/1.1 408 ")
    assert b"did not arrive in time" in got
    assert record["captured"]["status"] == 408
    assert record["captured"]["error"] == "the request's body did not arrive in time"


async def test_a_body_that_comes_slowly_but_forever_is_given_up(tmp_path: Path) -> None:
    async with through(answer(200, CHAT), tmp_path / "out") as (_, capture, _):
        capture.proxy_times(whole_s=0.1)
        url = httpx.URL(capture.base_url)
        _, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999999\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            while not capture.outcomes:
                writer.write(b"x")
                await asyncio.sleep(0.01)
        writer.close()

    assert capture.outcomes[0].exchange.status == 408


SLOW_HEADS = {
    "nothing": (b"", b""),
    "endless": (b"POST /v1/chat/completions HTTP/1.1\r\n", b"x-more: 1\r\n"),
    "half a line": (b"GET /v1/models", b""),
    "after an answer": (b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n", b"GET /v1"),
}


@pytest.mark.parametrize("kind", SLOW_HEADS)
async def test_a_head_that_does_not_come_to_its_end_is_given_up(kind: str, tmp_path: Path) -> None:
    begun, more = SLOW_HEADS[kind]
    async with (
        faulty_server(answer(200, CHAT)) as server,
        capturing(server.base_url, tmp_path / "out", times=RequestTimes(head_s=0.1)) as capture,
    ):
        url = httpx.URL(capture.base_url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(begun)
        reading = asyncio.ensure_future(reader.read())
        async with asyncio.timeout(PATIENCE_S):
            while not reading.done():
                if more:
                    writer.write(more)
                await asyncio.sleep(0.01)
        writer.close()
        with suppress(ConnectionError):
            reading.result()

    assert len(server.received) == (kind == "after an answer")
    assert capture.outcomes == [] or kind == "after an answer"


async def test_an_answer_may_take_longer_than_a_head(tmp_path: Path) -> None:
    async with (
        faulty_server(drip(SSE_HEAD, b"data: {}\n\n", 0.02)) as server,
        capturing(server.base_url, tmp_path / "out", times=RequestTimes(head_s=0.05)) as capture,
        patient_client() as client,
        client.stream("GET", f"{capture.base_url}/models") as got,
    ):
        pieces = got.aiter_raw()
        came = sum([len(await anext(pieces)) for _ in range(20)])

    assert came >= 200


async def test_an_upgrade_to_a_websocket_is_answered_as_the_server_answers_it(tmp_path: Path) -> None:
    async with through(answer(404, b"no", "text/plain"), tmp_path / "out") as (_, capture, client):
        headers = {
            "connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
            "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        }  # fmt: skip
        got = await client.get(f"{capture.base_url}/realtime", headers=headers)

    assert got.status_code == 404


async def test_the_pieces_of_a_stream_are_passed_on_at_once(tmp_path: Path) -> None:
    """The server sends its second piece only when the client has the first."""
    has_first = asyncio.Event()

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(SSE_HEAD + chunk(delta={"role": "assistant", "content": "He"}))
        await writer.drain()
        await has_first.wait()
        writer.write(chunk(delta={"content": "llo"}, finish_reason="stop") + b"data: [DONE]\n\n")
        await writer.drain()

    async with through(behave, tmp_path / "out") as (_server, capture, client):
        async with client.stream("POST", f"{capture.base_url}/chat/completions", content=BODY) as got:
            pieces = got.aiter_raw()
            assert b'"He"' in await anext(pieces)
            has_first.set()
            rest = b"".join([piece async for piece in pieces])
        record = await capture.record()

    assert rest.endswith(b"data: [DONE]\n\n")
    (choice,) = record["response"]["choices"]
    assert choice == {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    assert [json.loads(data)["choices"][0]["delta"] for _, data in record["captured"]["events"][:2]] == [
        {"role": "assistant", "content": "He"},
        {"content": "llo"},
    ]


async def test_a_client_that_leaves_ends_the_servers_work_and_what_came_is_not_an_answer(tmp_path: Path) -> None:
    begun = SSE_HEAD + chunk(delta={"role": "assistant", "content": "He"})
    async with through(hang(begun), tmp_path / "out") as (server, capture, client):
        async with client.stream("POST", f"{capture.base_url}/chat/completions", content=BODY) as got:
            await anext(got.aiter_raw())
        async with asyncio.timeout(PATIENCE_S):
            await server.client_left.wait()
        record = await capture.record()

    assert record["captured"]["error"] == "the client disconnected before the end of the answer"
    assert "response" not in record
    assert record["partial"]["choices"][0]["message"]["content"] == "He"


async def test_a_client_that_leaves_after_the_last_event_has_a_whole_answer(tmp_path: Path) -> None:
    whole = chunk(delta={"role": "assistant", "content": "Hi"}, finish_reason="stop") + b"data: [DONE]\n\n"
    async with through(hang(SSE_HEAD + whole), tmp_path / "out") as (_server, capture, client):
        async with client.stream("POST", f"{capture.base_url}/chat/completions", content=BODY) as got:
            seen = b""
            async for piece in got.aiter_raw():
                seen += piece
                if b"[DONE]" in seen:
                    break
        record = await capture.record()

    assert record["response"]["choices"][0]["message"]["content"] == "Hi"
    assert record["captured"]["problems"] == []


async def test_what_is_under_way_when_the_capture_ends_is_kept(tmp_path: Path) -> None:
    begun = SSE_HEAD + chunk(delta={"role": "assistant", "content": "He"})
    async with through(hang(begun), tmp_path / "out") as (_server, capture, client):
        async with client.stream("POST", f"{capture.base_url}/chat/completions", content=BODY) as got:
            pieces = got.aiter_raw()
            await anext(pieces)
            capture.told.set()
            with pytest.raises(httpx.RemoteProtocolError):
                await anext(pieces)
        record = await capture.record()

    assert record["captured"]["error"] == "the capture was ended before the end of the answer"
    assert record["request"] == json.loads(BODY)


BREAKS: dict[str, Behaviour] = {
    "fewer bytes than promised": raw(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"choices\""),
    "a broken chunk": raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab\r\n\r\nzz"),
    "no last chunk": stream(chunk(delta={"content": "He"}), is_closed_properly=False),
    "reset midway": reset(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKS)
async def test_an_answer_that_breaks_off_breaks_off_for_the_client_and_is_not_an_answer(
    name: str, tmp_path: Path
) -> None:
    async with through(BREAKS[name], tmp_path / "out") as (_server, capture, client):
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(f"{capture.base_url}/chat/completions", content=BODY)
        record = await capture.record()

    assert record["captured"]["status"] == 200
    assert "broke off" in record["captured"]["error"]
    assert "response" not in record
    assert record["request"] == json.loads(BODY)


async def test_a_redirect_to_what_is_no_address_is_passed_on_and_not_followed(tmp_path: Path) -> None:
    odd = raw(b"HTTP/1.1 302 Found\r\nLocation: javascript:alert(1)\r\nContent-Length: 0\r\n\r\n")
    async with through(odd, tmp_path / "out") as (server, capture, client):
        with pytest.raises(httpx.InvalidURL):  # the client's library refuses it
            await client.post(f"{capture.base_url}/chat/completions", content=BODY)
        record = await capture.record()

    assert record["captured"]["status"] == 302
    assert len(server.received) == 1


@pytest.mark.parametrize("behaviour", [raw(b""), raw(b"SSH-2.0-x\r\n"), reset()])
async def test_a_server_that_gives_no_answer_is_reported_as_502(behaviour: Behaviour, tmp_path: Path) -> None:
    async with through(behaviour, tmp_path / "out") as (_server, capture, client):
        got = await client.post(f"{capture.base_url}/chat/completions", content=BODY)
        record = await capture.record()

    assert got.status_code == 502
    assert "without an answer" in got.json()["error"]["message"]
    assert record["captured"]["status"] is None
    assert record["request"] == json.loads(BODY)


async def test_a_server_that_is_not_there_is_reported_as_502(tmp_path: Path) -> None:
    with socket.socket() as ignoring:
        ignoring.bind(("127.0.0.1", 0))  # no one else can have the port, and no one listens on it
        upstream = f"http://127.0.0.1:{ignoring.getsockname()[1]}/v1"
        async with capturing(upstream, tmp_path / "out") as capture, patient_client() as client:
            got = await client.post(f"{capture.base_url}/chat/completions", content=BODY)

    assert got.status_code == 502
    assert "Is the server running" in got.json()["error"]["message"]


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
async def test_errors_come_as_they_are(status: int, tmp_path: Path) -> None:
    said: Any = {"error": {"message": "no"}}
    async with through(answer(status, said, retry_after="7"), tmp_path / "out") as (_server, capture, client):
        got = await client.post(f"{capture.base_url}/chat/completions", content=BODY)
        record = await capture.record()

    assert (got.status_code, got.json(), got.headers["retry-after"]) == (status, said, "7")
    assert (record["captured"]["status"], record["response"]) == (status, said)


async def test_an_endless_answer_is_passed_on_and_kept_within_bounds(tmp_path: Path) -> None:
    piece = b"data: " + b"x" * 1_000_000 + b"\n\n"
    async with through(drip(SSE_HEAD, piece, 0), tmp_path / "out") as (_server, capture, client):
        async with client.stream("POST", f"{capture.base_url}/chat/completions", content=BODY) as got:
            size = 0
            async for part in got.aiter_raw():
                size += len(part)
                if size > 40_000_000:
                    break
        record = await capture.record()

    assert record["captured"]["answered_bytes"] >= 40_000_000
    assert any("too long" in problem for problem in record["captured"]["problems"])
    assert len(json.dumps(record)) < 10_000


async def test_a_packed_bomb_goes_through_unopened(tmp_path: Path) -> None:
    bomb = gzip.compress(b"[" + b" " * 200_000_000 + b"]", 1)
    async with through(answer(200, bomb, content_encoding="gzip"), tmp_path / "out") as (server, capture, client):
        async with client.stream("POST", f"{capture.base_url}/chat/completions", content=BODY) as got:
            passed = b"".join([piece async for piece in got.aiter_raw()])
        record = await capture.record()

    assert passed == bomb
    assert server.received[0].headers["accept-encoding"] == "identity"
    assert "longer than 33,554,432 bytes when decompressed" in record["captured"]["problems"][0]
    assert "response" not in record


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"host": "evil.example"}, "Host"),
        ({"origin": "https://evil.example"}, "another site"),
        ({"origin": "null"}, "another site"),
        ({"origin": "http://localhost.evil.example"}, "another site"),
    ],
)
async def test_a_page_of_another_site_gets_nothing_through(headers: dict[str, str], word: str, tmp_path: Path) -> None:
    async with through(answer(200, CHAT), tmp_path / "out") as (server, capture, client):
        got = await client.post(f"{capture.base_url}/chat/completions", content=BODY, headers=headers)

    assert got.status_code == 403
    assert word in got.json()["error"]["message"]
    assert server.received == []


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:5173", "app://notes"])
async def test_a_page_of_this_machine_may_ask(origin: str, tmp_path: Path) -> None:
    async with through(answer(200, CHAT), tmp_path / "out") as (_server, capture, client):
        got = await client.post(f"{capture.base_url}/chat/completions", content=BODY, headers={"origin": origin})

    assert got.json() == CHAT


async def test_a_container_may_call_it_by_the_name_that_was_given(tmp_path: Path) -> None:
    name = "host.docker.internal"
    async with (
        faulty_server(answer(200, CHAT)) as server,
        patient_client() as client,
        capturing(server.base_url, tmp_path / "out", name.upper()) as capture,
    ):
        url = f"{capture.base_url}/chat/completions"
        got = await client.post(url, content=BODY, headers={"host": f"{name}:8765"})
        other = await client.post(url, content=BODY, headers={"host": "other.docker.internal:8765"})

    assert (got.json(), other.status_code) == (CHAT, 403)


@pytest.mark.parametrize("path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/./x"])
async def test_a_path_that_leads_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    async with faulty_server(answer(200, CHAT)) as server, capturing(server.base_url, tmp_path / "out") as capture:
        host, port = capture.base_url.removeprefix("http://").removesuffix("/v1").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        status = (await reader.read()).split(b" ", 2)[1]
        writer.close()
        await writer.wait_closed()

    assert status == b"400"
    assert server.received == []


async def test_a_client_that_leaves_in_the_middle_of_its_request_leaves_nothing_behind(tmp_path: Path) -> None:
    async with faulty_server(answer(200, CHAT)) as server, capturing(server.base_url, tmp_path / "out") as capture:
        host, port = capture.base_url.removeprefix("http://").removesuffix("/v1").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n"
        writer.write(head + b'{"messages"')
        await writer.drain()
        writer.close()
        record = await capture.record()

    assert record["captured"]["error"] == "the client disconnected before the end of the answer"
    assert "request" not in record


async def test_a_body_in_chunks_and_a_header_that_is_not_ascii_go_through(tmp_path: Path) -> None:
    """The body's length is unknown until its end, so it goes on in chunks."""
    asked = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.set_result((head, await reader.readuntil(b"0\r\n\r\n")))
        await answer(200, CHAT)(writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    upstream = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, capturing(upstream, tmp_path / "out") as capture:
        host, port = capture.base_url.removeprefix("http://").removesuffix("/v1").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-odd: caf\xe9\r\nconnection: close\r\n"
        writer.write(head + b'transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n')
        got = await reader.read()
        writer.close()
        await writer.wait_closed()
        record = await capture.record()
        head, body = await asked

    assert b"x-odd: caf\xe9" in head
    assert b"transfer-encoding: chunked" in head.lower()
    assert b"".join(line for line in body.split(b"\r\n") if line.startswith((b"{", b"1}"))) == b'{"a":1}'
    assert json.dumps(CHAT).encode() in got
    assert record["request"] == {"a": 1}
