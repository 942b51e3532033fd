"""A run on the real lab, as a newcomer does it: open the page, press Run, read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.axe import violations
from tests.browser.conftest import Keep
from tests.browser.page import DebuggerPage
from tests.browser.test_page import GRADIO_RULES
from tests.patience import PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.lab]


def run_and_ask_parsers(page: DebuggerPage) -> None:
    """Run what the page opens with, and wait until other parsers have answered, too."""
    page.run()
    expect(other_parsers(page)).to_contain_text("vllm:kimi_k2", timeout=PATIENCE_MS)
    page.settle_layout()


def other_parsers(page: DebuggerPage) -> Locator:
    return page.page.get_by_role("region", name="Other parsers")


@pytest.fixture
def dropped(keep: Keep, lab_url: str) -> DebuggerPage:
    """The page after the run of the case that it opens with; tests that only read go on with one page."""
    return keep(lab_url, run_and_ask_parsers)


@pytest.mark.parametrize("theme", ["dark", "light"])  # the next tests go on with the light one
def test_a_page_full_of_results_breaks_no_accessibility_rule(dropped: DebuggerPage) -> None:
    found = []
    for stage in ("render", "complete", "parse", "findings"):
        dropped.open_stage(stage)
        found += violations(dropped.page, "body", GRADIO_RULES)

    assert found == []


def test_the_preloaded_case_says_what_was_dropped_and_where(dropped: DebuggerPage) -> None:
    assert dropped.badge() == "DROPPED"
    assert dropped.sentence().startswith("The model wrote 1 tool call, the server returned none. Guilty stage: parse.")
    assert dropped.opened_stage() == "parse"
    assert dropped.stage_word("parse") == "the guilty stage"
    assert dropped.figures("parse")[0] == "1 call written · 1 dropped"
    assert "".join(dropped.lost_text()).startswith("get_weather")
    assert '"tool_calls"' not in dropped.message_text()
    assert "same run" in dropped.page.inner_text("#pd-header")

    dropped.open_stage("findings")
    assert "PD401 dropped-call" in dropped.finding_codes()


def test_the_prompt_is_there_token_by_token_with_its_template_lines(dropped: DebuggerPage) -> None:
    dropped.open_stage("render")
    dropped.page.locator("#pd-prompt-tokens [data-at='0']").hover()

    assert dropped.tokens()[0] == "<|im_system|>"
    assert "".join(dropped.tokens()).endswith("<|im_assistant|>assistant<|im_middle|>")
    assert "special" in dropped.inspector()
    lit = dropped.page.locator("#pd-template .pd-lit")
    assert len(set(lit.evaluate_all("rows => rows.map((row) => row.dataset.line)"))) == 1  # one line, however wrapped


def test_every_piece_of_evidence_leads_somewhere(dropped: DebuggerPage) -> None:
    dropped.open_stage("findings")
    buttons = dropped.page.locator("#pd-findings .pd-jump")
    expect(buttons.first).to_be_visible()
    for index in range(buttons.count()):
        dropped.page.eval_on_selector_all(
            "#pd-findings details", "folds => folds.forEach((fold) => (fold.open = true))"
        )
        is_in_request = "request" in buttons.nth(index).inner_text()
        is_in_request |= (
            buttons.nth(index).locator("xpath=ancestor::section[contains(@class, 'pd-offered')]").count() > 0
        )
        buttons.nth(index).click()
        if is_in_request:
            dropped.wait_for_selection()
        else:
            assert dropped.opened_stage() != "findings"
        dropped.open_stage("findings")


def test_a_dropped_call_is_shown_to_other_parsers_too(dropped: DebuggerPage) -> None:
    table = other_parsers(dropped)
    expect(table).to_contain_text("vllm:kimi_k2")

    dropped.page.locator(".pd-show-all").click()
    expect(table.get_by_role("row")).to_have_count(55)


def test_choosing_another_case_clears_the_results_of_the_last(dropped: DebuggerPage) -> None:
    dropped.choose("A healthy tool call")

    assert dropped.state() == "recorded"
    assert dropped.sentence() == "1 call written, 1 returned. Nothing lost."
    dropped.open_stage("parse")
    assert dropped.lost_text() == []
