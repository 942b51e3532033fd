"""The check panel in a browser: the lab model's template against vLLM's parsers, one cell, and that cell in Parse."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.bench import GRADIO_RULES
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser


def check(page: DebuggerPage) -> None:
    """Check the model and wait for the end."""
    page.page.click("#pd-tab-check")
    page.page.click("#pd-start-model-check")
    page.page.wait_for_selector("#pd-model-check .pd[data-state=done]", timeout=PATIENCE_MS)
    page.page.wait_for_selector("#pd-start-model-check:not([disabled])", timeout=PATIENCE_MS)


@pytest.mark.vllm
def test_the_matrix_names_the_parser_and_a_cell_opens_in_parse(bare: DebuggerPage) -> None:
    page = bare.page
    check(bare)

    expect(page.locator(".pd-check-words")).to_contain_text("--tool-call-parser kimi_k2")
    top = page.locator(".pd-check-table tbody tr").first
    expect(top).to_contain_text("recommended")
    rows = page.locator(".pd-check-table tbody tr").count()
    page.get_by_role("button", name="Show the other").click()
    expect(page.locator(".pd-check-table tbody tr").nth(rows)).to_be_visible()
    page.get_by_role("button", name="Only failing").click()
    expect(page.locator(".pd-check-table tbody tr").first).to_be_visible()
    assert violations(page, "#pd-panel-check", GRADIO_RULES) == []

    failing = page.locator(".pd-check-table tbody .pd-check-cell:has(.pd-check-fail)").first
    failing.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.className").startswith("pd-check-cell")
    failing.click()
    expect(page.locator(".pd-check-sides")).to_be_visible()
    raw = page.locator(".pd-check-sides .pd-fate").first.inner_text()
    page.evaluate("document.body.classList.add('dark')")
    assert violations(page, "#pd-panel-check", GRADIO_RULES) == []

    page.get_by_role("button", name="Open in Parse").click()
    expect(page.locator(".pd-header")).to_contain_text("from a check")
    expect(page.locator("#pd-panel-parse")).to_be_visible()
    assert raw in page.locator("#pd-ledger .pd-raw").inner_text()
    assert '"raw"' in bare.request_text()
    bare.run()  # what stands in the editor is read for the same output
    assert raw in page.locator("#pd-ledger .pd-raw").inner_text()


def test_before_a_check_the_panel_says_what_it_shows(bare: DebuggerPage) -> None:
    bare.page.click("#pd-tab-check")

    expect(bare.page.locator("#pd-model-check .pd-empty")).to_contain_text("No weights, no GPU")
    assert violations(bare.page, "#pd-panel-check", GRADIO_RULES) == []


@pytest.mark.vllm
def test_stop_ends_a_check_and_says_so(bare: DebuggerPage) -> None:
    bare.page.click("#pd-tab-check")
    bare.page.click("#pd-start-model-check")
    bare.page.wait_for_selector("#pd-model-check .pd[data-state=running]")
    bare.page.click("#pd-stop-model-check:not([disabled])")

    expect(bare.page.locator("#pd-model-check .pd-stopped")).to_be_visible()
    bare.page.wait_for_selector("#pd-start-model-check:not([disabled])")
