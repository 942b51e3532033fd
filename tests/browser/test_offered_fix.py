"""From a failing run to a working one on the page: fixes, switches, templates, experiments, what is handed over."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.bench import open_bench, open_template, run_bench, type_template
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)


def history_ids(page: DebuggerPage) -> list[str]:
    messages = json.loads(page.request_text())["messages"]
    return [call["id"] for message in messages for call in message.get("tool_calls", [])]


def test_a_fix_shows_what_it_changes_and_is_copied_in_three_forms(bare: DebuggerPage) -> None:
    bare.open_stage("findings")
    fix = bare.page.locator(".pd-offered")

    expect(fix).to_have_count(1)
    expect(fix.locator(".pd-offered-state")).to_have_text("not tried")
    expect(fix.locator(".pd-change-before")).to_have_text(['−"search"', '−"search"'])
    expect(fix.locator(".pd-change-after").first).to_have_text('+"functions.search:0"')
    for form, begin in (("JSON", "{"), ("curl", "curl "), ("Python", "from openai")):
        fix.get_by_role("button", name=form, exact=True).click()
        expect(fix.locator(".pd-offered-told")).to_have_text(f"Copied as {form}.")
        copied = bare.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(begin)
        assert "functions.search:0" in copied


def test_a_fix_that_cannot_be_tried_says_why(bare: DebuggerPage) -> None:
    bare.open_stage("findings")
    bare.page.locator(".pd-offered .pd-try").click()

    fix = bare.page.locator(".pd-offered")
    expect(fix).to_have_attribute("data-state", "error")
    expect(fix.locator(".pd-offered-told")).to_contain_text("There is no server to run against.")
    expect(fix.locator(".pd-offered-state")).to_have_text("not tried")
    assert violations(bare.page, "#pd-panel-findings") == []


def test_a_fix_is_put_into_the_editor_and_run(bare: DebuggerPage) -> None:
    assert history_ids(bare) == ["search"]
    bare.open_stage("findings")
    bare.page.get_by_role("button", name="Apply and run").click()

    bare.page.wait_for_selector(".pd-verdict[data-state=error], .pd-verdict[data-state=done]")
    assert history_ids(bare) == ["functions.search:0"]


def test_a_switch_is_put_into_the_request(bare: DebuggerPage) -> None:
    open_bench(bare, "switches")
    run_bench(bare, "switches")
    bare.page.locator(".pd-effect[data-switch='ids-normalised']").get_by_role("button", name="Apply and run").click()

    bare.page.wait_for_function(
        "() => document.querySelector('#pd-request .cm-content').cmTile.view.state.doc.toString()"
        ".includes('functions.search:0')"
    )
    assert history_ids(bare) == ["functions.search:0"]


def test_an_edited_template_goes_along_with_the_request_and_out_again(bare: DebuggerPage) -> None:
    open_template(bare)
    type_template(bare, "Only {{ messages[0].content }}")
    bare.run(press="#pd-template-run")  # to its end: a run that ends opens another tab
    expect(bare.page.locator("#pd-template-said")).to_contain_text("in the editor")

    assert json.loads(bare.request_text())["chat_template"].startswith("Only {{")
    bare.page.click("#pd-tab-template")
    bare.page.click("#pd-template-reset")
    expect(bare.page.locator("#pd-template-source .cm-content")).not_to_contain_text("Only {{")
    bare.page.click("#pd-template-run")
    bare.page.wait_for_function(
        "() => !document.querySelector('#pd-request .cm-content').cmTile.view.state.doc.toString()"
        ".includes('chat_template')"
    )


def test_a_fix_is_no_wider_than_the_window(bare: DebuggerPage) -> None:
    for width in (1440, 400):
        bare.page.set_viewport_size({"width": width, "height": 850})
        bare.open_stage("findings")

        expect(bare.page.locator(".pd-offered")).to_be_visible()
        assert bare.page.evaluate("document.documentElement.scrollWidth") <= width, width
