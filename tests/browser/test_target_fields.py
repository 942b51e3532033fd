"""Two fields under Target: how often the model is asked, and whose certificates are trusted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import Behaviour, answer

pytestmark = pytest.mark.browser

BODY = '{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0}'
SAID: JSON = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It is sunny."}, "finish_reason": "stop"}]
}
MODELS = answer(200, {"object": "list", "data": [{"id": "m"}]})


class Chat:
    """A chat that counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        await answer(200, SAID)(writer)


def behaviours(chat: Behaviour) -> dict[str, Behaviour]:
    return {"/v1/models": MODELS, "/v1/chat/completions": chat, "*": answer(404)}


def test_a_model_that_is_to_be_asked_only_once_is_asked_once_a_run(bare: DebuggerPage) -> None:
    chat = Chat()
    with serving(behaviours(chat)) as url:
        bare.paste(BODY)
        bare.aim_at(url)
        bare.run()
        assert chat.asked > 1

        bare.page.locator("#pd-target button").first.click()  # Run closes it
        bare.page.locator("#pd-ask input").click()
        bare.page.get_by_role("option", name="only once").click()
        expect(bare.page.locator("#pd-ask input")).to_have_value("only once")
        chat.asked = 0
        bare.run()

    assert chat.asked == 1
    assert bare.state() == "done"


def test_a_certificate_that_is_pasted_is_trusted_and_kept_nowhere(bare: DebuggerPage, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="makes the certificate; comes along with vLLM")
    from tests.core.complete.certificates import self_signed_context

    page, tls = bare.page, self_signed_context(tmp_path)
    pem = (tmp_path / "cert.pem").read_text()
    chat = Chat()
    with serving(behaviours(chat), tls) as url:
        bare.paste(BODY)
        bare.aim_at(url)
        bare.run()
        assert bare.state() == "error"
        assert "certificate" in bare.sentence()
        assert chat.asked == 0

        page.locator("#pd-target button").first.click()
        page.locator("#pd-certificates textarea").fill(pem)
        page.locator("#pd-certificates textarea").blur()
        bare.run()

    assert bare.state() == "done"
    assert chat.asked > 0
    assert violations(page, "#pd-target") == []
    assert "BEGIN CERTIFICATE" not in page.evaluate("JSON.stringify({...localStorage})")


def test_the_button_of_an_unsettled_run_opens_the_field_that_settles_it(bare: DebuggerPage) -> None:
    page = bare.page
    with serving(behaviours(Chat())) as url:
        bare.paste(BODY)
        bare.aim_at(url.removesuffix("/v1"))
        bare.run()
        expect(page.locator(".pd-message")).to_contain_text("It is sunny.")  # it is there, though no raw output is
        expect(page.locator(".pd-raw")).to_contain_text("There is no raw output to account for.")

        page.get_by_role("button", name="Name its tokenizer").click()
        expect(page.locator("#pd-tokenizer").locator("input, textarea").first).to_be_focused()
        page.keyboard.type("lab-model")
        bare.run()
        page.get_by_role("tab", name="Tool loop", exact=True).first.click()
        page.get_by_label("Next user message").fill("And in Rome?")
        page.get_by_role("button", name="Go on", exact=True).click()
        expect(page.locator(".pd-loop-turn")).to_have_count(2)  # the same server, written with /v1 or not

    assert bare.state() == "done"
    expect(page.get_by_role("button", name="Name its tokenizer")).to_have_count(0)
    assert bare.figures("render")[0].endswith("special")  # rendered here, token by token
