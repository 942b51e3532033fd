"""Two visitors of one served page: neither sees a word of the other, and no key of either stays on the server."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import sys
import threading
import zlib

import httpx
import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.launch import build_app, serve_app
from prompt_debugger.ui.web.settings import PageSettings
from tests.core.complete.faulty_server import FaultyServer, answer
from tests.patience import PATIENCE_S
from tests.threads import in_thread

KEY = "sk-visitor-secret-0123456789"
MODELS = answer(200, {"data": [{"id": "m", "owned_by": "someone"}]})


class Visitor:
    """One open page, as gradio's own script talks to the server."""

    def __init__(self, url, blocks, session):
        self.url = url
        self.session = session
        self.functions = {fn["api_name"]: fn for fn in blocks.config["dependencies"]}
        self.received = ""

    async def call(self, client, api_name, *data):
        """Queue an event and return the messages that come until its end."""
        function = self.functions[api_name]
        values = [*data, *([None] * (len(function["inputs"]) - len(data)))]
        body = {"data": values, "fn_index": function["id"], "session_hash": self.session, "trigger_id": None}
        joined = await client.post(f"{self.url}/gradio_api/queue/join", json=body)
        assert joined.status_code == 200, joined.text
        async with client.stream("GET", f"{self.url}/gradio_api/queue/data?session_hash={self.session}") as stream:
            async for line in stream.aiter_lines():
                self.received += line + "\n"
                if '"process_completed"' in line or '"close_stream"' in line:
                    return

    async def run(self, client, text):
        await self.call(client, "run", text, "", "", "", "none", "none")

    def everything_drawn(self):
        """Return all that came, payloads unpacked."""
        parts = [self.received]
        for line in self.received.splitlines():
            if line.startswith("data: "):
                parts += [json.dumps(_unpacked(text), ensure_ascii=False) for text in _texts(json.loads(line[6:]))]
        return "\n".join(parts)


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _unpacked(text):
    try:
        return str(unpack_payload(text))
    except (ValueError, OSError, EOFError, zlib.error):  # it is no payload
        return text


def request_of(words, **fields):
    return json.dumps({"messages": [{"role": "user", "content": words}], "temperature": 0, **fields})


class EchoServer(FaultyServer):
    """A chat that says what it was told, so that two answers that are mixed up can be told apart."""

    def _behaviour_of(self, request):
        if request.path.endswith("/models"):
            return MODELS
        if not request.path.endswith("/chat/completions"):
            return answer(404)
        message = {"role": "assistant", "content": f"ECHO {request.json['messages'][0]['content']}"}
        return answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture(scope="module")
def endpoint():
    """A server in a thread of its own, for the page runs in another one."""
    with in_thread(EchoServer("", {})) as url:
        yield url


@pytest.fixture(scope="module")
def served(endpoint):
    yield from _serve(endpoint)


@pytest.fixture
def served_anew(endpoint):
    """A page at which no one has used up what an address may start within a minute."""
    yield from _serve(endpoint)


def _serve(endpoint):
    settings = PageSettings(target=Target(base_url=endpoint), port=0, lab=False, public=True)
    blocks = build_app(settings)
    url = serve_app(blocks, settings)[1].rstrip("/")
    yield url, blocks
    blocks.close(verbose=False)


@pytest.fixture
def client():
    return httpx.AsyncClient(timeout=PATIENCE_S)


async def test_two_visitors_at_once_see_their_own_words_only(served, client):
    visitors = [Visitor(*served, f"session-{name}") for name in ("anna", "bert")]
    words = ["ANNAS-WORDS", "BERTS-WORDS"]
    async with client:
        for _ in range(3):
            await asyncio.gather(*(v.run(client, request_of(w)) for v, w in zip(visitors, words, strict=True)))
    seen = [visitor.everything_drawn() for visitor in visitors]

    assert [words[0] in seen[0], words[1] in seen[1]] == [True, True]
    assert [words[1] in seen[0], words[0] in seen[1]] == [False, False]


async def test_a_visitor_who_comes_later_finds_nothing_of_an_earlier_one(served, client):
    url, blocks = served
    async with client:
        await Visitor(url, blocks, "early").run(client, request_of("EARLY-WORDS"))
        page = await client.get(url)
        late = Visitor(url, blocks, "late")
        await late.call(client, "check_request", request_of("LATE-WORDS"))

    assert "EARLY-WORDS" not in page.text
    assert "EARLY-WORDS" not in late.everything_drawn()


async def test_what_all_visitors_share_keeps_nothing_of_one(served, client):
    """Everything that can be reached from the handlers, and from every module of ours."""
    async with client:
        await Visitor(*served, "shared").run(client, request_of("SHARED-STATE-WORDS"))
    # By its very type: asking an object for its class runs code of strangers, which may warn.
    handlers = next(item for item in gc.get_objects() if type(item) is Handlers and item.settings.public)

    assert _holders("SHARED-STATE-WORDS", [handlers]) == []
    modules = [vars(module) for name, module in sys.modules.items() if name.split(".")[0] == "prompt_debugger"]
    assert _holders("SHARED-STATE-WORDS", modules) == []
    assert _holders("needle", [{"found": ("a needle",)}]), "the search finds what is there"


async def test_no_key_stays_on_the_server_or_comes_back_or_is_logged(served, client, caplog, capfd):
    """Pasted in each of the places where keys are pasted."""
    url, blocks = served
    caplog.set_level(logging.DEBUG)
    curl = f"curl https://api.example/v1/chat/completions -H 'Authorization: Bearer {KEY}' -d '{request_of('hi')}'"
    python = f"client = OpenAI(api_key='{KEY}')\nclient.chat.completions.create(model='m', messages=[])"
    texts = [curl, python, request_of("x", extra_headers={"Authorization": f"Bearer {KEY}"}), f"curl -u me:{KEY}", KEY]
    visitors = [Visitor(url, blocks, f"key-{number}") for number in range(len(texts))]
    async with client:
        for visitor, text in zip(visitors, texts, strict=True):
            await visitor.call(client, "check_request", text)
            await visitor.run(client, text)
            await visitor.call(
                client, "run", request_of("x"), f"https://me:{KEY}@api.example/v1", "", "", "none", "none"
            )
    del visitor, text
    logged = capfd.readouterr()
    drawn = [visitor.everything_drawn() for visitor in visitors]
    sessions = blocks.state_holder.session_data

    assert {f"key-{number}" for number in range(5)} <= set(sessions)
    assert [index for index, text in enumerate(drawn[:4]) if KEY in text] == []
    assert _holders(KEY, [vars(session) for session in sessions.values()]) == []
    assert KEY not in caplog.text + logged.out + logged.err


async def test_a_visitor_gets_so_many_runs_a_minute_and_another_still_runs(served, client, monkeypatch):
    monkeypatch.setattr("prompt_debugger.ui.web.gate._MINUTE_S", float(PATIENCE_S))  # eleven may take longer
    greedy, modest = Visitor(*served, "greedy"), Visitor(*served, "modest")
    async with client:
        for _ in range(11):
            await greedy.run(client, request_of("x"))
        await modest.run(client, request_of("MODEST"))

    assert "started 10 runs within a minute, which is the limit" in greedy.everything_drawn()
    assert "ECHO MODEST" in modest.everything_drawn()
    assert "runs within a minute" not in modest.everything_drawn()


async def test_a_forged_event_cannot_aim_a_run_elsewhere(served_anew, client):
    """The field is not on the page; the event takes it all the same."""
    trap = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = trap.sockets[0].getsockname()[1]
    forger = Visitor(*served_anew, "forger")
    async with trap, client:
        for address in (f"http://127.0.0.1:{port}/v1", f"http://2130706433:{port}/v1", "file:///etc/passwd"):
            await forger.call(client, "run", request_of("x"), address, "m", "/etc", "none", "none")

    assert forger.everything_drawn().count("This page sends nothing to") >= 2
    assert "is not a server address" in forger.everything_drawn()


def _holders(words, roots):
    """Return the types of the objects, reachable from `roots`, that hold `words`."""
    found, seen, todo = [], set(), list(roots)
    while todo:
        item = todo.pop()
        if id(item) in seen or issubclass(type(item), type | io.IOBase | threading.Thread):
            continue
        seen.add(id(item))
        if issubclass(type(item), str | bytes):
            if (words if issubclass(type(item), str) else words.encode()) in item and item != words:
                found.append(item[:200])
        elif _is_ours(item):
            todo += gc.get_referents(item)
    return found


def _is_ours(item):
    name = type(item).__module__.split(".")[0]
    return name in ("prompt_debugger", "builtins", "collections", "gradio") and type(item).__name__ not in (
        "module",
        "function",
        "method",
        "frame",
        "Blocks",
    )
