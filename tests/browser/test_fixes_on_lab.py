"""From a failing run to a working one on the real lab: the tool loop, fixes with before and after, the failing test."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.axe import violations
from tests.browser.bench import GRADIO_RULES
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.lab]
expect.set_options(timeout=PATIENCE_MS)


def open_fix(page: DebuggerPage, name: str) -> None:
    page.page.click("#pd-tab-fix")
    page.page.click(f"#pd-tab-of-pd-fix-{name}")


def turns_of(page: DebuggerPage) -> Locator:
    found: Locator = page.page.locator("#pd-loop .pd-loop-turn")
    return found


def test_calls_are_answered_turn_by_turn_with_the_account_of_every_token(lab_page: DebuggerPage) -> None:
    lab_page.choose("A healthy tool call")
    lab_page.run()
    open_fix(lab_page, "loop")
    answer = lab_page.page.get_by_label("Answer of get_weather")
    expect(lab_page.page.locator("#pd-loop .pd-bench-sentence")).to_have_text("The model waits for 1 answer.")

    # An error takes nothing away that was typed.
    stub = lab_page.page.get_by_label("Answers by tool, as JSON")
    answer.fill("20 degrees")
    stub.fill("{")
    lab_page.page.click("#pd-start-loop")
    expect(lab_page.page.locator("#pd-loop .pd-bench-sentence")).to_contain_text("not valid JSON")
    expect(answer).to_have_value("20 degrees")
    expect(stub).to_have_value("{")

    stub.fill('{"*": "done"}')
    lab_page.page.click("#pd-start-loop")
    expect(turns_of(lab_page)).to_have_count(2)
    expect(turns_of(lab_page).nth(1).locator(".pd-seam[data-state=whole]")).to_contain_text("continues where the model")
    expect(turns_of(lab_page).nth(1)).to_contain_text("20 degrees")
    expect(lab_page.page.locator("#pd-loop")).to_contain_text("0 computed tokens of earlier turns could not be reused")
    expect(stub).to_have_value('{"*": "done"}')
    assert violations(lab_page.page, "#pd-panel-fix", GRADIO_RULES) == []

    turns_of(lab_page).nth(1).get_by_role("button", name="Open the run").click()
    expect(lab_page.page.locator("#pd-header")).to_contain_text("turn 2")
    open_fix(lab_page, "loop")
    expect(turns_of(lab_page)).to_have_count(2)
    turns_of(lab_page).nth(1).get_by_role("button", name="Request into the editor").click()
    expect(turns_of(lab_page).nth(1)).to_contain_text("It is in the editor.")
    assert [message["role"] for message in json.loads(lab_page.request_text())["messages"]][-2:] == [
        "assistant",
        "tool",
    ]


def test_an_applied_fix_opens_compare_with_before_and_after(lab_page: DebuggerPage) -> None:
    lab_page.run()
    lab_page.open_stage("findings")
    lab_page.page.locator(".pd-offered").first.get_by_role("button", name="Apply and run").click()

    expect(lab_page.page.locator("#pd-tab-compare")).to_have_attribute("aria-selected", "true")
    expect(lab_page.page.locator("#pd-verdict .pd-badge")).to_have_text("NOTHING LOST")
    comparison = lab_page.page.locator("#pd-comparison")
    expect(comparison).to_contain_text("DROPPED")
    expect(comparison).to_contain_text("NOTHING LOST")


def test_a_failing_test_is_written_run_in_vllm_and_saved(lab_page: DebuggerPage) -> None:
    lab_page.run()
    open_fix(lab_page, "handover")
    lab_page.page.click("#pd-start-upstream")
    upstream = lab_page.page.locator("#pd-upstream")
    expect(upstream.locator(".pd[data-state=done]")).to_have_count(1)

    expect(upstream.locator(".pd-bench-sentence")).to_contain_text("Run in vLLM")
    expect(upstream.locator(".pd-bench-sentence")).to_contain_text("it fails, as the report says")
    with lab_page.page.expect_download() as saving:
        upstream.get_by_role("button", name="Save test_output.py").click()
    assert saving.value.suggested_filename == "test_output.py"
    with lab_page.page.expect_download() as plugin:
        lab_page.page.click("#pd-plugin")
    assert plugin.value.suggested_filename == "prompt_debugger_kimi_k2.py"
    expect(lab_page.page.locator("#pd-plugin-said")).to_contain_text("--tool-parser-plugin prompt_debugger_kimi_k2.py")


def test_prose_in_place_of_a_call_says_how_close_one_was(lab_page: DebuggerPage) -> None:
    lab_page.choose("Empty content pollutes the prompt")
    lab_page.run()
    lab_page.page.get_by_role("button", name="How close was a call?").click()

    expect(lab_page.page.locator("#pd-verdict .pd-detail")).to_contain_text("Where a call could have begun (token 0)")
    assert json.loads(lab_page.request_text())["logprobs"] is True
    open_fix(lab_page, "trials")
    lab_page.page.get_by_label("Runs at most").fill("1")
    lab_page.page.get_by_text("with trigger margin").click()
    lab_page.page.click("#pd-start-trials")
    expect(lab_page.page.locator(".pd-trial-table thead")).to_contain_text("trigger margin")


def test_a_request_is_asked_by_all_three_apis_and_each_difference_has_its_cause(lab_page: DebuggerPage) -> None:
    lab_page.choose("Empty content pollutes the prompt")
    lab_page.run()
    page = lab_page.page
    page.click("#pd-tab-compare")
    page.click("#pd-tab-of-pd-compare-apis")
    page.click("#pd-start-apis")

    expect(page.locator("#pd-apis .pd-apis-column h2")).to_have_text(["chat completions", "Responses", "Messages"])
    expect(page.locator("#pd-apis .pd-bench-sentence")).to_contain_text("difference")
    expect(page.locator("#pd-apis .pd-apis-differences")).to_contain_text("request conversion")
    expect(page.locator("#pd-apis .pd-apis-other").first).to_be_visible()
    assert violations(page, "#pd-panel-compare", GRADIO_RULES) == []
