"""The bar of what a prompt costs: each piece leads to the tokens that it counts, by click and by key."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("key", ["", "Enter"])
def test_each_piece_leads_to_its_first_token(loaded: DebuggerPage, key: str) -> None:
    page = loaded.page
    loaded.open_stage("render")
    pieces = page.locator(".pd-cost-bar button")
    titles = [str(piece.get_attribute("title")) for piece in pieces.all()]
    wanted = ["", "tools", "tools[0].", "tools[1].", *(f"messages[{at}]." for at in range(5))]
    for at, field in enumerate(wanted):
        if key:
            pieces.nth(at).focus()
            page.keyboard.press(key)
        else:
            pieces.nth(at).click()
        expect(page.get_by_role("listbox", name="Tokens of the prompt")).to_be_focused()
        inspected = page.locator("#pd-inspector")
        expect(inspected).to_contain_text(f"from {field}" if field else "special: opens a turn")
        expect(page.locator("#pd-prompt-tokens [role=option][aria-selected=true]")).to_be_visible()

    assert len(titles) == len(wanted)
    assert sum(int(title.split(": ")[1].split(" ")[0]) for title in titles) == 166


def test_the_bar_is_one_stop_of_the_keyboard(bare: DebuggerPage) -> None:
    page = bare.page
    bare.open_stage("render")
    page.keyboard.press("F6")
    pieces = page.locator(".pd-cost-bar button")
    expect(pieces.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(pieces.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(pieces.last).to_be_focused()
    expect(page.locator("#pd-inspector")).to_contain_text("costs 15 tokens")
    page.keyboard.press("Tab")
    expect(page.locator("#pd-prompt-tokens .pd-search")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(pieces.last).to_be_focused()
