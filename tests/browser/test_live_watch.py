"""Live in a browser: a proxy before the target, what passed it counted, and an exchange that becomes the page's run."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from tests.browser.axe import violations
from tests.browser.bench import GRADIO_RULES
from tests.browser.page import DebuggerPage
from tests.browser.test_verification import counting_server

pytestmark = pytest.mark.browser

__all__ = ["counting_server"]  # a fixture


def ask(base_url: str) -> None:
    """Ask a server for a call as a client does."""
    tool: JSON = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    body: JSON = {"model": "m", "messages": [{"role": "user", "content": "Oslo?"}], "tools": [tool]}
    httpx.post(f"{base_url}/chat/completions", json=body, timeout=60).raise_for_status()


def test_what_passes_the_proxy_is_counted_and_opens(bare: DebuggerPage, counting_server: str) -> None:
    page = bare.page
    bare.aim_at(counting_server)
    page.click("#pd-tab-live")
    expect(page.locator(".pd-tool.pd-current")).to_have_text("Live")
    page.get_by_role("button", name="Watch the target").click()
    address = page.locator(".pd-live-address code")
    expect(address).to_contain_text("http://127.0.0.1:")
    expect(page.locator("#pd-start-live")).to_be_disabled()
    base_url = address.inner_text()
    assert base_url != counting_server

    ask(base_url)
    view = page.locator("#pd-live-watch .pd")
    expect(view.locator(".pd-verify-tiles tbody td").first).to_have_text("1")
    expect(view.locator(".pd-live-last")).to_contain_text("Exchange 1, m,")
    page.click("#pd-stop-live")

    expect(view).to_have_attribute("data-state", "done")
    expect(page.locator("#pd-start-live")).to_be_enabled()
    expect(view).to_contain_text("1 exchange · 1 read")
    assert violations(page, "#pd-panel-live", GRADIO_RULES) == []
    with pytest.raises(httpx.ConnectError):
        ask(base_url)
    view.get_by_role("button", name="row 1").first.click()
    expect(page.locator(".pd-sentence")).to_contain_text("get_weather is in content")


def test_the_proxy_ends_with_the_page_that_started_it(bare: DebuggerPage, counting_server: str) -> None:
    bare.aim_at(counting_server)
    bare.page.click("#pd-tab-live")
    bare.page.get_by_role("button", name="Watch the target").click()
    base_url = bare.page.locator(".pd-live-address code").inner_text()
    ask(base_url)

    bare.page.goto("about:blank")

    while not is_refused(base_url):
        bare.page.wait_for_timeout(100)


def is_refused(base_url: str) -> bool:
    """Say whether no one listens there; a connection that was still waiting when the listener closed is reset."""
    try:
        httpx.get(base_url, timeout=60)
    except httpx.ConnectError:
        return True
    except httpx.NetworkError:
        return False
    return False


def test_a_watch_without_a_server_says_so(bare: DebuggerPage) -> None:
    bare.page.click("#pd-tab-live")
    bare.page.get_by_role("button", name="Watch the target").click()

    expect(bare.page.locator("#pd-live-watch .pd")).to_have_attribute("data-state", "error")
    expect(bare.page.locator("#pd-start-live")).to_be_enabled()
