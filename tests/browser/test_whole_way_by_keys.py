"""The whole page by keyboard alone, from a paste to a report and through every panel: counted, and never trapped."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.page import DebuggerPage
from tests.browser.rings import ring_fault
from tests.browser.tasks import LOG, expect_fix_of_log
from tests.browser.test_by_keys import Keys

pytestmark = pytest.mark.browser

MAX_KEYS = 30  # from the first load to the report
MAX_STOPS = 60  # of one panel
LEFT_PANEL = "panel => !document.getElementById(panel).contains(document.activeElement)"
PANEL = "'pd-panel-' + document.documentElement.dataset.panel"
FOCUSED = "document.activeElement.id || document.activeElement.textContent.trim()"


def press(keys: Keys, *names: str) -> None:
    """Press keys, and see after each that what has the focus shows it."""
    for name in names:
        keys.pressed += 1
        keys.at.page.keyboard.press(name)
    see_ring(keys)


def tab_to(keys: Keys, name: str) -> None:
    """Press Tab until the button of that name has the focus."""
    wanted = keys.at.page.get_by_role("button", name=name)
    while not wanted.evaluate("one => one === document.activeElement"):
        press(keys, "Tab")
        assert keys.pressed <= MAX_KEYS


def see_ring(keys: Keys) -> None:
    """Hold that what has the focus shows it; an editor does so a moment later."""
    keys.at.settle_layout()
    assert ring_fault(keys.at.page) == ""


def test_a_paste_becomes_a_report_in_few_keys(bare: DebuggerPage) -> None:
    page, keys = bare.page, Keys(bare)
    press(keys, "F6", "F6", "F6")
    expect(page.locator("#pd-request .cm-content")).to_be_focused()
    press(keys, "ControlOrMeta+a")
    page.keyboard.insert_text(LOG)
    page.evaluate("document.querySelectorAll('.pd-verdict > *').forEach((part) => { part.dataset.old = ''; })")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_selector(".pd-verdict > :first-child:not([data-old])")
    bare.wait_for_end()

    press(keys, "Shift+F6")
    expect(page.get_by_role("button", name="Show the fix").first).to_be_focused()
    press(keys, "Enter")
    expect_fix_of_log(bare)
    press(keys, "F6")
    tab_to(keys, "Share ▾")
    press(keys, "Enter")
    tab_to(keys, "Markdown for an issue")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
        keys.pressed += 1
    press(keys, "Escape")
    expect(page.get_by_role("button", name="Share ▾")).to_be_focused()

    assert "--enable-auto-tool-choice" in saved.value.path().read_text("utf-8")
    assert keys.pressed <= MAX_KEYS


def test_every_panel_is_entered_and_left_by_keys(bare: DebuggerPage) -> None:
    page, keys = bare.page, Keys(bare)
    press(keys, "F6", "F6", "F6", "F6", "Home")
    panels = page.evaluate("[...document.querySelectorAll('[data-opens]')].map(tab => tab.id)")
    walked: list[str] = []
    for panel in panels:
        assert page.evaluate(FOCUSED) == panel
        press(keys, "F6")
        own = page.evaluate(PANEL)
        assert not page.evaluate(LEFT_PANEL, own), panel
        for _ in range(MAX_STOPS):
            page.keyboard.press("Tab")
            if page.evaluate(LEFT_PANEL, own):
                break
            see_ring(keys)
        else:
            raise AssertionError(f"{panel} does not let go")
        walked.append(panel)
        page.locator(f"#{panel.replace('.', chr(92) + '.')}").focus()
        press(keys, "ArrowRight")

    assert walked == panels
    assert page.evaluate(FOCUSED) == panels[0]


def test_escape_closes_what_a_key_opened_and_the_focus_goes_back(bare: DebuggerPage) -> None:
    page, keys = bare.page, Keys(bare)
    opened = {
        "Share ▾": "#pd-share-menu",
        "History ▾": ".pd-history-menu",
        "Help and keys": ".pd-help",
    }
    for name, menu in opened.items():
        toggle = page.get_by_role("button", name=name, exact=True)
        toggle.focus()
        press(keys, "Enter")
        expect(page.locator(menu)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(menu)).not_to_be_visible()
        expect(toggle).to_be_focused()

    target = page.locator("#pd-target button").first
    target.focus()
    press(keys, "Enter", "Tab")
    expect(page.locator("#pd-endpoint").locator("input, textarea").first).to_be_focused()
    press(keys, "Escape")
    expect(target).to_be_focused()

    page.locator("#pd-run-on input").focus()
    press(keys, "ArrowDown")
    expect(page.get_by_role("option", name="raw output only")).to_be_visible()
    press(keys, "Escape")
    expect(page.get_by_role("option", name="raw output only")).not_to_be_visible()

    bare.open_stage("render")
    menu = page.locator("#pd-prompt-tokens .pd-view-menu")
    menu.locator("summary").focus()
    press(keys, "Enter", "Tab", "Escape")
    assert not menu.evaluate("one => one.open")
    expect(menu.locator("summary")).to_be_focused()
