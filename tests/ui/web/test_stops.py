"""Stop ends a run with what had come; a run whose request has left the page ends silently; nothing else is hit."""

from __future__ import annotations

import asyncio
import json
import re

import httpx
import pytest

from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from tests.conftest import ROOT
from tests.core.complete.faulty_server import answer, chunk, drip, faulty_server, hang
from tests.patience import PATIENCE_S
from tests.ui.web.test_visitors import Visitor

REQUEST = json.dumps(
    {"messages": [{"role": "user", "content": "What's the weather in Paris?"}], "temperature": 0, "stream": True}
)
MODELS = answer(200, {"data": [{"id": "m"}]})
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
WORDS = "half an answ"


BEHAVIOURS = {
    "/v1/models": MODELS,
    "/v1/chat/completions#stream": hang(SSE_HEAD + chunk(delta={"content": WORDS})),
    "/v1/chat/completions": hang(),
    "*": answer(404),
}


@pytest.fixture
def handlers():
    return Handlers(PageSettings(lab=False), PageLabs(LabPool(), enabled=False))


def start(handlers, server):
    return handlers.run(REQUEST, TargetFields(server.base_url, "", "", "none", "none"), "me")


def shown(update, view):
    payload = update.payloads.get(view)
    return None if not payload else unpack_payload(payload)[0]


async def until_words_come(updates):
    async for update in updates:
        if WORDS in json.dumps(shown(update, "completion")):
            return
    raise AssertionError("the answer never came")


async def test_a_stopped_run_says_so_and_keeps_what_had_come(handlers):
    async with faulty_server(BEHAVIOURS) as server:
        updates = start(handlers, server)
        await until_words_come(updates)
        handlers.stops.stop("me")
        rest = [update async for update in updates]
        await server.client_left.wait()

    [last] = rest
    assert shown(last, "verdict")["state"] == "stopped"
    assert shown(last, "verdict")["sentence"] == "Stopped before the end. What had arrived is shown below."
    assert WORDS in json.dumps(shown(last, "completion"))
    assert shown(last, "completion")["stream"]["streaming"] is False
    assert last.trace is not None, "what had come can be shared"


async def test_stop_ends_a_run_whose_server_never_ends_its_headers(handlers):
    dripping = {**BEHAVIOURS, "/v1/chat/completions": drip(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", 0.01)}
    async with faulty_server(dripping) as server:
        updates = start(handlers, server)
        async for _ in updates:
            if any(request.path == "/v1/chat/completions" for request in server.received):
                break
        handlers.stops.stop("me")
        last = [update async for update in updates][-1]
        await server.client_left.wait()

    assert shown(last, "verdict")["state"] == "stopped"
    assert shown(last, "verdict")["detail"].startswith("It was stopped at this step: ")
    assert shown(last, "verdict")["detail"].endswith(" · POST /v1/chat/completions.")


async def test_a_run_that_is_stopped_before_it_begins_asks_no_one(handlers):
    async with faulty_server(BEHAVIOURS) as server:
        handlers.stops.expect("me")
        handlers.stops.stop("me")
        strips = [shown(update, "verdict") async for update in start(handlers, server)]

    assert [strip["sentence"] for strip in strips] == ["Stopped before the end. Nothing had arrived yet."]
    assert server.received == []


async def test_stop_frees_the_place_in_the_line_and_the_next_run_goes_on(handlers):
    async with faulty_server(BEHAVIOURS) as server:
        for _ in range(2):
            handlers.stops.expect("me")
            updates = start(handlers, server)
            await until_words_come(updates)
            handlers.stops.stop("me")
            last = [update async for update in updates][-1]

    assert shown(last, "verdict")["state"] == "stopped"
    with handlers.gate.enter("me") as turn:
        assert handlers.gate.runs_ahead(turn) == 0


async def test_a_run_of_a_request_that_is_gone_ends_silently(handlers):
    async with faulty_server(BEHAVIOURS) as server:
        updates = start(handlers, server)
        await until_words_come(updates)
        rest = asyncio.ensure_future(_all(updates))
        had_run = await handlers.stops.silence("me")

        assert (had_run, await rest) == (True, [])


async def test_choosing_a_case_stops_no_run_that_begins_later(handlers):
    assert not await handlers.stops.silence("me")
    async with faulty_server(BEHAVIOURS) as server:
        handlers.stops.expect("me")
        updates = start(handlers, server)
        await until_words_come(updates)
        await updates.aclose()


async def test_the_stop_of_one_page_leaves_others_alone(handlers):
    async with faulty_server(BEHAVIOURS) as server:
        updates = start(handlers, server)
        handlers.stops.stop("another")
        await until_words_come(updates)
        await updates.aclose()


async def test_a_run_that_was_not_let_in_leaves_nothing_to_wait_for(handlers):
    handlers.stops.expect("me")
    handlers.stops.forget("me")

    assert not await handlers.stops.silence("me")


async def _all(updates):
    return [update async for update in updates]


@pytest.fixture(scope="module")
def served():
    settings = PageSettings(port=0, lab=False)
    blocks = build_app(settings)
    url = serve_app(blocks, settings)[1].rstrip("/")
    yield url, blocks
    blocks.close(verbose=False)


def test_nothing_on_the_page_cancels_a_run(served):
    """Gradio tells a page of a cancelled event as of one that failed, and cancels whatever run is on by then."""
    _, blocks = served
    by_name = {event["api_name"]: event for event in blocks.config["dependencies"]}
    cancelled = {number for event in blocks.config["dependencies"] for number in event["cancels"]}

    assert by_name["run"]["id"] not in cancelled


def test_the_browser_finds_among_the_inputs_of_a_run_where_it_goes(served):
    """`both_servers.js` sends the first of two runs to the lab, the second to the endpoint, by place after the text."""
    _, blocks = served
    [run] = [function for function in blocks.fns.values() if function.api_name == "run"]
    script = (ROOT / "assets/js/page/both_servers.js").read_text(encoding="utf-8")
    place = {name: int(number) for name, number in re.findall(r"(?m)^const (RUN_ON|ENDPOINT) = (-?\d+);", script)}
    after_text = run.inputs[1:]

    assert after_text[place["RUN_ON"]].elem_id == "pd-run-on"
    assert after_text[place["ENDPOINT"]].label == "Endpoint"


@pytest.mark.parametrize(
    ("asked", "state"), [("stop", "stopped"), ("load_case", "recorded")], ids=["Stop", "another worked case"]
)
async def test_what_ends_a_run_on_the_page_is_not_a_failure(served, asked, state):
    url, blocks = served
    async with faulty_server(BEHAVIOURS) as server, httpx.AsyncClient(timeout=PATIENCE_S) as client:
        page = Visitor(url, blocks, f"page-{asked}".replace("_", "-"))
        await post(page, client, "begin")
        await client.post(f"{url}/gradio_api/queue/join", json=body(page, "run", REQUEST, server.base_url))
        last, ends = "", 0
        is_asked = False
        async with client.stream("GET", f"{url}/gradio_api/queue/data?session_hash={page.session}") as stream:
            async for line in stream.aiter_lines():
                page.received += line + "\n"
                last = strip_of(line) or last
                if not is_asked and server.got_request.is_set():
                    is_asked = True
                    await end(page, client, asked)
                if '"process_completed"' in line:
                    ends += 1
                    assert '"success":true' in line.replace(" ", "")
                    if ends == (2 if asked == "load_case" else 1):
                        break

    assert last == state


async def end(page, client, asked):
    if asked == "stop":
        await post(page, client, "stop")
    else:
        join = f"{page.url}/gradio_api/queue/join"
        await client.post(join, json=body(page, "load_case", "healthy-call"))


async def post(page, client, name):
    answered = await client.post(f"{page.url}/gradio_api/run/predict", json=body(page, name))
    assert answered.status_code == 200, answered.text


def body(page, name, *data):
    function = page.functions[name]
    values = [*data, *([None] * (len(function["inputs"]) - len(data)))]
    return {"data": values, "fn_index": function["id"], "session_hash": page.session, "trigger_id": None}


def strip_of(line):
    """Return the state of the verdict strip in a message."""
    for text in _texts(json.loads(line[6:])) if line.startswith("data: ") else ():
        try:
            header = unpack_payload(text)[0]
        except Exception:  # noqa: BLE001  # it is no payload
            continue
        if "badge" in header:
            return header["state"]
    return ""


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
