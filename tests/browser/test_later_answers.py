"""What vLLM's parsers say of a lost call once the run is over: in every copy of it, whatever was pressed meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.web.parse_tools import MatrixChange, ParseTools
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.browser.tasks import REQUEST
from tests.browser.test_history import KEPT
from tests.core.complete.faulty_server import answer
from tests.patience import PATIENCE_MS, PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from prompt_debugger.ui.web.labs import PageLabs

pytestmark = [pytest.mark.browser, pytest.mark.lab]


def kept_runs(page: DebuggerPage) -> list[dict[str, dict[str, object]]]:
    """Return the bundles of the history, the oldest first."""
    bundles = [json.loads(text) for text in json.loads(page.page.evaluate(KEPT))[1]]
    assert all(isinstance(bundle, dict) for bundle in bundles)
    return bundles


@pytest.fixture
def slow(
    watched: Page, page_labs: PageLabs, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[DebuggerPage, threading.Event]]:
    """A page with a lab whose parsers answer when they are let."""
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    let, whole = threading.Event(), ParseTools.lost_call

    async def lost_call(
        tools: ParseTools, trace: Trace | None, tokenizer: str, run: int | None
    ) -> AsyncGenerator[MatrixChange, None]:
        while not let.is_set():
            await asyncio.sleep(0.05)
        async for step in whole(tools, trace, tokenizer, run):
            yield step

    monkeypatch.setattr(ParseTools, "lost_call", lost_call)
    settings = PageSettings(port=0)
    app = build_app(settings, page_labs)
    page = DebuggerPage(watched, serve_app(app, settings)[1].rstrip("/"))
    page.load()
    yield page, let
    let.set()
    app.close(verbose=False)


def test_a_proof_added_while_they_are_asked_takes_nothing_from_what_they_say(
    slow: tuple[DebuggerPage, threading.Event],
) -> None:
    page, let = slow
    verdict = page.page.locator("#pd-verdict")
    page.run(timeout_ms=4 * PATIENCE_MS)  # boots the lab
    verdict.get_by_role("button", name="Try the fix").click()
    expect(verdict.locator(".pd-trial")).to_contain_text("Fixed: 1 of 1 call returned.")
    verdict.get_by_role("button", name="Add to report").click()
    let.set()
    expect(verdict.locator(".pd-actions [role=status]")).to_have_text("Share has it.")
    expect(verdict.get_by_role("button", name="In the report")).to_be_disabled()  # not before it is there
    expect(page.page.get_by_role("region", name="Other parsers")).to_contain_text("vllm:kimi_k2")

    page.page.get_by_role("button", name="Share \u25be").click()
    with page.page.expect_download() as saved:
        page.page.get_by_role("button", name="JSON bundle").click()
    bundle = json.loads(saved.value.path().read_text("utf-8"))

    assert any("proof" in finding for finding in bundle["findings"])
    assert "vllm:kimi_k2" in bundle["parse"]["parsers"]


@pytest.mark.parametrize("is_kept", [True, False])
def test_the_second_server_does_not_wait_for_what_they_say_of_the_first_run(
    slow: tuple[DebuggerPage, threading.Event], *, is_kept: bool
) -> None:
    page, _ = slow  # the question about the run that is shown is never let
    if not is_kept:
        page.page.evaluate("localStorage.setItem('pd-keep-nothing', '1')")
    listed = answer(200, {"object": "list", "data": [{"id": "m"}]})
    said = answer(200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": "No."}}]})
    with serving({"/v1/models": listed, "/v1/chat/completions": said, "*": answer(404)}) as url:
        page.paste(REQUEST)
        page.aim_at(url)
        page.page.click("#pd-run-on input")
        page.page.get_by_role("option", name="both, and compare").click()
        expect(page.page.locator("#pd-run")).to_contain_text("Run on lab and ")
        page.page.click("#pd-run")
        compare = page.page.locator("#pd-tab-compare")
        expect(compare).to_have_attribute("aria-selected", "true", timeout=4 * PATIENCE_MS)
        expect(page.page.locator(".pd-comparison-side")).to_have_count(2)

    if is_kept:
        until = time.monotonic() + PATIENCE_S
        while not kept_runs(page)[0]["parse"]["parsers"] and time.monotonic() < until:
            page.page.wait_for_timeout(200)
        first, second = kept_runs(page)
        assert (first["server"]["is_lab"], second["server"]["is_lab"]) == (True, False)
        assert "vllm:kimi_k2" in str(first["parse"]["parsers"])
