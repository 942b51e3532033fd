"""The live prompt beside the editor, the rule pages and the help, in a browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser

TYPED = '{"messages": [{"role": "user", "content": "TYPED BY ME"}]}'


def test_what_is_typed_stands_as_a_prompt_next_to_the_run_it_does_not_touch(bare: DebuggerPage) -> None:
    page = bare.page
    bare.paste(TYPED)
    bare.open_stage("render")

    expect(page.locator("#pd-live-tokens")).to_contain_text("TYPED")
    expect(page.locator(".pd-own-text")).to_be_visible()
    expect(page.locator("#pd-prompt-tokens")).to_be_hidden()
    expect(page.locator(".pd-live-back")).to_be_hidden()  # what ran was the example, not an earlier text of one's own
    assert violations(page, "#pd-panel-render") == []


def test_an_edit_shows_its_prompt_beside_that_of_the_run(bare: DebuggerPage) -> None:
    page = bare.page
    page.locator("#pd-request .cm-line", has_text='"content"').last.click()
    page.keyboard.type("TYPED")
    bare.open_stage("render")
    expect(page.locator("#pd-live-tokens")).to_contain_text("TYPED")

    page.get_by_role("button", name="Prompt of the run").click()
    expect(page.locator("#pd-prompt-tokens")).to_be_visible()
    expect(page.locator("#pd-prompt-tokens")).not_to_contain_text("TYPED")
    page.get_by_role("button", name="Prompt of what I typed").click()
    expect(page.locator("#pd-live-tokens")).to_be_visible()


def test_a_run_that_got_no_prompt_leaves_the_live_one(bare: DebuggerPage) -> None:
    page = bare.page
    bare.paste(TYPED)
    page.locator("#pd-target button").first.click()
    page.get_by_label("Tokenizer", exact=True).fill("assets/lab-model")
    bare.aim_at("http://127.0.0.1:9/v1")
    bare.run()
    assert bare.badge() == "SERVER"
    bare.open_stage("render")

    expect(page.locator("#pd-live-tokens")).to_contain_text("TYPED")
    expect(page.locator("#pd-prompt-tokens")).to_be_hidden()
    expect(page.locator(".pd-live-back")).to_be_hidden()  # there is none


def test_a_rule_has_a_page_and_the_question_mark_opens_the_help(bare: DebuggerPage) -> None:
    page = bare.page
    bare.open_stage("findings")
    with page.context.expect_page() as opened:
        page.locator(".pd-rule-link").first.click()
    expect(opened.value.get_by_role("heading", name="Why it matters")).to_be_visible()
    opened.value.close()

    page.locator("#pd-tab-findings").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("1 Render")
    assert violations(page, "dialog") == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_what_was_typed_survives_a_reload_until_it_is_to_be_forgotten(bare: DebuggerPage) -> None:
    page = bare.page
    bare.paste(TYPED)
    page.wait_for_function("localStorage.getItem('pd-draft')?.includes('TYPED')")

    bare.load()
    page.wait_for_function("document.querySelector('#pd-request .cm-content').innerText.includes('TYPED')")
    expect(page.locator("#pd-notices")).to_contain_text("restored from this browser")

    page.locator(".pd-help-button").click()
    page.locator(".pd-help-keep input").uncheck()
    bare.load()
    expect(page.locator(".pd-verdict")).to_have_attribute("data-state", "recorded")
    assert "TYPED" not in bare.request_text()
    assert page.evaluate("localStorage.getItem('pd-draft')") is None


def test_a_page_that_is_left_while_its_prompt_renders_logs_no_fault(bare: DebuggerPage) -> None:
    with bare.page.expect_request(lambda request: request.url.rpartition("/")[2].startswith("data")):
        bare.paste(TYPED)

    bare.page.goto("about:blank")
    bare.load()


def test_a_long_text_is_checked_after_a_pause_and_its_prompt_is_announced(bare: DebuggerPage) -> None:
    page = bare.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or "") if "queue/join" in request.url else None)
    bare.paste(json.dumps({"messages": [{"role": "user", "content": "word " * 80_000}]}))

    expect(page.locator("#pd-notices")).to_contain_text("1 message")
    expect(page.locator(".pd-live-status")).to_contain_text("is not rendered while you type")
    assert sum("word word" in text for text in asked) == 1  # the check, and no render
    page.get_by_role("button", name="Render it now").click()
    expect(page.locator("#pd-live-tokens")).to_contain_text("word")
    expect(page.locator(".pd-live-status")).not_to_contain_text("is not rendered while you type")
