"""What the check panel does: the page's own model by default, none of a stranger's, and a word without vLLM."""

import json
from contextlib import aclosing
from pathlib import Path

import pytest

from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabSpec
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.model_check import CheckFields, Forecast, ModelChecks
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from tests.core.complete.faulty_server import answer, faulty_server
from tests.core.tools.check.checks import check_of

NOWHERE = TargetFields("", "", "", "kimi_k2", "none")


NOTHING = CheckFields()


def checks_lacking_vllm(**settings):
    return ModelChecks(PageSettings(lab=False, **settings), lambda: VllmEngine("/no/such/python"))


async def last(checks, fields=NOTHING, target=NOWHERE):
    async with aclosing(checks.check(fields, target)) as changes:
        *_, end = [change async for change in changes if change.payload is not None]
    return unpack_payload(end.payload)[0], end.check


async def test_without_vllm_it_says_so_and_shows_the_template():
    shown, check = await last(checks_lacking_vllm())

    assert shown["state"] == "done"
    assert shown["verdict"] == "unknown"
    assert shown["missing"]
    assert check.model.folder == Path(LabSpec().model_dir)
    assert dict(map(tuple, shown["supports"]))


async def test_a_public_page_checks_the_operators_model_whatever_is_sent(tmp_path):
    checks = checks_lacking_vllm(public=True)
    sent = CheckFields(str(tmp_path), "thorough", "edited", "{{ 1/0 }}")

    _, check = await last(checks, sent, TargetFields("", "", str(tmp_path), "kimi_k2", "none"))

    assert check.model.folder == Path(LabSpec().model_dir)
    assert check.model.name == Path(LabSpec().model_dir).name
    assert check.model.template_file is None
    assert (await last(checks))[1] is check  # the same for every visitor, made once


async def test_the_edited_template_is_checked_in_place_of_the_models_own():
    _, check = await last(checks_lacking_vllm(), CheckFields(template="edited", edited="{{ messages[0].content }}"))

    assert check.model.template.strip() == "{{ messages[0].content }}"
    assert check.model.template_file == "edited.jinja"


async def test_an_endpoint_is_asked_what_it_serves(tmp_path):
    """Nothing answers there, and that is what is told; a public page asks no one."""
    nobody = "http://127.0.0.1:9/v1"

    shown, check = await last(checks_lacking_vllm(), target=NOWHERE._replace(endpoint=nobody))
    public, _ = await last(checks_lacking_vllm(public=True, target=Target(base_url=nobody)))

    assert check is None
    assert shown["state"] == "error"
    assert "127.0.0.1:9" in shown["sentence"]
    assert "no tokenizer is known" in public["sentence"].lower()


async def test_the_key_of_the_page_goes_along_and_a_server_without_a_template_sends_to_the_field_model():
    async with faulty_server(
        {"/v1/models": answer(200, {"object": "list", "data": [{"id": "m"}]}), "*": answer(404)}
    ) as server:
        address = server.base_url.removesuffix("/v1").removeprefix("http://")
        fields = CheckFields(key="sk-of-the-page")
        shown, check = await last(checks_lacking_vllm(), fields, target=NOWHERE._replace(endpoint=address))

    assert check is None
    assert "does not report which template it uses" in shown["sentence"]
    assert shown["sentence"].startswith("http://")
    assert "Enter the model's folder or Hub id in" in json.dumps(shown)
    assert "--tokenizer" not in json.dumps(shown)
    assert server.received[0].headers["authorization"] == "Bearer sk-of-the-page"


async def test_a_model_that_is_not_there_is_reported_as_one_message(tmp_path):
    shown, _ = await last(checks_lacking_vllm(), CheckFields(str(tmp_path)))

    assert shown["state"] == "error"


async def test_a_cell_that_is_none_is_a_message():
    checks = checks_lacking_vllm(target=Target())

    before = unpack_payload(await checks.open_cell(None, "vllm:hermes", "one-call"))[0]
    none = unpack_payload(await checks.open_cell(check_of(), "vllm:x", "one-call"))[0]

    assert {before["state"], none["state"]} == {"error"}
    assert await checks.take_cell(check_of(), "vllm:x", "one-call") is None


def test_a_forecast_goes_by_the_answers_that_are_done():
    forecast = Forecast()

    assert forecast.of("the template", 1.0) == ("the template", None)
    assert forecast.of("vLLM's parsers: answer 1 of 11", 2.0) == ("vLLM's parsers: answer 1 of 11", 0.0)
    assert forecast.of("vLLM's parsers: answer 2 of 11", 12.0)[0] == "vLLM's parsers: answer 2 of 11"
    words, share = forecast.of("vLLM's parsers: answer 6 of 11", 52.0)
    assert (words, share) == ("vLLM's parsers: answer 6 of 11, about 60 s left", pytest.approx(5 / 11))
    assert forecast.of("again: answer 1 of 3", 60.0) == ("again: answer 1 of 3", 0.0)  # another phase has its own pace
