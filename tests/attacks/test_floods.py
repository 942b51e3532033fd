"""One visitor floods a running page; another one is served, keeps their run, and the memory comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import httpx
import pytest

from prompt_debugger.ui.web.admission.kinds import PUBLIC_ADMISSION
from tests.attacks.page import RunningPage, Visitor

HOSTILE, HONEST = "127.0.0.66", "127.0.0.5"
FLOODING, BESIDE = "127.0.0.67", "127.0.0.6"  # who have opened no pages within this minute
CLICKED = {"index": 0, "value": {"form": "bundle"}}
SLOW_TEMPLATE = (
    "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}{{ messages[0].content }}"
)
STALLING = json.dumps({"messages": [{"role": "user", "content": "STALL"}]})
# How much more memory a page may hold after a flood than before: what the allocator keeps of what was freed.
SLACK_MB = 80.0


@pytest.fixture
async def stack() -> Any:
    async with AsyncExitStack() as stack:
        yield stack


async def hostile_pages(stack: AsyncExitStack, page: RunningPage, count: int, address: str = HOSTILE) -> list[Visitor]:
    return [await stack.enter_async_context(Visitor(page, address)) for _ in range(count)]


async def test_a_page_that_asks_for_too_much_is_told_so_in_words_that_the_page_shows(public: RunningPage) -> None:
    async with Visitor(public, HOSTILE) as visitor:
        answers = [await visitor.join("probe_template", SLOW_TEMPLATE) for _ in range(6)]
        refused = [answer for answer in answers if answer.status_code != 200]
        await visitor.leave()

    assert [answer.status_code for answer in refused] == [429] * len(refused) != []
    assert "template renders and probes in progress" in refused[0].json()["detail"]


@pytest.mark.parametrize("address", [HOSTILE, HONEST], ids=["another address", "the same address"])
async def test_pages_that_a_script_opens_take_no_ones_run(
    public: RunningPage, stack: AsyncExitStack, address: str
) -> None:
    """250 empty posts emptied gradio's 200 places, and everyone's run was gone."""
    honest = await stack.enter_async_context(Visitor(public, HONEST))
    ran = await honest.run("MINE")
    hostile = await stack.enter_async_context(Visitor(public, address))
    statuses = []
    for number in range(300):
        hostile.session = f"{hostile.session[:20]}-{number}"
        statuses.append((await hostile.click("end")).status_code)
    kept = await honest.ask("share", event_data=CLICKED)

    assert "ECHO MINE" in ran
    assert set(statuses) <= {200, 429}
    assert "application/json" in kept


async def test_who_sends_without_end_is_told_to_wait_and_others_are_answered(public: RunningPage) -> None:
    """Bodies that were refused counted for nothing, and reading them held everyone up."""
    body = b'{"data": [' + b"{}," * 1_300_000 + b"{}]}"
    headers = {"content-type": "application/json"}
    path = "/gradio_api/run/predict"  # what is for the queue might be held back, for longer than the minute
    statuses = set()
    async with Visitor(public, "127.0.8.99") as visitor, Visitor(public) as other:
        with suppress(httpx.TransportError):  # refused before all of it had come: the answer may be lost with it
            for _ in range(1 + (PUBLIC_ADMISSION.minute_bytes or 0) // len(body)):
                statuses.add((await visitor.client.post(path, content=body, headers=headers)).status_code)
        next_status = (await visitor.client.post("/gradio_api/cancel", content=b"{}", headers=headers)).status_code
        assert "process_completed" in await other.ask("check_request", "{}")
        async with Visitor(public, "127.0.8.99") as neighbour:
            assert "process_completed" in await neighbour.ask("check_request", "{}")

    assert statuses | {429} == {400, 429}
    assert next_status == 429
    assert public.faults() == []


async def test_names_of_sessions_hold_no_memory(running: RunningPage) -> None:
    """65 names of 3.9 MB held 257 MB."""
    async with Visitor(running, HOSTILE) as visitor:
        await visitor.ask("check_request", "{}")
    before = running.own_rss_mb()
    for number in range(30):
        async with Visitor(running, f"127.0.8.{number + 1}") as visitor:  # what one address sends is bounded, too
            visitor.session = f"{number}" + "x" * 3_500_000
            assert (await visitor.join("check_request", "{}")).status_code == 400
            assert (await visitor.click("end")).status_code == 400
            assert (
                await visitor.post("cancel", {"session_hash": visitor.session, "fn_index": 0, "event_id": "x"})
            ).status_code == 400

    assert running.own_rss_mb() < before + SLACK_MB


async def test_bodies_that_never_end_are_given_up_and_hold_no_one_up(
    running: RunningPage, stack: AsyncExitStack
) -> None:
    """400 of them stayed open for more than a minute."""
    url = httpx.URL(running.url)
    head = (
        "POST /gradio_api/queue/join HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        "content-length: 1000000\r\n\r\n" + "{" * 1_000
    )
    connections = []
    for _ in range(400):
        reader, writer = await asyncio.open_connection(url.host, url.port, local_addr=(HOSTILE, 0))
        writer.write(head.encode())
        await writer.drain()
        connections.append((reader, writer))
    honest = await stack.enter_async_context(Visitor(running, HONEST))
    answer = await honest.ask("check_request", "{}")
    ends = await asyncio.gather(*(reader.read() for reader, _ in connections))
    for _, writer in connections:
        writer.close()

    assert '"process_completed"' in answer
    assert {end.split()[1] for end in ends if end} <= {b"408"}
    assert len(ends) == 400, "the server closed every one"


async def test_pages_that_leave_give_their_places_back(public: RunningPage, stack: AsyncExitStack) -> None:
    """Stop and a closed tab take what waits out of the line."""
    leaver = await stack.enter_async_context(Visitor(public, HOSTILE))
    for _ in range(4):
        await leaver.join("probe_template", SLOW_TEMPLATE)
    listening = asyncio.create_task(leaver.listen())
    await asyncio.sleep(0)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    while (await leaver.join("probe_template", "x")).status_code == 429:
        await asyncio.sleep(0)

    assert '"process_completed"' in await leaver.listen()


@asynccontextmanager
async def flood(
    visitors: list[Visitor], event: str, *data: str, times: int = 1
) -> AsyncIterator[list[asyncio.Task[int]]]:
    """Ask for much from every page at once, and go on as soon as the first of it has begun; new pages are on trial.

    Yields:
        What was asked; each ends with the status of the answer once it may begin.
    """

    async def join(visitor: Visitor) -> int:
        return (await visitor.join(event, *data)).status_code

    joining = [asyncio.create_task(join(visitor)) for visitor in visitors for _ in range(times)]
    try:
        await asyncio.wait(joining, return_when=asyncio.FIRST_COMPLETED)
        yield joining
    finally:
        for task in joining:
            task.cancel()
        await asyncio.gather(*joining, return_exceptions=True)


async def test_probes_that_wait_leave_room_for_another_visitor(public: RunningPage, stack: AsyncExitStack) -> None:
    """62 of them gave everyone 503 for 100 s. Another visitor's probe, render and check are answered meanwhile."""
    hostile = await hostile_pages(stack, public, 60, FLOODING)
    async with flood(hostile, "probe_template", SLOW_TEMPLATE, times=3) as joining:
        honest = await stack.enter_async_context(Visitor(public, BESIDE))
        answers = [
            await honest.ask("check_request", "{}"),
            await honest.ask("probe_template", "{{ messages[0].content }}"),
            await honest.run("MINE"),
        ]
        begun = [task.result() for task in joining if task.done()]

    assert set(begun) <= {200, 429}
    assert 0 < len(begun) < len(joining), "the flood goes on"
    assert all('"process_completed"' in answer for answer in answers)
    assert "ECHO MINE" in answers[-1]


async def test_one_address_with_many_pages_leaves_others_their_run(public: RunningPage, stack: AsyncExitStack) -> None:
    """Its runs wait for a server that answers nothing; the other visitor's goes on at once."""
    hostile = await hostile_pages(stack, public, 40, FLOODING)
    async with flood(hostile, "run", STALLING) as joining:
        honest = await stack.enter_async_context(Visitor(public, BESIDE))
        ran = await honest.run("MINE")
        begun = [task.result() for task in joining if task.done()]

    assert set(begun) == {200}
    assert len(begun) < len(joining), "the flood goes on"
    assert "ECHO MINE" in ran
    assert "ahead of yours" not in ran
