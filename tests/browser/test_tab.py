"""What one test leaves in the tab that tests share is not seen by the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Keep
from tests.browser.page import DebuggerPage
from tests.browser.tab import Tab

pytestmark = pytest.mark.browser

LEAVE = """async () => {
  localStorage.setItem("left", "1"); sessionStorage.setItem("left", "1"); document.cookie = "left=1"; name = "left";
  await (await caches.open("left")).put("/left", new Response("left"));
  await new Promise((done, fail) => {
    const opening = indexedDB.open("left", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("left").put("left", "left");
    opening.onsuccess = done; opening.onerror = fail;
  });
  await navigator.clipboard.writeText("left"); history.pushState({}, "", "#left");
  addEventListener("pagehide", () => localStorage.setItem("left late", "1"));
  document.documentElement.style.background = "red";
}"""
SEE = """async () => ({
  local: {...localStorage}, session: {...sessionStorage}, cookie: document.cookie, name,
  databases: await indexedDB.databases(), caches: await caches.keys(), clipboard: await navigator.clipboard.readText(),
  size: [innerWidth, innerHeight, outerWidth, outerHeight],
  media: ["print", "(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)", "(forced-colors: active)",
    "(prefers-contrast: more)"].filter(query => matchMedia(query).matches),
})"""
LASTING: dict[str, Callable[[Any], object]] = {
    "a script in every page": lambda page: page.add_init_script("globalThis.left = 1"),
    "a function of ours": lambda page: page.expose_function("left", lambda: 1),
    "a route of the context": lambda page: page.context.route("**/left", lambda route: route.abort()),
    "no network": lambda page: page.context.set_offline(True),
    "no permissions": lambda page: page.context.clear_permissions(),
    "a second origin": lambda page: page.goto("data:text/html,left"),
    "a tab that is closed": lambda page: page.close(),
}


@pytest.fixture
def tab_of_mine(browser: Any, browser_context_args: dict[str, Any]) -> Iterator[Tab]:
    tab = Tab(lambda: browser.new_context(**browser_context_args), browser_context_args["viewport"])
    yield tab
    tab.close()


def seen(page: Any, url: str) -> dict[str, object]:
    page.bring_to_front()
    page.goto(f"{url}/theme.css")
    return {**page.evaluate(SEE), "pages": len(page.context.pages)}


def test_nothing_that_a_test_left_is_seen_by_the_next(tab_of_mine: Tab, bare_url: str) -> None:
    page = tab_of_mine.take()
    page.goto(f"{bare_url}/theme.css")
    page.evaluate("navigator.clipboard.writeText('')")  # which the whole browser shares
    at_first = seen(page, bare_url)
    heard: list[str] = []
    page.evaluate(LEAVE)
    page.route("**/theme.css", lambda route: route.fulfill(body="left", content_type="text/html"))
    page.on("console", lambda message: heard.append(message.text))
    page.set_viewport_size({"width": 400, "height": 300})
    page.emulate_media(media="print", color_scheme="dark", reduced_motion="no-preference", forced_colors="active")
    page.context.new_page().goto(f"{bare_url}/theme.css")
    page.context.add_cookies([{"name": "late", "value": "1", "url": bare_url}])
    left = seen(page, bare_url)
    assert [name for name in at_first if left[name] == at_first[name]] == [], "all of it can be seen"

    tab_of_mine.give_back(is_sound=True)
    page = tab_of_mine.take()
    again = seen(page, bare_url)
    page.evaluate("console.log('next')")

    assert tab_of_mine.contexts == 1
    assert again == at_first
    assert heard == []
    page.go_back()
    expect(page).to_have_url("about:blank")  # what was there before this test is not in its history


@pytest.mark.parametrize("leave", LASTING.values(), ids=LASTING.keys())
def test_what_cannot_be_taken_back_ends_the_context(
    tab_of_mine: Tab, bare_url: str, leave: Callable[[Any], object]
) -> None:
    page = tab_of_mine.take()
    page.goto(f"{bare_url}/theme.css")
    leave(page)

    tab_of_mine.give_back(is_sound=True)

    assert tab_of_mine.take().context is not page.context


def test_a_test_that_failed_leaves_nothing_at_all(tab_of_mine: Tab, bare_url: str) -> None:
    page = tab_of_mine.take()
    page.goto(f"{bare_url}/theme.css")

    tab_of_mine.give_back(is_sound=False)

    assert tab_of_mine.take().context is not page.context


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda page: page.paste("another request"), id="a text"),
        pytest.param(lambda page: page.page.evaluate("void document.body.append('left')"), id="a word anywhere"),
        pytest.param(
            lambda page: page.page.locator("#pd-verdict").evaluate("e => { e.hidden = true; }"), id="a part gone"
        ),
        pytest.param(lambda page: page.page.evaluate("history.pushState({}, '', '#left')"), id="an address"),
        pytest.param(lambda page: page.choose("A healthy tool call"), id="a case"),
    ],
)
def test_a_page_is_kept_as_long_as_it_is_found_as_it_was(
    keep: Keep, bare_url: str, leave: Callable[[DebuggerPage], object]
) -> None:
    first = keep(bare_url)
    first.page.evaluate("globalThis.isFirst = true")
    assert keep(bare_url).page.evaluate("globalThis.isFirst") is True

    leave(first)
    assert keep(bare_url).page.evaluate("globalThis.isFirst") is None


def test_what_every_hand_moves_is_put_back(keep: Keep, tab: Tab, bare_url: str) -> None:
    moved = keep(bare_url)
    assert tab.kept is not None
    moved.page.set_viewport_size({"width": 390, "height": 844})
    moved.open_stage("render")
    moved.page.evaluate("document.body.classList.add('dark')")
    moved.page.evaluate("localStorage.setItem('left', '1')")
    moved.page.locator("#pd-request .cm-content").focus()
    moved.page.keyboard.press("ArrowDown")
    moved.page.evaluate("scrollTo(0, 200)")
    assert tab.kept.differences()

    tab.put_window_back()
    tab.kept.put_back()
    assert tab.kept.differences() == []
