"""The check panel in a browser: the lab model's template against vLLM's parsers, one cell, and that cell in Parse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import Parse, ParserOutcome
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.tools.check import cell_trace, ideal_of
from prompt_debugger.core.tools.check.plugin_fallback import plugin_fallback
from prompt_debugger.ui.present.model_check import cell_payload, check_payload
from tests.browser.axe import violations
from tests.browser.bench import GRADIO_RULES
from tests.browser.page import DebuggerPage
from tests.core.tools.check.checks import STREAMS_WRONG, WRONG, check_of
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

    expect(page.locator(".pd-check-verdict .pd-check-words")).to_contain_text("--tool-call-parser kimi_k2")
    flag = page.locator(".pd-check-verdict .pd-command-word", has_text="--tool-call-parser")
    assert flag.evaluate("word => word.getClientRects().length") == 1  # no line breaks within it
    expect(
        page.locator(".pd-check-table tbody tr").first
    ).to_be_in_viewport()  # with no more than what is recommended above
    top = page.locator(".pd-check-table tbody tr").first
    expect(top).to_contain_text("recommended")
    failing = page.locator(".pd-check-table tbody .pd-check-cell:has(.pd-check-fail)").first
    failing.click()
    expect(page.locator(".pd-check-sides")).to_be_visible()
    raw = page.locator(".pd-check-sides .pd-fate").first.inner_text()

    page.get_by_role("button", name="Open in Parse").click()
    expect(page.locator(".pd-header")).to_contain_text("from a check")
    expect(page.locator("#pd-panel-parse")).to_be_visible()
    assert raw in page.locator("#pd-ledger .pd-raw").inner_text()
    assert '"raw"' in bare.request_text()
    bare.run()  # what is in the editor is read for the same output
    assert raw in page.locator("#pd-ledger .pd-raw").inner_text()


@pytest.fixture
def shown(bare: DebuggerPage) -> DebuggerPage:
    """The panel with a check that a test chose, and one cell of it open; no parser was asked."""
    outcome = ParserOutcome(None, "left <tool_call>", ())
    wrong = replace(WRONG, outcome=outcome)
    made = check_of(cells={"two-calls": wrong, "types": replace(STREAMS_WRONG, outcome=outcome, split=("<tool", ">"))})
    made = replace(made, cells={**made.cells, "vllm:reads_no_call": dict.fromkeys(made.cells["vllm:hermes"], WRONG)})
    way = plugin_fallback(made.ideals, made.tools, made.family, {})
    engines = replace(made.engines, note="It holds while vLLM takes the template.")
    made = replace(made, recommendation=replace(made.recommendation, plugin_fallback=way), engines=engines)
    trace = cell_trace(made, "vllm:hermes", "two-calls")
    for step in read_run(trace, frozenset()):
        trace = replace(trace, parse=step) if isinstance(step, Parse) else trace
    payloads = {
        "model_check": check_payload(made),
        "check_cell": cell_payload(made, "vllm:hermes", ideal_of(made, "two-calls"), trace),
    }
    bare.page.click("#pd-tab-check")
    for view, payload in payloads.items():
        bare.page.evaluate("([name, payload]) => PromptDebugger.controller(name).set(payload)", [view, payload])
    return bare


def test_the_matrix_is_walked_by_keys_filtered_and_breaks_no_accessibility_rule(shown: DebuggerPage) -> None:
    page = shown.page
    rows = page.locator(".pd-check-table tbody tr")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Show the other 1").click()
    expect(rows).to_have_count(2)

    first = page.locator(".pd-check-cell").first
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    label = str(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert label == "reads_no_call, one-call: whole: not returned correctly; streamed: not tried"
    assert "reads_no_call" in shown.inspector()
    assert violations(page, "#pd-panel-check", GRADIO_RULES) == []
    page.evaluate("document.body.classList.add('dark')")  # gradio's own buttons change slowly: our views alone
    assert violations(page, "#pd-model-check") + violations(page, "#pd-check-cell") == []

    page.get_by_role("button", name="Show the other 1").or_(page.get_by_role("button", name="Hide those")).click()
    columns = page.locator(".pd-check-answer").count()
    page.get_by_role("button", name="Only failing").click()
    expect(page.locator(".pd-check-answer")).to_have_count(2)
    assert columns > 2
    page.get_by_role("button", name="Reasoning parsers").click()
    expect(rows).to_have_count(0)


def test_the_way_out_is_three_commands_to_copy(shown: DebuggerPage) -> None:
    steps = shown.page.locator(".pd-check-plugin .pd-check-command")
    way = shown.page.locator(".pd-check-plugin")
    if way.get_attribute("open") is None:  # it is folded where a parser of the engine's own will do
        way.locator("summary").click()

    expect(steps).to_have_count(3)
    steps.nth(1).get_by_role("button", name="Copy").click()
    shown.page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('--parser-file')")
    expect(shown.page.locator(".pd-check-template")).to_contain_text("It holds while vLLM takes the template.")


def test_the_matrix_is_saved_as_a_picture(shown: DebuggerPage) -> None:
    with shown.page.expect_download() as download:
        shown.page.get_by_role("button", name="Picture").click()

    assert download.value.suggested_filename == "check.png"
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"


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
