"""A run that lost a call ends at once: vLLM's parsers are asked beside whatever is done next, and hold nothing up."""

import asyncio
import json
from contextlib import aclosing

import httpx
import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.limits import Limits
from prompt_debugger.ui.web.parse_tools import ParseTools
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.stops import until_asked
from prompt_debugger.ui.web.targets import TargetFields
from tests.patience import PATIENCE_S
from tests.ui.present.traces import dropped_call_trace
from tests.ui.web.test_stops import body, post
from tests.ui.web.test_visitors import Visitor

REQUEST = json.dumps({"messages": [{"role": "user", "content": "What's the weather in Paris?"}]})
ENDPOINT = "http://127.0.0.1:9/v1"
ONE_AT_A_TIME = Limits(runs_per_session=1)


class SilentEngine:
    """Parsers that never answer."""

    engine = "vllm"

    def __init__(self):
        self.is_asked = asyncio.Event()
        self.is_left = asyncio.Event()

    async def matrix(self, *_, **__):
        self.is_asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_left.set()


class NoEngine(SilentEngine):
    async def matrix(self, *_, **__):
        raise EngineError("There is no vLLM here.", "Install it.")


@pytest.fixture
def losing(monkeypatch):
    """Every run loses its call, without a server."""

    async def follow(_handlers, view, _request, _target):
        view.trace = dropped_call_trace()
        yield view.finish(view.trace)

    monkeypatch.setattr(Handlers, "_follow", follow)


@pytest.fixture
def handlers(losing):
    return Handlers(PageSettings(lab=False), PageLabs(LabPool(), enabled=False), ONE_AT_A_TIME)


def tools(engine):
    return ParseTools(PageSettings(lab=False), PageLabs(LabPool(), enabled=False), engine)


async def updates_of_a_run(handlers):
    return [one async for one in handlers.run(REQUEST, TargetFields(ENDPOINT, "", "", "none", "none"), "me")]


async def test_a_run_that_lost_a_call_ends_and_says_that_parsers_are_asked_next(handlers):
    updates = await updates_of_a_run(handlers)
    [last] = [one for one in updates if one.asks is not None]
    shown = unpack_payload(last.payloads["parser_matrix"])[0]

    assert (shown["state"], shown["asks"]) == ("running", True)
    assert last.trace is not None
    with handlers.gate.enter("me") as turn:
        assert handlers.gate.runs_ahead(turn) == 0, "its place is free"


async def test_parsers_that_never_answer_hold_up_no_other_run(handlers):
    engine = SilentEngine()

    async def ask():
        with handlers.stops.follow_question("me") as sign:
            steps = until_asked(tools(engine).lost_call(dropped_call_trace(), "", 1), sign)
            async with aclosing(steps):
                return [step async for step in steps if step.matrix is not None]

    asking = asyncio.ensure_future(ask())
    await engine.is_asked.wait()
    handlers.stops.expect("another page")
    assert not asking.done()

    handlers.stops.expect("me")
    second = await updates_of_a_run(handlers)

    assert [one.asks for one in second if one.asks is not None]
    assert await asking == [], "what they would have said belongs to another run"
    assert engine.is_left.is_set()


async def test_what_the_parsers_say_comes_with_the_verdict_of_that_run():
    [step] = [step async for step in tools(NoEngine()).lost_call(dropped_call_trace(), "", 7) if step.matrix]
    shown = unpack_payload(step.matrix)[0]

    assert (shown["state"], shown["sentence"], shown["hint"]) == ("error", "There is no vLLM here.", "Install it.")
    assert step.trace is None


async def test_on_the_page_the_next_run_begins_while_parsers_are_asked(losing, monkeypatch):
    is_asked, is_left = asyncio.Event(), asyncio.Event()
    here = asyncio.get_running_loop()

    async def lost_call(_tools, *_):
        here.call_soon_threadsafe(is_asked.set)
        try:
            await asyncio.Event().wait()
            yield None
        finally:
            here.call_soon_threadsafe(is_left.set)

    monkeypatch.setattr(ParseTools, "lost_call", lost_call)
    settings = PageSettings(port=0, lab=False)
    blocks = build_app(settings)
    url = serve_app(blocks, settings)[1].rstrip("/")
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            page = Visitor(url, blocks, "page-that-asks")
            join = f"{url}/gradio_api/queue/join"
            await client.post(join, json=body(page, "ask_lost_call"))
            listening = f"{url}/gradio_api/queue/data?session_hash={page.session}"
            async with client.stream("GET", listening) as stream:
                await is_asked.wait()
                await post(page, client, "begin")
                [*_] = [line async for line in stream.aiter_lines()]
            assert is_left.is_set()
            await page.call(client, "run", REQUEST, ENDPOINT)
        assert "the server returned none" in page.everything_drawn()
    finally:
        blocks.close(verbose=False)
