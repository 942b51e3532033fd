"""A browser that sends its request for the answers again gets all of them by the newer connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.one_listener import ReplacedError, take_over
from prompt_debugger.ui.web.settings import PageSettings
from tests.core.complete.faulty_server import FaultyServer, answer
from tests.patience import PATIENCE_S
from tests.threads import in_thread

PAGE = "page"


@pytest.fixture
def endpoint() -> Iterator[str]:
    with in_thread(FaultyServer("", {"*": answer(500, {"error": "no"})})) as url:
        yield url


async def read(messages: dict[str, asyncio.Queue[Any]], got: list[Any], took: asyncio.Event) -> None:
    take_over(messages, PAGE)
    took.set()
    while True:
        got.append(await asyncio.wait_for(messages[PAGE].get(), timeout=600))


async def listening(messages: dict[str, asyncio.Queue[Any]], got: list[Any]) -> asyncio.Task[None]:
    took = asyncio.Event()
    task = asyncio.create_task(read(messages, got, took))
    await took.wait()
    return task


async def until_read(messages: dict[str, asyncio.Queue[Any]]) -> None:
    while not messages[PAGE].empty():
        await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_newer_connection_gets_every_message_and_the_older_one_ends():
    messages: dict[str, asyncio.Queue[Any]] = {PAGE: asyncio.Queue()}
    older, newer = [], []
    first = await listening(messages, older)
    messages[PAGE].put_nowait("before")
    await until_read(messages)

    second = await listening(messages, newer)
    for number in range(5):
        messages[PAGE].put_nowait(number)
        await until_read(messages)

    assert (older, newer) == (["before"], [0, 1, 2, 3, 4])
    with pytest.raises(ReplacedError):
        await first
    second.cancel()


async def test_a_message_that_the_older_one_was_about_to_take_is_not_lost():
    messages: dict[str, asyncio.Queue[Any]] = {PAGE: asyncio.Queue()}
    older, newer = [], []
    first = await listening(messages, older)
    await until_read(messages)

    second = asyncio.create_task(read(messages, newer, asyncio.Event()))  # which runs first
    messages[PAGE].put_nowait("a")  # the older one is woken, and has not read yet
    messages[PAGE].put_nowait("b")
    await asyncio.sleep(0)
    await until_read(messages)

    assert older + newer == ["a", "b"]
    assert "b" in newer
    assert first.done()
    second.cancel()


async def test_what_waited_before_anyone_listened_comes_in_its_order():
    plain: asyncio.Queue[Any] = asyncio.Queue()
    messages: dict[str, asyncio.Queue[Any]] = {PAGE: plain}
    for number in range(3):
        plain.put_nowait(number)
    got: list[Any] = []

    task = await listening(messages, got)
    await until_read(messages)

    assert got == [0, 1, 2]
    task.cancel()


def test_a_page_without_messages_is_left_to_gradio():
    messages: dict[str, asyncio.Queue[Any]] = {}

    assert not take_over(messages, PAGE)()
    assert messages == {}


async def test_a_page_that_asks_for_its_answers_again_reads_all_of_them_by_the_newer_connection(endpoint: str):
    settings = PageSettings(target=Target(base_url=endpoint), port=0, lab=False)
    blocks = build_app(settings)
    url = serve_app(blocks, settings)[1].rstrip("/")
    run = next(one for one in blocks.config["dependencies"] if one["api_name"] == "run")
    text = json.dumps({"messages": [{"role": "user", "content": "a"}]})
    values = [text, "", "", "", "none", "none", *[None] * (len(run["inputs"]) - 6)]
    body = {"data": values, "fn_index": run["id"], "session_hash": PAGE, "trigger_id": None}
    answers = f"{url}/gradio_api/queue/data?session_hash={PAGE}"

    async def kinds_of(stream: httpx.Response) -> list[str]:
        return [json.loads(line[6:])["msg"] async for line in stream.aiter_lines() if line.startswith("data: ")]

    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        assert (await client.post(f"{url}/gradio_api/queue/join", json=body)).status_code == 200
        async with client.stream("GET", answers) as stream:
            expected = await kinds_of(stream)
        async with client.stream("GET", answers) as older, client.stream("GET", answers) as newer:
            assert (await client.post(f"{url}/gradio_api/queue/join", json=body)).status_code == 200
            kinds = await kinds_of(newer)
            assert await kinds_of(older) == []
    blocks.close(verbose=False)

    assert {*kinds} == {*expected}
    assert kinds[-2:] == ["process_completed", "close_stream"]
