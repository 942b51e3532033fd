"""Each way in which a server or a lab fails is one clear message, and the page goes on as if nothing had been."""

import asyncio
import json
import os
import signal

import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool, LabSpec
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import MAX_STREAMED_CHARS, Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.limits import Limits
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from tests.core.complete.faulty_server import answer, chunk, drip, faulty_server, hang, raw, reset, stream

REQUEST = '{"messages": [{"role": "user", "content": "What\'s the weather in Paris?"}], "temperature": 0}'
MODELS = answer(200, {"data": [{"id": "m"}]})
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
HALF = [chunk(delta={"content": "half an answ"})]
# What the server does with a chat, and words of the message that comes of it.
FAULTS = {
    "answers 500": (
        answer(500, {"error": {"message": "engine died"}}),
        "The server failed on the request: engine died",
    ),
    "closes at once": (raw(b""), "ended without an answer"),
    "resets midway": (reset(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"), "broke off"),
    "half a body": (raw(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"), "broke off"),
    "garbage": (raw(b"\x00\xff" * 500), "without an HTTP answer"),
    "no JSON": (answer(200, b"<html>hello"), "not JSON"),
    "deep JSON": (answer(200, b"[" * 100_000), "not JSON"),
    "another JSON": (answer(200, [1, 2, 3]), None),
    "requires a key": (answer(401, {"error": {"message": "no key"}}), "401 Unauthorized"),
    "redirects inside": (answer(307, b"", location="http://169.254.169.254/"), "not followed"),
    "100 MB": (answer(200, b" " * 100_000_000), "larger than 32 MB"),
    "without end": (drip(SSE_HEAD, b": " + b"x" * 1_000_000 + b"\n", 0), "larger than 32 MB"),
}


def fields(endpoint=""):
    return TargetFields(endpoint, "", "", "kimi_k2", "none")


def page(limits=None, **settings):
    return Handlers(PageSettings(lab=False, **settings), PageLabs(LabPool(), enabled=False), limits)


async def run(handlers, endpoint="", session="me", text=REQUEST):
    """Return the verdict strips of a run."""
    updates = [update async for update in handlers.run(text, fields(endpoint), session)]
    return [unpack_payload(update.payloads["verdict"])[0] for update in updates if "verdict" in update.payloads]


@pytest.mark.parametrize("name", FAULTS)
async def test_a_server_that_fails_is_one_message_and_the_page_goes_on(name):
    behaviour, words = FAULTS[name]
    handlers = page()
    async with faulty_server({"/v1/models": MODELS, "*": behaviour}) as server:
        strips = await run(handlers, server.base_url)
    async with faulty_server({"/v1/models": MODELS, "*": answer(429, {"error": "another run"})}) as server:
        again = await run(handlers, server.base_url)

    ends = [strip for strip in strips if strip["state"] != "running"]
    assert len(ends) == 1
    assert (words is None and ends[0]["state"] == "done") or words in ends[0]["sentence"]
    assert "Traceback" not in json.dumps(strips)
    assert "another run" in again[-1]["sentence"]
    with handlers.gate.enter("me") as turn:
        assert handlers.gate.runs_ahead(turn) == 0


async def test_a_stream_that_breaks_off_keeps_what_came():
    behaviours = {"/v1/models": MODELS, "*#stream": stream(*HALF, is_closed_properly=False), "*": answer(500, b"")}
    async with faulty_server({**behaviours, "/v1/chat/completions#stream": behaviours["*#stream"]}) as server:
        strips = await run(page(), server.base_url)

    assert strips[-1]["badge"] == "SERVER"
    assert "500" in strips[-1]["sentence"]


async def test_a_server_that_never_answers_is_ended_by_the_limit_of_a_public_page():
    handlers = page(Limits(run_s=1.0))
    async with faulty_server({"/v1/models": MODELS, "*": hang()}) as server:
        strips = await run(handlers, server.base_url)
        await server.client_left.wait()

    assert strips[-1]["badge"] == "LIMIT"
    assert "ended after 1 s" in strips[-1]["sentence"]


async def test_an_endless_answer_is_ended_and_only_its_end_is_sent_to_the_page():
    event = chunk(delta={"content": "word " * 200})
    handlers = page(Limits(run_s=3.0))
    texts = []
    async with faulty_server({"/v1/models": MODELS, "*": drip(SSE_HEAD, event * 20, 0.01)}) as server:
        async for update in handlers.run(REQUEST, fields(server.base_url), "me"):
            if update.payloads.get("completion"):
                texts.append(json.dumps(unpack_payload(update.payloads["completion"])[0]))

    assert texts
    assert max(map(len, texts)) < 2 * MAX_STREAMED_CHARS


async def test_stopping_a_run_frees_its_place_and_its_connection():
    handlers = page(Limits(runs_per_session=1))
    async with faulty_server({"/v1/models": MODELS, "*": hang()}) as server:
        updates = handlers.run(REQUEST, fields(server.base_url), "me")
        async for _ in updates:
            if server.got_request.is_set():
                break
        second = await run(handlers, server.base_url)
        await updates.aclose()
        await server.client_left.wait()
        with handlers.gate.enter("me"):
            pass

    assert second[-1]["badge"] == "LIMIT"
    assert "alread" in second[-1]["sentence"]


async def test_a_run_that_waits_says_how_many_are_ahead_and_then_runs():
    handlers = page(Limits(runs_at_once=1))
    async with faulty_server({"/v1/models": answer(500, b""), "*": answer(500, b"")}) as server:
        with handlers.gate.enter("another"):
            updates = handlers.run(REQUEST, fields(server.base_url), "me")
            first = await anext(updates)
            second = await anext(updates)
        rest = [update async for update in updates]

    assert unpack_payload(first.payloads["verdict"])[0]["sentence"] == "Waiting: 1 run is ahead of yours"
    assert second.payloads == {}, "a tick, by which a closed tab is noticed"
    last = [update.payloads["verdict"] for update in rest if "verdict" in update.payloads][-1]
    assert unpack_payload(last)[0]["badge"] == "SERVER"


async def test_text_that_is_too_long_for_a_public_page_is_one_message():
    strips = await run(page(public=True), text=" " * 200_001)

    assert [strip["badge"] for strip in strips] == ["LIMIT"]


async def test_a_public_page_without_a_server_says_so():
    strips = await run(page(public=True))

    assert strips[-1]["badge"] == "NO SERVER"
    assert "`make run` on your own machine" in strips[-1]["detail"]


async def test_a_visitor_does_not_read_the_log_of_a_lab(tmp_path):
    """It can hold words of another visitor."""
    broken = LabSpec(model_dir=tmp_path / "secret-folder")
    strips = {}
    for public in (False, True):
        labs = PageLabs(LabPool(), enabled=True)
        labs.enabled = True
        settings = PageSettings(target=Target(lab=broken), public=public)
        strips[public] = (await run(Handlers(settings, labs)))[-1]

    assert "secret-folder" in json.dumps(strips[False])
    assert (strips[True]["badge"], strips[True]["log"]) == ("LAB", "")
    assert "secret-folder" not in json.dumps(strips[True])
    assert "run again" in strips[True]["detail"]


async def test_a_fault_of_ours_is_a_message_and_its_words_are_not_logged_in_public(monkeypatch, caplog):
    def fail(*_args, **_fields):
        raise RuntimeError("WORDS OF A VISITOR")

    monkeypatch.setattr("prompt_debugger.ui.web.handlers.choose_target", fail)
    strip = (await run(page(public=True)))[-1]
    public_log = caplog.text
    await run(page())

    assert "RuntimeError" in strip["sentence"]
    assert "RuntimeError at" in public_log
    assert "WORDS OF A VISITOR" not in public_log
    assert "WORDS OF A VISITOR" in caplog.text


@pytest.mark.lab
async def test_a_lab_killed_midway_is_one_message_and_the_next_run_boots_another():
    labs = PageLabs(LabPool(), enabled=True)
    handlers = Handlers(PageSettings(), labs)
    long = json.dumps({**json.loads(REQUEST), "max_tokens": 1_900, "ignore_eos": True})
    killed = False
    strips = []
    try:
        async for update in handlers.run(long, fields(), "me"):
            if update.payloads.get("verdict"):
                strips.append(unpack_payload(update.payloads["verdict"])[0])
            if not killed and strips and strips[-1]["sentence"].startswith("Asking the model"):
                os.kill(labs.pool.peek(LabSpec()).pid, signal.SIGKILL)
                killed = True
        again = await run(handlers)
    finally:
        await asyncio.to_thread(labs.close)

    assert killed
    assert strips[-1]["state"] in ("error", "done")
    assert strips[-1]["badge"] == "LAB" or strips[-1]["state"] == "done"
    assert again[-1]["state"] == "done"


@pytest.mark.lab
async def test_a_server_is_sent_nothing_to_fetch(lab_url):
    """A server whose model sees would fetch an image for any stranger."""
    media = {"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/x.png"}}
    text = json.dumps({"messages": [{"role": "user", "content": [media]}]})
    settings = PageSettings(target=Target(base_url=lab_url), public=True, lab=False)
    strips = await run(Handlers(settings, PageLabs(LabPool(), enabled=False)), text=text)

    assert strips[-1]["badge"] == "REQUEST"
    assert "text only" in strips[-1]["sentence"]


@pytest.mark.lab
async def test_after_every_fault_the_next_run_works(lab_url):
    handlers = page()
    for behaviour, _ in (FAULTS["garbage"], FAULTS["no JSON"], FAULTS["answers 500"], FAULTS["without end"]):
        async with faulty_server({"/v1/models": MODELS, "*": behaviour}) as server:
            await run(handlers, server.base_url)
        strips = await run(handlers, lab_url)

        assert strips[-1]["state"] == "done"


async def test_a_typed_key_opens_the_server_and_stands_nowhere_else(caplog):
    key = "sk-typed-into-the-page-0123456789"
    text = json.dumps({"model": "lab-model", "messages": [{"role": "user", "content": "hi"}]})
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}
    behaviours = {"/v1/models": MODELS, "/v1/chat/completions": answer(200, whole), "*": answer(404)}
    async with faulty_server(behaviours) as server:
        updates = [one async for one in page().run(text, fields(server.base_url), "me", key)]
        asked = [one for one in server.received if one.path == "/v1/chat/completions"]

    assert {one.headers.get("authorization") for one in asked} == {f"Bearer {key}"}
    assert {one.json["model"] for one in asked} == {"m"}, "the lab's model is nobody else's"
    assert key not in repr([update.trace for update in updates]) + caplog.text
    assert not any(
        key in str(unpack_payload(payload)) for update in updates for payload in update.payloads.values() if payload
    )
