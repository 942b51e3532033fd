"""The page walked as someone who picks at it: every panel, at the sizes that people have, in both themes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations, violations_in_both_themes
from tests.browser.page import DebuggerPage
from tests.browser.test_room import COUNT_SHIFTS, GRADIO_RULES, NO_WAY_OUT
from tests.browser.walk import FAULTS, FILLED

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RUN = (["Run"], ["Run without a server"])  # until a text is read, and then
PANELS = "[...document.querySelectorAll('[data-opens]')].map(tab => tab.id)"
BY_SIZE = ("target-size",)  # the rule whose answer goes by the width
SIZES = {
    "full": (1920, 1080),
    "laptop": (1440, 900),
    "small": (1280, 720),
    "zoomed": (720, 450),  # 1440 x 900 at 200 %
    "phone": (400, 850),
}


@pytest.mark.parametrize("size", SIZES)
def test_every_panel_is_whole_at_every_size(watched: Any, bare_url: str, size: str) -> None:
    """`watched` fails on console errors and on requests to other machines."""
    width, height = SIZES[size]
    watched.set_viewport_size({"width": width, "height": height})
    watched.add_init_script(COUNT_SHIFTS + NO_WAY_OUT)
    page = DebuggerPage(watched, bare_url)
    page.load()
    page.settle_layout()
    moved = watched.evaluate("globalThis.__shifts")  # what a press brings about may move what is below it
    wrong: list[tuple[str, str]] = []
    panels = watched.evaluate(PANELS)
    for panel in panels:
        watched.evaluate("id => document.getElementById(id).click()", panel)
        page.settle_layout()
        wrong += [(panel, fault) for fault in watched.evaluate(FAULTS)]
        if size == "laptop":
            wrong += [(panel, found) for found in violations_in_both_themes(watched, "#pd-right", GRADIO_RULES)]
        elif size == "phone":
            wrong += [(panel, found) for found in violations(watched, "#pd-right", only=BY_SIZE)]
        filled = watched.evaluate(FILLED)
        if filled != ["Show the fix"]:  # no lab is there to try it on
            wrong.append((panel, f"filled: {filled}"))

    assert len(panels) >= 14
    assert wrong == []
    assert sum(value for value, _ in moved) <= 0.05, moved


def test_run_is_the_filled_button_where_the_verdict_offers_no_step(bare: DebuggerPage) -> None:
    bare.page.locator("#pd-request .cm-content").press("End")
    bare.page.keyboard.type(" ")
    bare.page.keyboard.type("x")
    expect(bare.page.locator("html[data-outdated]")).to_be_attached()

    assert bare.page.evaluate(FILLED) in RUN

    bare.paste(json.dumps({"messages": [{"role": "user", "content": "Hi"}]}))
    expect(bare.page.locator("html[data-own-text]")).to_be_attached()

    assert bare.page.evaluate(FILLED) in RUN


@pytest.mark.parametrize("window_width", [1440, 400])
def test_a_huge_paste_and_a_server_that_is_not_there_leave_the_page_whole(bare: DebuggerPage) -> None:
    bare.paste(json.dumps({"messages": [{"role": "user", "content": "A word of many. " * 125_000}]}))
    expect(bare.page.locator("#pd-notices")).to_contain_text("characters: read when you press Run")
    bare.settle_layout()

    assert bare.page.evaluate(FAULTS) == []

    bare.paste('curl http://127.0.0.1:9/v1/chat/completions -d \'{"messages": [{"role": "user", "content": "Hi"}]}\'')
    expect(bare.page.locator("#pd-run")).to_have_text("Run on 127.0.0.1:9")
    bare.run()
    bare.settle_layout()

    assert bare.badge() == "SERVER"
    assert bare.page.evaluate(FAULTS) == []
    assert bare.page.evaluate(FILLED) == ["Change the target"]
