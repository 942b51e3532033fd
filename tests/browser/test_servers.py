"""Saved servers: in the browser alone, one click away, never with a key."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser

URL = "http://127.0.0.1:9/v1"
KEY = "sk-of-the-visitor-123"


def test_a_saved_server_fills_the_fields_after_a_reload_and_knows_no_key(bare: DebuggerPage) -> None:
    page = bare.page
    model = page.locator("#pd-target").get_by_label("Model", exact=True)
    bare.aim_at(URL)
    model.fill("my-model")
    page.locator("#pd-key input").fill(KEY)
    page.get_by_role("button", name="Save this server").click()
    expect(page.locator("#pd-servers")).to_contain_text("Saved in this browser, without the key.")
    page.get_by_label("Endpoint", exact=True).fill("")
    model.fill("")

    bare.load()
    page.locator("#pd-target button").first.click()
    page.get_by_role("button", name="127.0.0.1:9/v1 · my-model").click()

    expect(page.get_by_label("Endpoint", exact=True)).to_have_value(URL)
    expect(model).to_have_value("my-model")
    assert KEY not in page.evaluate("JSON.stringify({...localStorage})")
    assert violations(page, "#pd-servers") == []
    page.get_by_role("button", name=f"Forget {URL}").click()
    expect(page.locator(".pd-servers-use")).to_have_count(0)
