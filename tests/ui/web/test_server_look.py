"""The Test button under Target: what a server is, before anything is run on it."""

import json

import pytest

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.server_look import server_look_payload
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.panels.server_look import look_at_server
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from tests.core.complete.faulty_server import answer, faulty_server

LISTED = {"object": "list", "data": [{"id": "qwen", "owned_by": "me"}, {"id": "kimi", "owned_by": "me"}]}
SETTINGS = PageSettings(lab=False)


async def look(endpoint, model="", key=""):
    labs = PageLabs(LabPool(), enabled=False)
    payload = await look_at_server(SETTINGS, labs, TargetFields(endpoint, model, "", "none", "none"), key)
    return unpack_payload(payload)[0]["text"]


def test_a_server_is_named_with_what_a_run_will_ask():
    server = Server("http://x/v1", "vllm", "0.32.0", "qwen", 4096, features=frozenset({"completions"}))

    text = unpack_payload(server_look_payload(server, (), None))[0]["text"]

    assert text.startswith("✓ vLLM 0.32.0 answers. A run asks `qwen`.")
    assert "4,096 tokens" in text
    assert "first run shows" in text


async def test_a_server_is_asked_for_its_models_with_the_key_and_nothing_is_generated():
    paths = {"/v1/models": answer(200, json.dumps(LISTED).encode(), "application/json"), "*": answer(404)}
    async with faulty_server(paths) as server:
        text = await look(server.base_url, key="sk-of-mine")

    assert "A run asks `qwen`. It also serves `kimi`." in text
    assert "sk-of-mine" not in text
    assert "Bearer sk-of-mine" in {one.headers.get("authorization") for one in server.received}
    assert not any(one.method == "POST" and b"messages" in one.body for one in server.received)


async def test_a_model_that_is_not_served_is_reported():
    paths = {"/v1/models": answer(200, json.dumps(LISTED).encode(), "application/json"), "*": answer(404)}
    async with faulty_server(paths) as server:
        text = await look(server.base_url, model="lama")

    assert "does not serve `lama`, only `qwen`, `kimi`" in text


@pytest.mark.parametrize(
    ("endpoint", "said"), [("", "starts the lab"), ("http://127.0.0.1:9/v1", "✕"), ("localhost", "✕")]
)
async def test_that_nothing_answers_is_reported(endpoint, said):
    assert said in await look(endpoint)


async def test_all_models_can_be_chosen_for_the_address_that_was_tested():
    paths = {"/v1/models": answer(200, json.dumps(LISTED).encode(), "application/json"), "*": answer(404)}
    labs = PageLabs(LabPool(), enabled=False)
    async with faulty_server(paths) as server:
        fields = TargetFields(f" {server.base_url}/ ", "", "", "none", "none")
        header = unpack_payload(await look_at_server(SETTINGS, labs, fields, ""))[0]

    assert (header["models"], header["url"]) == (["qwen", "kimi"], f"{server.base_url}/")


async def test_where_nothing_answers_there_is_no_model_to_choose():
    labs = PageLabs(LabPool(), enabled=False)
    payload = await look_at_server(SETTINGS, labs, TargetFields("http://127.0.0.1:9/v1", "", "", "none", "none"), "")

    assert unpack_payload(payload)[0]["models"] == []


async def test_where_a_key_is_wanted_the_field_for_it_is_named():
    paths = {"/version": answer(200, {"version": "0.32.0"}), "*": answer(401, {"error": {"message": "Unauthorized"}})}
    async with faulty_server(paths) as server:
        text = await look(server.base_url, key="sk-another")

    assert text.startswith("✕")
    assert "401" in text
    assert "Enter it under Target, in the field Key" in text
    assert "--api-key-env" not in text
