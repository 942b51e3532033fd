"""Evidence that is pasted into the page: said what it was taken for, shown without a server."""

import json

import pytest

from prompt_debugger.core.report import parse_to_json
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.pasted import Reading
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields

RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'
BODY = {"messages": [{"role": "user", "content": "hi"}]}
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
NOWHERE = TargetFields("http://127.0.0.1:9/v1", "", "", "none", "none")


@pytest.fixture(params=[False, True], ids=["own", "public"])
def handlers(request):
    settings = PageSettings(lab=False, public=request.param)
    return Handlers(settings, PageLabs(LabPool(), enabled=False))


async def run(handlers, text, reading=Reading()):  # noqa: B008  # a value
    payloads, trace = {}, None
    async for update in handlers.run(text, NOWHERE, "page", reading=reading):
        payloads.update(update.payloads)
        trace = update.trace or trace
    return payloads, trace


def shown(payload):
    return unpack_payload(payload)[0]


async def test_a_raw_output_is_shown_without_any_server(handlers):
    payloads, trace = await run(handlers, RAW)

    assert [call["name"] for call in parse_to_json(trace.parse)["calls"]] == ["get_weather"]
    assert shown(payloads["verdict"])["state"] == "done"
    assert "a call to `get_weather`" in shown(payloads["verdict"])["sentence"]
    assert payloads["ledger"] is not None
    assert shown(payloads["notices"])["summary"].startswith("Looks like a raw output")


async def test_a_server_that_pasted_evidence_shows_is_listed_after_it_and_is_no_endpoint(handlers):
    call = {"id": "chatcmpl-tool-" + "4a" * 16, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"model": "acme/M-1", "choices": [{"message": message, "finish_reason": "tool_calls"}]}

    payloads, trace = await run(handlers, json.dumps(answer))
    healthy, _ = await run(handlers, json.dumps(ANSWER))

    facts = [value for _, value, _ in shown(payloads["header"])["facts"]]
    assert (trace.server.kind, trace.server.base_url) == ("vllm", "")
    assert (facts[0], facts[2:]) == ("pasted", ["vLLM"])
    assert shown(healthy["header"])["facts"][0][1] == "pasted"


async def test_what_was_pasted_can_be_taken_for_something_else(handlers):
    text = json.dumps(ANSWER)

    _, as_answer = await run(handlers, text)
    _, as_output = await run(handlers, text, Reading("raw output"))

    assert (as_answer.raw, as_answer.chat.message["content"]) == (None, "hi")
    assert (as_output.raw.text, as_output.chat) == (text, None)


async def test_a_row_of_a_log_is_chosen_by_its_number(handlers):
    lines = f"{json.dumps(BODY)}\n{json.dumps(ANSWER)}"

    said = shown(handlers.check_request(lines, Reading(row=2)).payload)
    _, trace = await run(handlers, lines, Reading(row=2))

    assert (said["rows"], "line 2 of 2" in said["summary"]) == (2, True)
    assert trace.chat.message["content"] == "hi"


def test_a_request_is_reported_as_before(handlers):
    said = shown(handlers.check_request(json.dumps(BODY)).payload)

    assert (said["state"], said["summary"]) == ("ok", "1 message")


async def test_what_is_nothing_is_refused_at_its_place(handlers):
    payloads, trace = await run(handlers, "just some words", Reading("chat response"))

    assert trace is None
    assert shown(payloads["verdict"])["state"] == "error"
    assert shown(handlers.check_request("just some words", Reading("chat response")).payload)["state"] == "error"


@pytest.mark.parametrize("name", ["auto-detect", "find out", "a name that is gone"])
def test_a_reading_that_is_not_a_form_looks_by_itself(name):
    assert Reading(name).form is None


@pytest.mark.parametrize(
    ("value", "summary"),
    [
        (ANSWER, "Looks like a chat response. Run reads it; no server is asked."),
        (
            {"request": BODY, "response": ANSWER},
            "Looks like a request and its response. Run reads it; no server is asked. "
            "Read it as a request to send it again.",
        ),
    ],
)
def test_what_run_will_do_is_reported_in_plain_words(handlers, value, summary):
    assert shown(handlers.check_request(json.dumps(value)).payload)["summary"] == summary
