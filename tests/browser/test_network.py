"""What went over the wire in a run, on the page."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSONObject
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import answer, chunk, stream

pytestmark = pytest.mark.browser

KEY = "sk-of-the-visitor-123"
# Each exchange has its time on the line of the whole run.
BARS_ON_THEIR_LINE = """() => [...document.querySelectorAll(".pd-net-fall")].map(line => {
    const [around, bars] = [line.getBoundingClientRect(), [...line.children].map(bar => bar.getBoundingClientRect())];
    return bars.length > 0 && bars.every(bar => bar.left >= around.left - 1 && bar.right <= around.right + 3);
})"""
MESSAGE: JSONObject = {"role": "assistant", "content": "Hello there"}


def test_every_exchange_of_a_run_is_there_with_its_events_and_without_the_key(bare: DebuggerPage) -> None:
    page = bare.page
    events = stream(chunk(delta=MESSAGE), chunk(delta={}, finish_reason="stop"), b"data: [DONE]\n\n")
    choice: JSONObject = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
    chat = "/v1/chat/completions"
    behaviours = {
        "/v1/models": answer(200, {"data": [{"id": "m"}]}),
        chat: answer(200, {"choices": [choice]}),
        f"{chat}#stream": events,
    }
    with serving(behaviours) as url:
        bare.paste(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
        bare.aim_at(url)
        page.locator("#pd-key input").fill(KEY)
        bare.run()
        bare.open_stage("complete")
        page.locator(".pd-net-head").click()
        rows = page.locator(".pd-net-row")
        streamed = rows.filter(has_text="chat, streamed").first
        streamed.locator("summary").click()

        expect(rows.filter(has_text="which models it serves")).to_have_count(1)
        assert page.evaluate(BARS_ON_THEIR_LINE) == [True] * rows.count()
        expect(streamed.locator(".pd-net-events li")).to_have_count(3)
        expect(streamed.locator(".pd-net-headers").first).to_contain_text("[masked]")
        assert violations(page, "#pd-network") == []
        assert KEY not in page.content()
        streamed.get_by_role("button", name="Copy as curl").click()
        expect(streamed.get_by_role("button", name="copied")).to_be_visible()
        assert '-H "Authorization: Bearer $OPENAI_API_KEY"' in page.evaluate("navigator.clipboard.readText()")

    bare.page.locator("#pd-case input").click()
    bare.page.get_by_role("option", name="A healthy tool call", exact=True).click()
    expect(page.locator("#pd-network .pd")).to_be_hidden()
