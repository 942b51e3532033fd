"""Every way a server fails becomes one error that says what, where and what next, and never shows the key."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable

import httpx
import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete import ServerClient, Timeouts
from prompt_debugger.core.complete.backends.failures import Call, failure_of_transport
from tests.core.complete.faulty_server import (
    Behaviour,
    FaultyServer,
    answer,
    chunk,
    drip,
    faulty_server,
    hang,
    raw,
    reset,
    stream,
)

KEY = "sk-very-secret-value"
BODY: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "hi \ud800"}]}
SILENCE = Timeouts(read_s=0.3)
SLOWNESS = Timeouts(total_s=1)

HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
HAPROXY = b"<html><body><h1>%s</h1>\n%s\n</body></html>\n"
NGINX = b"<html>\r\n<head><title>%s</title></head>\r\n<body>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

STATUSES: dict[str, tuple[Behaviour, list[str], str]] = {
    "openai error": (
        answer(400, {"error": {"message": "bad field", "param": "x"}}), ["400 Bad Request: bad field"], "message says"
    ),
    "error as text": (answer(400, {"error": "nope"}), ["400 Bad Request: nope"], "message says"),
    "fastapi detail": (answer(404, {"detail": "Not Found"}), ["404 Not Found: Not Found"], "/v1"),
    "fastapi details": (
        answer(422, {"detail": [{"loc": ["body"], "msg": "field required"}]}), ["field required"], "not accept"
    ),
    "html": (answer(500, HTML, "text/html"), ["500 Internal Server Error", "titled '502 Bad Gateway'"], "log"),
    "empty": (answer(503), ["503 Service Unavailable"], "log"),
    "plain": (answer(502, b"upstream\ngone", "text/plain"), ["502 Bad Gateway: upstream gone"], "log"),
    "key": (answer(401, {"error": {"message": f"wrong key {KEY}"}}), ["401", "[removed]"], "--api-key-env"),
    "limit": (answer(429, {"error": {"message": "slow down"}}, retry_after="7"), ["429", "slow down"], "wait 7 s"),
    "redirect": (answer(307, b"", location="https://other.example/v1"), ["to https://other.example/v1"], "trust"),
    "JSON text": (answer(400, "just words"), ["400 Bad Request: just words"], "message says"),
    "JSON without words": (answer(400, {"code": 7}), ["400 Bad Request"], "message says"),
    "error object": (answer(400, {"error": {"code": 7}}), ['{"code": 7}'], "message says"),
    "page without title": (answer(502, b"<html>", "text/html"), ["a web page"], "log"),
    "redirect to sign in": (
        answer(302, b"", location="/sso?next=%2Fv1"), ["a redirect to /sso?next="], "page to sign in"
    ),
    "redirect within an address that only sounds like it": (
        answer(308, b"", location="https://ssogateway.example/v1/loginless"), ["to https://ssogateway"], "trust"
    ),
    "page without title, with words": (
        answer(429, b"<html><body><h1>429</h1>\nToo many requests.</body></html>", "text/html"),
        ["a web page that says '429 Too many requests.'"], "limits the request rate",
    ),
    "page that forbids": (answer(403, b"<html><title>403</title></html>", "text/html"), ["a web page"], "it allows"),
    "no server behind Envoy": (answer(503, b"no healthy upstream", "text/plain"), ["no healthy"], "health check"),
    "redirect to nowhere": (answer(304), ["to nowhere"], "trust"),
    "page of a proxy that wants https": (
        answer(413, b"<html><title>413 Request Entity Too Large</title></html>", "text/html"), ["a web page"], "limit"
    ),
    "page elsewhere": (answer(404, HTML, "text/html"), ["a web page"], "/v1"),
    "no quota": (
        answer(429, {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}),
        ["exceeded your current quota"], "waiting does not help",
    ),
    "quota by its code": (
        answer(429, {"error": {"message": "No.", "code": "insufficient_quota"}}), ["No."], "waiting does not help"
    ),
    "loading": (answer(503, {"error": {"code": 503, "message": "Loading model"}}), ["Loading model"], "Wait until"),
    "a name and a password": (
        answer(401, b"", "text/plain", www_authenticate='Basic realm="Team"'), ["401"], "a user name and a password"
    ),
    "a page for a name and a password": (
        answer(401, b"<html><title>401</title></html>", "text/html", www_authenticate='Basic realm="Team"'),
        ["a web page"], "a user name and a password",
    ),
    "a key or a password": (answer(401, b"", "text/plain", www_authenticate="Bearer"), ["401"], "--api-key-env"),
    "Envoy's own words": (
        answer(413, b"Payload Too Large", "text/plain", server="envoy"), ["Too Large"], "`max_request_bytes`"
    ),
    "Envoy's silence": (answer(503, b"", server="envoy"), ["503"], "it asked no server"),
    "Envoy that waited": (
        answer(504, b"upstream request timeout", "text/plain", server="istio-envoy"), ["timeout"], "`VirtualService`"
    ),
    "what Envoy passes on": (
        answer(504, b"upstream request timeout", "text/plain", server="envoy", x_envoy_upstream_service_time="3"),
        ["timeout"], "A gateway stopped waiting",
    ),
    "what an application behind Envoy says": (
        answer(503, {"error": "worker gone"}, server="envoy"), ["worker gone"], "check its log"
    ),
    "Caddy that waited": (answer(504, b"", server="Caddy"), ["504"], "`response_header_timeout`"),
    "Caddy without a server": (answer(502, b"", server="Caddy"), ["502"], "`reverse_proxy`"),
    "HAProxy that waited": (
        answer(504, HAPROXY % (b"504 Gateway Time-out", b"The server didn't respond in time."), "text/html"),
        ["a web page"], "`timeout server`",
    ),
    "HAProxy without a server": (
        answer(503, HAPROXY % (b"503 Service Unavailable", b"No server is available to handle this request."),
               "text/html"), ["a web page"], "its `check`",
    ),
    "nginx that waited": (answer(504, NGINX % b"504 Gateway Time-out", "text/html"), ["page"], "`proxy_read_timeout`"),
    "nginx and a large body": (
        answer(413, NGINX % b"413 Request Entity Too Large", "text/html"), ["page"], "`client_max_body_size` (1 MB"
    ),
    "Apache that waited": (
        answer(504, b"<html><title>504</title><address>Apache/2.4.62 (Debian) Server at x Port 80</address></html>",
               "text/html"), ["page"], "`ProxyTimeout`",
    ),
    "AWS without a server": (
        answer(503, b"<html><title>503</title></html>", "text/html", server="awselb/2.0"), ["page"], "target group"
    ),
    "headers too large": (answer(431), ["431"], "large_client_header_buffers"),
    "a gateway without words": (answer(502), ["502 Bad Gateway"], "A gateway reports"),
    "a gateway that waited": (answer(504), ["504"], "A gateway stopped waiting"),
    "a page that it waited": (
        answer(504, b"<html><title>504 Gateway Time-out</title></html>", "text/html"), ["a web page"], "stopped waiting"
    ),
    "odd status": (answer(599, b"\xff\xfe"), ["599"], "log"),
    "error cut short": (raw(b"HTTP/1.1 500 X\r\ncontent-length: 99\r\n\r\n{\"err"), ["500", '{"err'], "log"),
}  # fmt: skip

BREAKS: dict[str, tuple[Behaviour, str, str]] = {
    "closed at once": (raw(b""), "broken-answer", "without an answer"),
    "reset at once": (reset(), "broken-answer", "without an answer"),
    "no HTTP": (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "broken-answer", "without an answer"),
    "silent": (hang(), "timeout", "nothing was received for 0.3 s"),
    "silent midway": (hang(HEAD + b"content-length: 9\r\n\r\n{"), "timeout", "nothing was received for 0.3 s"),
    "slow loris": (drip(HEAD + b"content-length: 99999\r\n\r\n", b" ", 0.02), "timeout", "not complete within 1 s"),
    "slow headers": (drip(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", 0.02), "timeout", "not complete within 1 s"),
    "cut body": (raw(HEAD + b'content-length: 99\r\n\r\n{"choices"'), "broken-answer", "broke off"),
    "reset midway": (reset(HEAD + b"content-length: 99\r\n\r\n{"), "broken-answer", "broke off"),
    "50 MB": (answer(200, b" " * 50_000_000), "too-large", "larger than 32 MB"),
    "endless": (drip(SSE_HEAD, b"x" * 1_000_000, 0), "too-large", "larger than 32 MB"),
    "web page": (answer(200, HTML, "text/html"), "not-json", "200 with a web page titled '502 Bad Gateway'"),
    "cut JSON": (answer(200, b'{"choices": ['), "not-json", "which is not JSON"),
    "nested too deeply": (answer(200, b"[" * 100_000), "not-json", "nested too deeply"),
    "huge number": (answer(200, b"9" * 5000), "not-json", "which is not JSON"),
}


async def fails(server: FaultyServer, timeouts: Timeouts | None = None) -> BackendError:
    async with ServerClient(server.base_url, api_key=KEY, timeouts=timeouts) as client:
        with pytest.raises(BackendError) as caught:
            await client.chat(BODY)
    assert KEY not in str(caught.value.to_json())
    return caught.value


@pytest.mark.parametrize("name", STATUSES)
async def test_a_bad_status_is_reported_in_the_servers_words(name: str) -> None:
    behaviour, words, hint = STATUSES[name]

    async with faulty_server(behaviour) as server:
        error = await fails(server)

    of_proxy = "page" if "page" in error.message else "proxy"
    assert error.kind == (of_proxy if "answered in place of" in error.hint or of_proxy == "page" else "status")
    assert error.message.startswith(f"POST {server.base_url}/chat/completions answered ")
    assert [word for word in words if word not in error.message] == []
    assert hint in error.hint


@pytest.mark.parametrize("page", [HTML, b"\n<!DOCTYPE html><p>Welcome"])
async def test_a_web_page_in_place_of_a_stream_is_reported_as_one(page: bytes) -> None:
    async with faulty_server(answer(200, page, "text/html")) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError, match="answered 200 with a web page"):
            await client.chat_stream(BODY)


@pytest.mark.parametrize("name", BREAKS)
async def test_a_broken_answer_is_recognized_by_kind(name: str) -> None:
    behaviour, kind, words = BREAKS[name]

    async with faulty_server(behaviour) as server:
        error = await fails(server, {"nothing was ": SILENCE, "not complete": SLOWNESS}.get(words[:12]))

    assert (error.kind, words in error.message) == (kind, True), error.message
    assert error.message.startswith(f"POST {server.base_url}/chat/completions")


async def test_the_body_of_an_error_is_kept_but_not_all_of_it() -> None:
    async with faulty_server(answer(500, b"x" * 100_000)) as server:
        error = await fails(server)

    assert error.body == "x" * 1999 + "…"


async def test_a_redirect_is_not_followed_and_takes_no_key_along() -> None:
    async with (
        faulty_server(answer(200, {"choices": []})) as other,
        faulty_server(answer(302, b"", location=f"{other.base_url}/chat/completions")) as server,
    ):
        await fails(server)

    assert other.received == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:22/",
        "//10.0.0.1/v1",
        "gopher://127.0.0.1:6379/_INFO",
        "/v1/chat/completions",
        "javascript:alert(1)",
    ],
)
async def test_no_redirect_leads_anywhere_not_even_to_itself(status: int, target: str) -> None:
    """One that is not followed has no chain: the server is asked once, and its target is told as text."""
    async with faulty_server(answer(status, b"", location=target)) as server:
        error = await fails(server)

        assert len(server.received) == 1

    assert "redirect" in error.message
    assert "which is not followed" in error.message


async def test_the_key_travels_as_bearer_token_and_the_body_as_plain_ascii() -> None:
    async with (
        faulty_server(answer(200, {"choices": []})) as server,
        ServerClient(server.base_url, api_key=KEY) as client,
    ):
        await client.chat(BODY)

    request = server.received[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert b"\\ud800" in request.body
    assert request.body.isascii()


async def test_no_cookie_is_kept() -> None:
    async with (
        faulty_server(answer(200, {"choices": []}, set_cookie="a=b")) as server,
        ServerClient(server.base_url) as client,
    ):
        await client.chat(BODY)
        await client.chat(BODY)

    assert "cookie" not in server.received[1].headers


async def test_a_port_where_no_one_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with ServerClient(f"http://127.0.0.1:{port}/v1") as client:
        with pytest.raises(BackendError) as caught:
            await client.probe()

    assert caught.value.kind == "unreachable"
    assert f"127.0.0.1:{port}/v1/models: no connection" in caught.value.message
    assert f"listening on port {port}" in caught.value.hint


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (httpx.ConnectTimeout(""), "unreachable", "no connection within 5 s"),
        (httpx.WriteTimeout(""), "timeout", "could not be sent in time"),
        (httpx.LocalProtocolError(f"bad header {KEY}"), "refused", "cannot be sent: bad header [removed]"),
        (httpx.ReadError(""), "broken-answer", "(ReadError)"),
    ],
)
def test_what_no_loopback_server_can_show_is_reported_as_well(error: httpx.HTTPError, kind: str, words: str) -> None:
    shown = failure_of_transport(Call("POST", "http://h/v1", KEY), error, Timeouts(connect_s=5), began=False)

    assert (shown.kind, words in shown.message) == (kind, True), shown.message


async def test_a_host_that_does_not_exist() -> None:
    async with ServerClient("http://nowhere.invalid/v1") as client:
        with pytest.raises(BackendError) as caught:
            await client.chat(BODY)

    assert (caught.value.kind, "`nowhere.invalid` was not found" in caught.value.message) == ("unreachable", True)


async def test_https_to_a_port_that_speaks_plain_http() -> None:
    async with (
        faulty_server(answer(200, {})) as server,
        ServerClient(server.base_url.replace("http:", "https:")) as client,
    ):
        with pytest.raises(BackendError) as caught:
            await client.chat(BODY)

    assert (caught.value.kind, caught.value.hint) == ("tls", "Try http://.")
    assert "the server does not speak https" in caught.value.message


async def test_plain_http_to_a_port_that_speaks_https(certificate: ssl.SSLContext) -> None:
    async with (
        faulty_server(answer(200, {}), tls=certificate) as server,
        ServerClient(server.base_url.replace("https:", "http:")) as client,
    ):
        with pytest.raises(BackendError) as caught:
            await client.chat(BODY)

    assert caught.value.kind == "broken-answer"
    assert "https" in caught.value.hint


async def test_a_certificate_that_no_one_vouches_for(certificate: ssl.SSLContext) -> None:
    async with (
        faulty_server(answer(200, {}), tls=certificate) as server,
        ServerClient(server.base_url, api_key=KEY) as client,
    ):
        with pytest.raises(BackendError) as caught:
            await client.chat(BODY)

    assert caught.value.kind == "tls"
    assert "certificate is not trusted" in caught.value.message
    assert server.received == []


Start = Callable[[ServerClient], Awaitable[object]]
CALLS: dict[str, Start] = {
    "chat": lambda client: client.chat(BODY),
    "chat_stream": lambda client: client.chat_stream(BODY),
    "complete": lambda client: client.complete([1, 2], {}, lambda text: None),
    "probe": lambda client: client.probe(),
}
HALF: dict[str, Behaviour] = {
    "before the": hang(),
    "in its middle": hang(SSE_HEAD + chunk(delta={"content": "a"}, text="a")),
}


@pytest.mark.parametrize("when", HALF)
@pytest.mark.parametrize("name", CALLS)
async def test_cancelling_closes_the_connection(name: str, when: str) -> None:
    async with faulty_server(HALF[when]) as server, ServerClient(server.base_url) as client:
        task = asyncio.ensure_future(CALLS[name](client))
        await server.got_request.wait()

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        await server.client_left.wait()


async def test_a_finished_stream_does_not_wait_for_the_server_to_hang_up() -> None:
    async with faulty_server(
        hang(SSE_HEAD + chunk(delta={"content": "a"}, finish_reason="stop") + b"data: [DONE]\n\n")
    ) as server:
        async with ServerClient(server.base_url) as client:
            result = await client.chat_stream(BODY)
        await server.client_left.wait()

    assert (result.message, result.error) == ({"content": "a"}, None)


async def test_a_failing_listener_does_not_leave_the_connection_open() -> None:
    def listen(delta: object) -> None:
        raise RuntimeError("the listener fails")

    async with faulty_server(HALF["in its middle"]) as server, ServerClient(server.base_url) as client:
        with pytest.raises(RuntimeError, match="the listener fails"):
            await client.chat_stream(BODY, listen)
        await server.client_left.wait()


async def test_a_stream_with_a_bad_status_is_an_error_too() -> None:
    async with faulty_server(answer(500, HTML, "text/html")) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError) as caught:
            await client.chat_stream(BODY)

    assert (caught.value.kind, caught.value.status) == ("page", 500)


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (stream(b'data: {"choices": [{"index": 0, "text": "a"}]}\n\n', is_closed_properly=False), "broken-answer"),
        (stream(b'data: {"choices": [{"index": 0, "text": "a"}]}\n\n'), "broken-stream"),
        (stream(b'data: {"error": {"message": "engine died"}}\n\n'), "broken-stream"),
        (stream(b"data: nothing\n\n"), "broken-stream"),
        (stream(b"data: [DONE]\n\n"), "odd-answer"),
        (answer(200, {"choices": None}), "odd-answer"),
    ],
)
async def test_half_a_raw_completion_is_not_a_completion(behaviour: Behaviour, kind: str) -> None:
    async with faulty_server(behaviour) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError) as caught:
            await client.complete([1], {}, lambda text: None)

    assert caught.value.kind == kind
    assert caught.value.body


async def test_a_server_that_does_not_stream_raw_completion_is_read_whole() -> None:
    body: JSON = {"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}]}
    texts: list[str] = []
    async with faulty_server(answer(200, body)) as server, ServerClient(server.base_url) as client:
        found = await client.complete([1], {}, texts.append)

    assert (found.text, found.finish_reason, texts) == ("a", "stop", ["a"])


async def test_a_raw_stream_may_end_without_its_last_empty_line() -> None:
    event = b'data: {"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}]}'
    async with faulty_server(stream(event)) as server, ServerClient(server.base_url) as client:
        found = await client.complete([1], {}, lambda text: None)

    assert (found.text, found.finish_reason) == ("a", "stop")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A server context whose certificate no one but itself has signed."""
    pytest.importorskip("cryptography", reason="makes the certificate; comes along with vLLM")
    from tests.core.complete.certificates import self_signed_context

    return self_signed_context(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize(
    "behaviour",
    [
        answer(400, b"Client sent an HTTP request to an HTTPS server.\n", "text/plain"),
        answer(400, b"<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>", "text/html"),
        raw(b"\x15\x03\x01\x00\x02\x02\x46"),
    ],
)
async def test_a_port_that_speaks_https_says_so(behaviour: Behaviour) -> None:
    async with faulty_server(behaviour) as server:
        error = await fails(server)

    assert error.kind == "tls"
    assert "https://" in error.hint
