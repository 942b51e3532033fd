"""A page without a lab: worked cases as they once ran, marked; everything else says what is missing."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.pipeline import EXAMPLE_NAMES, Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields


def page(*, enabled: bool = False, **settings) -> Handlers:
    labs = PageLabs(LabPool(), enabled=False)
    labs.enabled = enabled  # whether vLLM is installed is another question
    return Handlers(PageSettings(lab=enabled, **settings), labs)


def strip_of(payloads):
    return unpack_payload(payloads["verdict"])[0]


async def run(handlers, text, tool_parser="kimi_k2", reasoning_parser="none", endpoint=""):
    fields = TargetFields(endpoint, "", "", tool_parser, reasoning_parser)
    return [update async for update in handlers.run(text, fields)][-1]


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_a_example_opens_as_recorded_and_says_so(name, public):
    case = page(public=public).load_case(name)

    strip = strip_of(case.payloads)
    assert strip["state"] == "recorded"
    assert strip["quote"] == case.trace.verdict.sentence
    assert strip["detail"].startswith("Recorded run: vLLM 0.32.0")
    assert "2026" in strip["detail"]
    assert "Press Run to repeat it live" in strip["detail"]
    assert unpack_payload(case.payloads["header"])[0]["facts"][0][1] == "recorded"
    ledger = unpack_payload(case.payloads["ledger"])[0]
    assert ("accounts" in ledger) == (name != "tutorial-tool-types")  # which the server refused
    assert ("HTTP 400" in ledger.get("empty", "")) == (name == "tutorial-tool-types")
    assert case.payloads["prompt_tokens"]


async def test_run_on_a_example_shows_its_recording_and_no_server_of_it_may_be_asked():
    handlers = page()
    case = handlers.load_case("dropped-call")

    update = await run(handlers, case.text)

    assert strip_of(update.payloads)["badge"] == "DROPPED"
    assert strip_of(update.payloads)["state"] == "done"
    assert update.trace == case.trace
    assert not update.is_own


async def test_the_same_request_written_differently_is_the_same_case():
    handlers = page()
    text = json.dumps(json.loads(handlers.load_case("dropped-call").text), indent=None)

    assert not (await run(handlers, text)).is_own


@pytest.mark.parametrize("change", ["parser", "request"])
async def test_whatever_was_changed_is_not_answered_by_the_recording(change):
    handlers = page()
    body = json.loads(handlers.load_case("dropped-call").text)
    if change == "request":
        body["temperature"] = 0.5

    update = await run(handlers, json.dumps(body), tool_parser="hermes" if change == "parser" else "kimi_k2")

    assert strip_of(update.payloads)["badge"] == "NO SERVER"
    assert update.trace.raw is None
    assert update.trace.local_prompt is not None


@pytest.mark.parametrize(
    ("template", "words"),
    [("{% for m in messages %}{{ m.content }}{% endfor", "line 1"), ("{{ messages[0].content | nosuch }}", "`nosuch`")],
)
async def test_a_template_that_fails_is_named_where_there_is_no_server_either(template, words):
    body = {"messages": [{"role": "user", "content": "Hi"}], "chat_template": template}

    update = await run(page(), json.dumps(body))

    strip = strip_of(update.payloads)
    assert (strip["badge"], strip["state"]) == ("TEMPLATE", "error")
    assert words in strip["sentence"]
    assert strip["detail"].startswith("Not run either: There is no server")


def test_the_answer_is_there_before_the_first_run_also_with_a_lab():
    case = page(enabled=True).load_case("dropped-call")

    assert strip_of(case.payloads)["state"] == "recorded"
    assert case.trace is not None


def test_where_another_server_is_aimed_at_nothing_recorded_is_shown():
    case = page(target=Target(base_url="http://127.0.0.1:9/v1")).load_case("dropped-call")

    assert strip_of(case.payloads)["state"] == "idle"
    assert case.trace is None


def test_a_recording_of_another_version_is_gone_without_and_the_page_lives(monkeypatch):
    def refuse(name):
        raise RequestError("`bundle.version` is 7")

    monkeypatch.setattr("prompt_debugger.ui.web.recorded.load_recording", refuse)

    case = page().load_case("dropped-call")

    assert strip_of(case.payloads)["state"] == "idle"
    assert case.trace is None


@pytest.mark.parametrize(("enabled", "step"), [(True, ("try", "Try the fix")), (False, ("show", "Show the fix"))])
def test_a_fix_is_offered_to_be_tried_only_where_something_can_run_it(enabled, step):
    shown = strip_of(page(enabled=enabled).load_case("dropped-call").payloads)["step"]

    assert (shown["kind"], shown["label"]) == step
