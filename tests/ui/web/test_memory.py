"""How gradio keeps pages and lines, as far as ours reaches into it: a release that changes it fails here."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.ui.web.admission.counts import Use
from prompt_debugger.ui.web.admission.events import ANSWERED, CHARGE, VISITOR
from prompt_debugger.ui.web.admission.held import Owner
from prompt_debugger.ui.web.admission.kinds import Kind
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.memory import FairLine, PageMemory, Work, line_up_fairly
from prompt_debugger.ui.web.settings import PageSettings
from tests.core.sandbox import hostile
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


async def test_a_page_keeps_no_description_of_itself_and_is_drawn_whole_anyway(served):
    url, blocks = served
    visitor = Visitor(url, blocks, "plain")
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        await visitor.call(client, "check_request", REQUEST)

    kept = blocks.state_holder["plain"].config_values
    assert kept
    assert not any(kept.values())
    assert all(part["props"] for part in blocks.get_config_file()["components"] if part["type"] == "html")


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
    return SimpleNamespace(session_hash=page, enqueue_time=float(number), request=request, fn=function, alive=True)


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


def test_who_waits_in_a_line_is_known_by_visitor_and_page(served):
    _, blocks = served
    line = next(iter(blocks._queue.event_queue_per_concurrency_id.values()))
    line.queue[:] = [event("p", "v", 0)]
    waiting = PageMemory(blocks).waiting()
    line.queue.clear()

    assert waiting == [Owner("v", "p")]


async def test_what_an_event_takes_of_the_page_is_charged_to_its_visitor():
    charged = []
    one = event("p", "v", 0)
    one.request.scope[CHARGE] = charged.append
    await process(one)

    assert len(charged) == 2, "one for each step between which it waited"


async def process(one, *others):
    class WorkingQueue:
        def __init__(self):
            self.event_ids_to_events = dict(enumerate((one, *others)))

        async def process_events(self, events):
            await asyncio.sleep(0)

        async def clean_events(self):
            pass

    queue = WorkingQueue()
    Work(queue).watch()
    await asyncio.create_task(queue.process_events([one]))


@pytest.mark.parametrize(
    ("others", "is_alive", "said"),
    [((), True, 1), (("another page",), True, 1), (("p",), True, 0), ((), False, 0)],
    ids=["all is answered", "another page waits", "the page has asked for more", "the page has left"],
)
async def test_a_page_was_answered_once_it_waits_for_nothing_more(others, is_alive, said):
    told = []
    one = event("p", "v", 0)
    one.alive = is_alive
    one.request.scope[ANSWERED] = lambda: told.append("p")
    await process(one, *(event(page, "v", 0) for page in others))

    assert len(told) == said


class Endless:
    """A page whose one button asks the sandbox for something that never ends, in a thread or step by step."""

    def __init__(self, *, is_async):
        self.began, self.ended, self.limits = threading.Event(), threading.Event(), []
        with gr.Blocks() as self.blocks:
            button = gr.Button()
            button.click(self.ask_in_steps if is_async else self.ask, None, None, api_name="ask")

    def ask(self):
        self.began.set()
        for _ in range(2):  # what comes after the question that was ended is refused
            try:
                sandbox_of().call(hostile.search_for_ever)
            except SandboxError as error:
                self.limits.append(error.limit)
        self.ended.set()

    async def ask_in_steps(self):
        self.began.set()
        try:
            await sandbox_of().run(hostile.search_for_ever)
        except asyncio.CancelledError:
            self.limits.append("cancelled")
            raise
        finally:
            self.ended.set()


@pytest.fixture(params=[False, True], ids=["in a thread", "awaited"])
def endless(request):
    page = Endless(is_async=request.param)
    _, url, _ = page.blocks.launch(prevent_thread_lock=True, quiet=True, server_port=None)
    line_up_fairly(page.blocks)
    yield page, url.rstrip("/"), ["cancelled"] if request.param else ["stopped", "stopped"]
    page.blocks.close(verbose=False)


async def begin(client, url):
    body = {"data": [], "fn_index": 0, "session_hash": "leaver", "trigger_id": None}
    assert (await client.post(f"{url}/gradio_api/queue/join", json=body)).status_code == 200


async def test_work_of_a_visitor_who_leaves_is_ended(endless):
    page, url, ends = endless
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        await begin(client, url)
        async with client.stream("GET", f"{url}/gradio_api/queue/data?session_hash=leaver") as stream:
            await anext(stream.aiter_lines())
            assert await asyncio.to_thread(page.began.wait, PATIENCE_S)

        assert await asyncio.to_thread(page.ended.wait, PATIENCE_S)
    assert page.limits == ends


async def test_work_that_no_one_listens_for_is_ended_once_it_is_old(endless):
    page, url, ends = endless
    memory = PageMemory(page.blocks)
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        await begin(client, url)
        assert await asyncio.to_thread(page.began.wait, PATIENCE_S)
        [event] = page.blocks._queue.event_ids_to_events.values()
        memory.end_old("leaver", age_s=time.monotonic())
        assert event.alive
        memory.end_old("somebody else", age_s=0.0)
        assert event.alive
        memory.end_old("leaver", age_s=0.0)

        assert await asyncio.to_thread(page.ended.wait, PATIENCE_S)
    assert page.limits == ends
