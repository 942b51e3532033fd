"""The page itself is written once, whatever it is called."""

from __future__ import annotations

import asyncio

import pytest
from gradio.route_utils import get_root_url
from starlette.requests import Request

from prompt_debugger.ui.web.script_route import ScriptRoute, address_of


class Gradio:
    """Writes a page, and counts how often and how many at a time."""

    def __init__(self, status=200):
        self.status, self.written, self.at_once, self.most_at_once = status, [], 0, 0

    async def __call__(self, scope, receive, send):
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.written.append(dict(scope["headers"])[b"host"])
        await asyncio.sleep(0)
        self.at_once -= 1
        await send({"type": "http.response.start", "status": self.status, "headers": [(b"content-length", b"6")]})
        host = dict(scope["headers"])[b"host"]
        await send({"type": "http.response.body", "body": b'<head>"root":"http://%s"' % host})


async def ask(route, host="a", *headers, method="GET"):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": "/", "method": method, "headers": [(b"host", host.encode()), *headers]}
    await route({**scope, "query_string": b"x=1"}, None, send)
    start, body = sent
    start["headers"].append((b"added", b"by another layer"))
    return start["headers"][:-1], body["body"]


@pytest.fixture
def gradio():
    return Gradio()


async def test_many_who_ask_at_once_get_one_page(gradio):
    route = ScriptRoute(gradio)
    answers = await asyncio.gather(*(ask(route, "a", (b"user-agent", b"%d" % one)) for one in range(40)))

    assert gradio.written == [b"page.invalid"]
    assert all(answer == answers[0] for answer in answers)
    assert b"<script" in answers[0][1]


async def test_each_finds_the_address_by_which_they_came(gradio):
    route = ScriptRoute(gradio)
    names = [f"10.0.0.{number}:{number + 1}" for number in range(100)]
    answers = await asyncio.gather(*(ask(route, name) for name in names))

    assert len(gradio.written) == 1
    for name, (headers, body) in zip(names, answers, strict=True):
        assert body.endswith(f'"root":"http://{name}"'.encode())
        assert dict(headers)[b"content-length"] == str(len(body)).encode()


async def test_who_asks_under_ever_new_names_holds_up_no_one(gradio):
    """16 pages were kept, and written one by one: with 200 names at once another visitor waited 36 s for theirs."""
    route = ScriptRoute(gradio)
    for number in range(200):
        await ask(route, f"10.0.0.1:{number}", (b"x-forwarded-proto", b"%d" % number))

    assert len(gradio.written) == 1


async def test_who_asks_for_the_head_alone_gets_it_without_the_page(gradio):
    route = ScriptRoute(gradio)
    _, whole = await ask(route)
    headers, body = await ask(route, method="HEAD")

    assert (body, dict(headers)[b"content-length"]) == (b"", str(len(whole)).encode())
    assert len(gradio.written) == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("proto", [None, "http", "https", "https, http", "ftp"])
@pytest.mark.parametrize("forwarded", [None, "debug.example.org", "debug.example.org:444"])
@pytest.mark.parametrize("host", ["localhost:7860", "127.0.0.1:7860", "[::1]:7860", "page.example.org"])
def test_the_address_is_the_one_that_gradio_makes(host, forwarded, proto, scheme):
    given = {"host": host, "x-forwarded-host": forwarded, "x-forwarded-proto": proto}
    headers = [(name.encode(), value.encode()) for name, value in given.items() if value is not None]
    scope = {"type": "http", "scheme": scheme, "path": "/", "method": "GET", "headers": headers, "query_string": b""}

    assert address_of(scope).decode() == get_root_url(Request(scope), "/", None)


async def test_a_refusal_is_not_kept():
    gradio = Gradio(status=429)
    route = ScriptRoute(gradio)
    await ask(route)
    await ask(route)

    assert len(gradio.written) == 2
