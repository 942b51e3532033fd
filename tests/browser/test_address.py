"""The address says what is open: Back, a reload, another tab and another browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.page import DebuggerPage
from tests.browser.test_history import CALL, menu, run_output

pytestmark = pytest.mark.browser

OUTPUT = CALL.format("Oslo")


def fragment(page: Any) -> str:
    return urlsplit(str(page.url)).fragment


def panel(page: Any) -> str:
    return str(page.evaluate("document.documentElement.dataset.panel"))


def test_back_goes_back_through_panels_and_tools(bare: DebuggerPage) -> None:
    page, first = bare.page, panel(bare.page)
    assert fragment(page) == ""  # nothing was opened by hand
    bare.open_stage("complete")
    bare.open_stage("fix")
    page.locator("#pd-tab-of-pd-fix-shrink").click()
    assert fragment(page) == "tab=fix&tool=shrink"

    page.go_back()
    expect(page.locator("#pd-tab-of-pd-fix-trials")).to_have_attribute("aria-selected", "true")
    page.go_back()
    page.wait_for_selector("html[data-panel=complete]")
    page.go_back()
    page.wait_for_selector(f"html[data-panel={first}]")
    assert fragment(page) == ""
    page.go_forward()
    page.wait_for_selector("html[data-panel=complete]")
    assert fragment(page) == "tab=complete"


def test_a_click_that_opens_nothing_is_not_a_step(bare: DebuggerPage) -> None:
    length = bare.page.evaluate("history.length")

    bare.page.click("#pd-verdict")
    bare.page.click("#pd-request .cm-content")
    bare.page.keyboard.press("Tab")

    assert (fragment(bare.page), bare.page.evaluate("history.length")) == ("", length)


def test_an_address_opens_there_in_a_fresh_browser(bare: DebuggerPage, new_context: Any) -> None:
    bare.open_stage("render")
    bare.page.locator("#pd-prompt-tokens [data-at]").nth(30).click()
    assert fragment(bare.page) == "tab=render&at=prompt.t30"

    other = new_context().new_page()
    other.goto(bare.page.url)

    other.wait_for_selector("html[data-panel=render]")
    expect(other.locator("#pd-prompt-tokens .pd-shown").first).to_be_visible()
    assert fragment(other) == "tab=render&at=prompt.t30"


def test_an_address_with_a_tool_opens_it(watched: Any, bare_url: str) -> None:
    page = DebuggerPage(watched, f"{bare_url}")
    watched.goto(f"{bare_url}/#tab=fix&tool=shrink")

    expect(watched.locator("#pd-tab-of-pd-fix-shrink")).to_have_attribute("aria-selected", "true")
    expect(watched.locator("#pd-tab-fix")).to_have_attribute("aria-selected", "true")
    page.open_stage("parse")
    assert fragment(watched) == "tab=parse"


def test_runs_that_this_browser_does_not_have_are_reported(watched: Any, bare_url: str) -> None:
    watched.goto(f"{bare_url}/#tab=compare&runs=998-999")

    expect(watched.locator("#pd-tab-compare")).to_have_attribute("aria-selected", "true")
    expect(watched.locator("#pd-comparison [role=status]")).to_contain_text("a run that this browser does not have")


@pytest.mark.parametrize("hash_", ["#tab=nothing", "#tab=render&at=prompt.t999999", "#tab=fix&tool=none", "#runs=1-2"])
def test_an_address_that_names_nothing_does_no_harm(watched: Any, bare_url: str, hash_: str) -> None:
    watched.goto(f"{bare_url}/{hash_}")

    expect(watched.locator(".pd-stage").first).to_be_visible()
    assert panel(watched)


def test_letting_go_of_a_token_leaves_the_address(bare: DebuggerPage) -> None:
    bare.open_stage("render")
    bare.page.locator("#pd-prompt-tokens [data-at]").nth(3).click()

    bare.page.keyboard.press("Escape")

    assert fragment(bare.page) == "tab=render"


def test_two_tabs_do_not_disturb_each_other(bare: DebuggerPage) -> None:
    run_output(bare, "Oslo", 1)
    bare.open_stage("complete")
    other = DebuggerPage(bare.page.context.new_page(), bare.url)
    other.load()
    run_output(other, "Paris", 2)
    other.open_stage("findings")

    bare.page.reload()

    bare.page.wait_for_selector("html[data-panel=complete]")
    bare.page.wait_for_function(
        "text => document.querySelector('#pd-request .cm-content')?.cmTile.view.state.doc.toString() === text",
        arg=OUTPUT,
    )
    expect(bare.page.locator("#pd-completion")).to_contain_text("Oslo")
    expect(menu(bare).locator(".pd-history-run")).to_have_count(2)
