import asyncio
import json
import socket

import pytest

from prompt_debugger.core.pipeline import EXAMPLE_NAMES, Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import VIEWS, unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields


@pytest.fixture
def handlers():
    return Handlers(PageSettings(lab=False), PageLabs(LabPool(), enabled=False))


def fields(endpoint=""):
    return TargetFields(endpoint, "", "", "kimi_k2", "none")


async def run(handlers, text, endpoint=""):
    return [update.payloads async for update in handlers.run(text, fields(endpoint))]


def strip(steps):
    return unpack_payload([step["verdict"] for step in steps if "verdict" in step][-1])[0]


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_every_example_loads_with_its_story_and_no_complaint(handlers, name):
    case = handlers.load_case(name)

    assert unpack_payload(case.payloads["verdict"])[0]["detail"].endswith(handlers.examples[name].story)
    assert unpack_payload(handlers.check_request(case.text).payload)[0]["state"] == "ok"
    assert set(case.payloads) >= set(VIEWS)


async def test_a_request_that_cannot_be_read_names_the_place(handlers):
    steps = await run(handlers, '{\n  "messages": [,]\n}')

    assert strip(steps)["state"] == "error"
    assert strip(steps)["place"]["line"] == 2
    [header] = [unpack_payload(step["header"])[0] for step in steps if "header" in step]
    assert header["facts"] == [], "the server of an earlier run has nothing to do with this text"


async def test_nothing_to_run_against_is_one_clear_message(handlers):
    steps = await run(handlers, '{"messages": [{"role": "user", "content": "x"}]}')

    assert "There is no server to run against." in strip(steps)["sentence"]
    assert (strip(steps)["badge"], strip(steps)["tone"]) == ("NO SERVER", "neutral")


async def test_without_a_server_a_request_is_rendered_and_checked_anyway(handlers):
    request = {"messages": [{"role": "user", "content": "Say hi"}], "add_generation_prompt": False}
    updates = [update async for update in handlers.run(json.dumps(request), fields())]
    trace = updates[-1].trace

    assert "<|im_user|>user<|im_middle|>Say hi<|im_end|>" in trace.local_prompt.text
    assert trace.local_prompt.tokens
    assert (trace.raw, trace.chat, trace.verdict) == (None, None, None)
    assert [finding.code for finding in trace.findings] == ["PD203"]
    assert unpack_payload(updates[-1].payloads["prompt_tokens"])[0]


async def test_the_lab_models_template_says_nothing_about_a_request_to_another_model(handlers):
    request = {
        "model": "org/another-model",
        "messages": [{"role": "user", "content": "Say hi"}],
        "chat_template_kwargs": {"enable_thinking": False},
    }
    [_, *own] = [update async for update in handlers.run(json.dumps({**request, "model": "lab-model"}), fields())]
    updates = [update async for update in handlers.run(json.dumps(request), fields())]
    trace, said = updates[-1].trace, strip([one.payloads for one in updates])

    assert "PD209" in {finding.code for finding in own[-1].trace.findings}  # true of the lab model's template
    assert trace.findings == ()
    assert "<|im_user|>user<|im_middle|>Say hi<|im_end|>" in trace.local_prompt.text
    assert trace.local_prompt.note in said["detail"]
    assert "template of the lab model: that of `org/another-model` is not known" in said["detail"]


async def test_without_a_server_a_request_that_cannot_be_read_is_still_an_error(handlers):
    steps = await run(handlers, "{")

    assert (strip(steps)["badge"], strip(steps)["tone"]) == ("REQUEST", "error")


async def test_an_endpoint_that_does_not_answer_is_the_servers_fault(handlers):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/v1"

        steps = await run(handlers, '{"messages": [{"role": "user", "content": "x"}]}', endpoint)

    assert strip(steps)["badge"] == "SERVER"


async def test_stopping_ends_the_connection(handlers):
    """A server that never answers: closing the run must close the connection to it."""
    closed = asyncio.Event()
    opened = asyncio.Event()

    async def hang(reader, _writer):
        opened.set()
        while await reader.read(1_000):
            pass
        closed.set()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        updates = handlers.run(
            '{"messages": [{"role": "user", "content": "x"}]}', fields(f"http://127.0.0.1:{port}/v1")
        )
        async for _ in updates:
            if opened.is_set():
                break
        await updates.aclose()
        await asyncio.wait_for(closed.wait(), 10)


async def test_a_run_that_hangs_still_ticks(handlers):
    """Gradio notices a closed tab only when the handler yields."""

    async def hang(reader, _writer):
        while await reader.read(1_000):
            pass

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        updates = handlers.run(
            '{"messages": [{"role": "user", "content": "x"}]}', fields(f"http://127.0.0.1:{port}/v1")
        )
        steps = [await anext(updates) for _ in range(5)]
        await updates.aclose()

    assert len(steps) == 5


def test_a_long_text_is_not_read_at_every_key(handlers):
    shown = unpack_payload(handlers.check_request('{"messages": [' + " " * 2_000_000).payload)[0]

    assert shown == {"state": "ok", "summary": "2,000,014 characters: read when you press Run", "items": []}


def test_text_of_some_hundred_thousand_characters_is_read_while_typing(handlers):
    shown = unpack_payload(handlers.check_request('{"messages": [' + " " * 300_000).payload)[0]

    assert shown["state"] == "error"
    assert shown["items"][0]["line"] == 1


def test_without_vllm_the_page_says_so(handlers):
    payload, again = handlers.describe_lab()

    assert unpack_payload(payload)[0]["state"] == "absent"
    assert not again


def test_a_target_is_described_before_it_answers():
    settings = PageSettings(target=Target(base_url="http://x.example/v1"))
    case = Handlers(settings, PageLabs(LabPool(), enabled=False)).load_case("healthy-call")

    assert "http://x.example/v1" in str(unpack_payload(case.payloads["header"])[0])


@pytest.mark.parametrize(
    ("public", "host", "aim", "said"),
    [
        (True, "a.example", "", "does not send requests there"),
        (False, "a.example", "", "Run sends the request there."),
        (False, "a.example", "http://a.example/v1/", "Run sends the request there."),
        (False, "a.example", "http://b.example/v1", "Run asks http://b.example/v1 instead."),
        (False, "a.example", "the lab", "Run asks the lab instead."),
        (False, "169.254.169.254", "", "Run asks it only once you choose it."),
    ],
)
def test_the_server_of_a_pasted_command_is_named_but_never_called(public, host, aim, said):
    handlers = Handlers(PageSettings(lab=False, public=public), PageLabs(LabPool(), enabled=False))
    body = '{"messages": [{"role": "user", "content": "x"}]}'
    checked = handlers.check_request(f"curl http://{host}/v1/chat/completions -d '{body}'", aim=aim)

    assert said in str(unpack_payload(checked.payload)[0]["items"])
    assert (checked.server is None) == ("Run sends" not in said and not public)


CALL = "curl http://127.0.0.1:9/v1/chat/completions -H 'Authorization: Bearer sk-abc123def456' -d '{\"messages\": []}'"


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("http://127.0.0.1:9/v1", "Run sends the request there, with the key that it contains."),
        ("http://127.0.0.1:10/v1", "Run asks http://127.0.0.1:10/v1 instead."),
    ],
)
async def test_a_run_says_of_a_pasted_call_s_server_what_was_said_before_it(handlers, endpoint, said):
    """Also where another server was asked, no sentence says that the pasted one was."""
    before = unpack_payload(handlers.check_request(CALL, aim=endpoint).payload)[0]
    steps = await run(handlers, CALL, endpoint)

    after = unpack_payload([step["notices"] for step in steps if "notices" in step][-1])[0]
    assert said in before["items"][0]["message"]
    assert after == before
