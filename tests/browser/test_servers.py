"""Servers under Target: saved by name, taken from a pasted call, their models to choose from; never with a key."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import answer

pytestmark = pytest.mark.browser

URL = "http://127.0.0.1:9/v1"
KEY = "sk-of-the-visitor-123"
THREE_FRAMES = """async () => {
    for (let i = 0; i < 3; i++) await new Promise(done => requestAnimationFrame(done));
}"""
# Holds back the draft's text, which is packed for its view, until `release()`.
HOLD_THE_DRAFT = """
    const hold = new Promise(done => { globalThis.release = done; });
    const { arrayBuffer } = Response.prototype;
    let isPacking = false;
    globalThis.CompressionStream = class extends CompressionStream {
        constructor(...all) { super(...all); isPacking = true; }
    };
    Response.prototype.arrayBuffer = async function () {
        const waits = isPacking;
        isPacking = false;
        if (waits) await hold;
        return arrayBuffer.call(this);
    };
"""
# Opens Target and types into its first field as soon as that can be done, before the browser draws it.
TYPE_AS_IT_OPENS = """async text => {
    document.querySelector("#pd-target button").click();
    const endpoint = () => document.querySelector("#pd-target textarea");
    while (!endpoint() || !endpoint().offsetParent) await new Promise(done => setTimeout(done, 0));
    endpoint().value = text;
    endpoint().dispatchEvent(new InputEvent("input", {bubbles: true}));
}"""


def test_saved_servers_fill_the_fields_after_a_reload_by_address_or_name_and_know_no_key(bare: DebuggerPage) -> None:
    page = bare.page
    endpoint, key = page.get_by_label("Endpoint", exact=True), page.locator("#pd-key input")
    model = page.locator("#pd-target").get_by_label("Model", exact=True)
    bare.aim_at(URL)
    model.fill("my-model")
    key.fill(KEY)
    page.get_by_role("button", name="Save this server").click()
    expect(page.locator("#pd-servers")).to_contain_text("Saved in this browser, without the key.")
    model.fill("")
    page.get_by_label("Name of this server").fill("the big one")
    page.get_by_role("button", name="Save this server").click()
    expect(page.locator(".pd-servers-use")).to_have_count(2)
    endpoint.fill("")

    bare.load()
    page.locator("#pd-target button").first.click()
    page.get_by_role("button", name="127.0.0.1:9/v1 · my-model").click()
    expect(endpoint).to_have_value(URL)
    expect(model).to_have_value("my-model")
    assert KEY not in page.evaluate("JSON.stringify({...localStorage})")

    endpoint.fill("http://127.0.0.1:10/v1")
    key.fill(KEY)
    page.get_by_role("button", name="the big one").first.click()
    expect(endpoint).to_have_value(URL)
    expect(page.get_by_label("Name of this server")).to_have_value("the big one")
    expect(key).to_have_value("")  # it was typed for another address

    assert violations(page, "#pd-servers") == []
    for name in (URL, "the big one"):
        page.get_by_role("button", name=f"Forget {name}").click()
    expect(page.locator(".pd-servers-use")).to_have_count(0)


def fields(page: DebuggerPage) -> tuple[str, str]:
    target = page.page.locator("#pd-target")
    endpoint = target.get_by_label("Endpoint", exact=True).input_value()
    return endpoint, target.get_by_label("Model", exact=True).input_value()


def test_what_is_typed_as_target_opens_or_as_the_last_visit_comes_back_stays(bare: DebuggerPage) -> None:
    """Gradio fills the fields of a closed accordion a moment after they have appeared."""
    endpoint = bare.page.get_by_label("Endpoint", exact=True)
    bare.aim_at(URL)

    bare.load()
    bare.page.evaluate(TYPE_AS_IT_OPENS, "http://127.0.0.1:10/v1")
    bare.page.evaluate(THREE_FRAMES)
    expect(endpoint).to_have_value("http://127.0.0.1:10/v1")
    bare.page.get_by_role("button", name="Save this server").click()
    expect(bare.page.locator(".pd-servers-use")).to_contain_text("127.0.0.1:10/v1")

    bare.page.locator("#pd-target button").first.click()  # it covers the editor
    bare.paste('{"messages": []}')
    bare.aim_at(URL)
    bare.page.add_init_script(HOLD_THE_DRAFT)
    bare.load()
    bare.page.locator("#pd-target button").first.click()
    endpoint.fill("http://127.0.0.1:10/v1")
    bare.page.evaluate("release()")
    expect(bare.page.locator("#pd-notices")).to_contain_text("Your last text, restored from this browser.")
    bare.page.evaluate(THREE_FRAMES)
    expect(endpoint).to_have_value("http://127.0.0.1:10/v1")


def test_address_and_model_are_taken_from_a_pasted_call_and_a_model_from_the_servers_list(bare: DebuggerPage) -> None:
    page = bare.page
    body = '{"model": "qwen", "messages": [{"role": "user", "content": "Hi"}]}'
    bare.aim_at("http://127.0.0.1:11/v1")
    bare.paste(f"curl {URL}/chat/completions -H 'Authorization: Bearer {KEY}' -d '{body}'")
    expect(page.locator("#pd-notices")).to_contain_text("Run asks http://127.0.0.1:11/v1 instead.")

    page.get_by_role("button", name="Use as target").click()

    expect(page.get_by_label("Endpoint", exact=True)).to_have_value(URL)
    assert fields(bare) == (URL, "qwen")
    expect(page.locator("#pd-key input")).to_be_focused()
    expect(page.locator("#pd-notices")).to_contain_text("Run sends the request there, with the key that it contains.")
    expect(page.get_by_role("button", name="Use as target")).to_have_count(0)  # it is
    expect(page.locator("#pd-key input")).to_have_value(KEY)
    assert KEY not in page.evaluate("JSON.stringify({...localStorage})")

    bare.paste(f"curl {URL}/chat/completions -H 'Authorization: Bearer $KEY' -d '{body}'")
    page.get_by_role("button", name="Enter its key").click()
    expect(page.locator("#pd-key input")).to_be_focused()
    expect(page.get_by_role("button", name="Use as target")).to_have_count(0)

    listed: JSON = {"object": "list", "data": [{"id": "qwen"}, {"id": "kimi"}]}
    with serving({"/v1/models": answer(200, listed), "*": answer(404)}) as url:
        bare.aim_at(url)
        page.get_by_role("button", name="Test this server").click()
        models = page.get_by_label("Model of this server")
        expect(models.locator("option")).to_have_text(["Choose one of its 2 models", "qwen", "kimi"])
        assert violations(page, "#pd-look-words") == []

        models.select_option("kimi")

        expect(page.locator("#pd-target").get_by_label("Model", exact=True)).to_have_value("kimi")
        assert fields(bare) == (url, "kimi")


def test_run_says_where_it_goes_and_a_pasted_call_makes_its_server_the_target(bare: DebuggerPage) -> None:
    page = bare.page
    run, endpoint = page.locator("#pd-run"), page.get_by_label("Endpoint", exact=True)
    body = '{"model": "qwen", "messages": [{"role": "user", "content": "Hi"}]}'
    with serving({"/v1/models": answer(200, {"object": "list", "data": []}), "*": answer(503)}) as url:
        bare.paste(f"curl {url}/chat/completions -d '{body}'")
        expect(run).to_have_text(f"Run on {url.removeprefix('http://').removesuffix('/v1')}")

        bare.run()

        expect(page.locator("#pd-header")).to_contain_text(url.removeprefix("http://").removesuffix("/v1"))
        page.locator("#pd-target button").first.click()
        expect(endpoint).to_have_value(url)

        page.locator("#pd-run-on input").click()
        page.get_by_role("option", name="on the lab").click()
        expect(endpoint).to_have_value("")
        expect(run).not_to_contain_text("127.0.0.1")
        bare.paste(f"curl {url}/chat/completions -d '{body}' ")
        expect(page.locator("#pd-notices")).to_contain_text("It names the server")
        expect(endpoint).to_have_value("")


def test_a_saved_server_is_in_runs_menu(bare: DebuggerPage) -> None:
    page = bare.page
    bare.aim_at(URL)
    page.get_by_label("Name of this server").fill("mine")
    page.get_by_role("button", name="Save this server").click()
    expect(page.locator("#pd-servers")).to_contain_text("Saved in this browser, without the key.")
    bare.aim_at("http://127.0.0.1:10/v1")
    page.keyboard.press("Escape")

    for _ in range(2):  # also after a reload
        page.locator("#pd-run-on input").click()
        page.get_by_role("option", name="on mine").click()

        expect(page.locator("#pd-run")).to_have_text(f"Run on {URL.removeprefix('http://').removesuffix('/v1')}")
        expect(page.locator("#pd-run-on input")).to_have_value("on the target")
        page.evaluate("localStorage.removeItem('pd-draft')")
        bare.load()
        expect(page.locator("#pd-run")).not_to_contain_text("127.0.0.1:10")


def test_the_next_paste_changes_the_target_that_a_paste_has_set_and_takes_its_key_away(bare: DebuggerPage) -> None:
    page = bare.page
    run, key = page.locator("#pd-run"), page.locator("#pd-key input")
    curl = "curl http://{}/v1/chat/completions -H 'Authorization: Bearer {}' -d '{{\"messages\": []}}'"
    bare.paste(curl.format("127.0.0.1:9", KEY))
    expect(run).to_have_text("Run on 127.0.0.1:9")
    expect(key).to_have_value(KEY)
    expect(page.locator("#pd-target .label-wrap")).to_contain_text("127.0.0.1:9")

    bare.paste(curl.format("127.0.0.1:10", "$KEY"))
    expect(run).to_have_text("Run on 127.0.0.1:10")
    expect(key).to_have_value("")

    bare.aim_at("http://127.0.0.1:11/v1")
    bare.paste(curl.format("127.0.0.1:9", KEY))
    expect(page.locator("#pd-notices")).to_contain_text("Run asks http://127.0.0.1:11/v1 instead.")
    expect(run).to_have_text("Run on 127.0.0.1:11")
    expect(key).to_have_value("")
