"""What a page holds once its visitors have gone: as much as before they came, counted, not weighed."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections import Counter

import httpx
import pytest
from gradio.queueing import Event
from gradio.state_holder import SessionState

from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.web.admission.events import EventGuard
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.settings import PageSettings
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.ui.web.test_visitors import EchoServer, Visitor, request_of

KINDS = (Trace, Request, Event, SessionState)
ENDLESS = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
HOSTILE = json.dumps(
    {
        "messages": [{"role": "user", "content": "x" * 50_000}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": ENDLESS}}],
    }
)


@pytest.fixture(scope="module")
def served():
    with in_thread(EchoServer("", {})) as endpoint:
        blocks = build_app(PageSettings(target=Target(base_url=endpoint), port=0, lab=False, public=True))
        url = serve_app(blocks, PageSettings(target=Target(base_url=endpoint), port=0, lab=False, public=True))[1]
        yield url.rstrip("/"), blocks
        blocks.close(verbose=False)


def guard_of(blocks):
    """Return the page's own guard among the layers in front of it."""
    layer = blocks.app.middleware_stack
    while not isinstance(layer, EventGuard):
        layer = layer.app
    return layer


def held(blocks):
    """Return how much is held of visitors, by kind and by place."""
    gc.collect()
    queue = blocks._queue
    kinds = Counter(type(item) for item in gc.get_objects() if type(item) in KINDS)
    places = {
        "pages": len(guard_of(blocks).sessions),
        "sessions": len(blocks.state_holder.session_data),
        "messages": len(queue.pending_messages_per_session),
        "pending": len(queue.pending_event_ids_session),
        "events": len(queue.event_ids_to_events),
        "iterators": len(blocks.app.iterators),
        "jobs": sum(job is not None for job in queue.active_jobs),
    }
    return {kind.__name__: kinds[kind] for kind in KINDS} | places


async def all_leave(blocks):
    """Let so much time pass that every page that was closed is forgotten."""
    while blocks._queue.event_ids_to_events:  # what gradio does after the last message
        await asyncio.sleep(0)
    sessions = guard_of(blocks).sessions
    while any(seen.streams for seen in sessions._pages.values()):
        await asyncio.sleep(0)
    sessions._clock = lambda: time.monotonic() + 1_000
    sessions.forget_closed()
    while blocks._queue.event_ids_to_events:
        await asyncio.sleep(0)
    sessions._clock = time.monotonic


async def test_what_visitors_left_goes_with_them(served):
    url, blocks = served
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        await Visitor(url, blocks, "first").run(client, request_of("warm"))
    await all_leave(blocks)
    before = held(blocks)

    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        visitors = [Visitor(url, blocks, f"leaver{number}") for number in range(12)]
        for visitor in visitors:
            await visitor.run(client, HOSTILE if visitor is visitors[0] else request_of(visitor.session))
    during = held(blocks)
    await all_leave(blocks)

    assert during["sessions"] == 12
    assert during["Trace"] >= before["Trace"] + 12, "each page keeps its last run"
    assert held(blocks) == before
