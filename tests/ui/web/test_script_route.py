"""The page itself is written once for each name under which it is reached."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.ui.web import script_route
from prompt_debugger.ui.web.script_route import ScriptRoute


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
        await send({"type": "http.response.body", "body": b"<head>"})


async def ask(route, host="a", *headers):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": "/", "method": "GET", "headers": [(b"host", host.encode()), *headers]}
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

    assert gradio.written == [b"a"]
    assert all(answer == answers[0] for answer in answers)
    assert b"<script" in answers[0][1]


async def test_each_name_has_a_page_of_its_own_and_they_are_written_one_by_one(gradio):
    route = ScriptRoute(gradio)
    await asyncio.gather(*(ask(route, name) for name in "abc"), ask(route, "a", (b"x-forwarded-proto", b"https")))

    assert sorted(gradio.written) == [b"a", b"a", b"b", b"c"]
    assert gradio.most_at_once == 1


async def test_few_pages_are_kept(gradio):
    route = ScriptRoute(gradio)
    for number in range(2 * script_route._MAX_PAGES):
        await ask(route, str(number))

    assert len(route._pages) == script_route._MAX_PAGES


async def test_a_refusal_is_not_kept():
    gradio = Gradio(status=429)
    route = ScriptRoute(gradio)
    await ask(route)
    await ask(route)

    assert len(gradio.written) == 2
