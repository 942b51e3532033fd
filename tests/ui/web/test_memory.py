"""How gradio keeps pages and lines, as far as ours reaches into it: a release that changes it fails here."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import httpx
import pytest

from prompt_debugger.ui.web.door.counts import Use
from prompt_debugger.ui.web.door.events import VISITOR
from prompt_debugger.ui.web.door.kinds import Kind
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.memory import FairLine, PageMemory
from prompt_debugger.ui.web.settings import PageSettings
from tests.patience import PATIENCE_S
from tests.ui.web.test_visitors import Visitor

REQUEST = json.dumps({"messages": [{"role": "user", "content": "x"}]})


@pytest.fixture(scope="module")
def served():
    settings = PageSettings(port=0, lab=False, public=True)
    blocks = build_app(settings)
    url = serve_app(blocks, settings)[1].rstrip("/")
    yield url, blocks
    blocks.close(verbose=False)


async def test_what_a_page_left_is_seen_and_dropped(served):
    url, blocks = served
    memory = PageMemory(blocks)
    visitor = Visitor(url, blocks, "leaver")
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        await visitor.call(client, "check_request", REQUEST)
        while memory.is_busy("leaver"):  # what gradio does after the last message
            await asyncio.sleep(0)
        assert not memory.holds("leaver"), "nothing of worth was left"
        blocks.state_holder["leaver"].state_data[1] = "a run"
        assert memory.holds("leaver")
        memory.forget("leaver")

    assert not memory.holds("leaver")
    assert "leaver" not in blocks.state_holder.session_data
    assert "leaver" not in blocks._queue.pending_messages_per_session
    assert "leaver" not in blocks._queue.pending_event_ids_session


async def test_an_event_that_ended_is_not_in_use(served):
    url, blocks = served
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        for _ in range(5):
            await Visitor(url, blocks, "ender").call(client, "check_request", REQUEST)
    while blocks._queue.event_ids_to_events:  # what gradio does after the last message
        await asyncio.sleep(0)

    assert PageMemory(blocks).in_use() == []


def test_every_line_of_the_page_is_a_fair_one(served):
    _, blocks = served
    lines = blocks._queue.event_queue_per_concurrency_id
    queued = {function.concurrency_id for function in blocks.fns.values() if function.queue}

    assert set(lines) == queued
    assert all(isinstance(line.queue, FairLine) for line in lines.values())


def event(page, visitor, number, kind="run"):
    request, function = SimpleNamespace(scope={VISITOR: visitor}), SimpleNamespace(api_name=kind)
    return SimpleNamespace(session_hash=page, enqueue_time=float(number), request=request, fn=function)


def line_of(*events, going_on=()):
    line = FairLine(lambda: going_on)
    for one in events:
        line.append(one)
    return [(one.session_hash, one.enqueue_time) for one in line]


def test_pages_take_turns_whatever_one_has_put_into_the_line():
    flood = [event("flood", "f", number) for number in range(5)]

    assert line_of(*flood, event("late", "l", 9))[:3] == [("flood", 0.0), ("late", 9.0), ("flood", 1.0)]


def test_a_visitor_with_many_pages_takes_turns_with_the_others():
    flood = [event(f"page {number}", "f", number) for number in range(5)]

    assert line_of(*flood, event("late", "l", 9))[1] == ("late", 9.0)


def test_what_goes_on_counts_as_had():
    waiting = [event("flood", "f", 3), event("late", "l", 9)]

    assert line_of(*waiting, going_on=[event("flood", "f", 0)])[0] == ("late", 9.0)


def test_who_came_first_is_first_among_equals():
    assert line_of(*(event(f"p{number}", f"v{number}", number) for number in range(4))) == [
        (f"p{number}", float(number)) for number in range(4)
    ]


def test_an_event_is_counted_by_its_kind_its_page_and_its_visitor(served):
    _, blocks = served
    blocks._queue.event_ids_to_events["x"] = event("p", "v", 0, "probe_template")
    found = PageMemory(blocks).in_use()
    del blocks._queue.event_ids_to_events["x"]

    assert found == [Use(Kind.TEMPLATE, "p", "v")]
