"""Nothing is lost: what was run is there after a reload, and in the history, in this browser alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.report import read_bundle
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser

CALL = '<tool_call>\n{{"name": "get_weather", "arguments": {{"city": "{}"}}}}\n</tool_call>'
KEY = "sk-NEVERKEPT1234567890"

# All that the browser keeps, as text: both its storage and its database.
KEPT = """async () => {
    const db = await new Promise(resolve => {
        const opening = indexedDB.open("prompt-debugger", 1);
        opening.onsuccess = () => resolve(opening.result);
        opening.onupgradeneeded = () => opening.result.createObjectStore("runs", {keyPath: "id", autoIncrement: true});
    });
    const runs = await new Promise(resolve => {
        const asking = db.transaction("runs").objectStore("runs").getAll();
        asking.onsuccess = () => resolve(asking.result);
    });
    db.close();
    const texts = await Promise.all(runs.map(run => PromptDebugger.unpackText(run.packed)));
    return JSON.stringify([runs, texts, {...localStorage}]);
}"""


def menu(page: DebuggerPage) -> Any:
    toggle = page.page.get_by_role("button", name="History ▾")
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    return page.page.get_by_role("group", name="History")


def run_output(page: DebuggerPage, city: str, count: int) -> None:
    page.paste(CALL.format(city))
    page.run()
    expect(menu(page).locator(".pd-history-run")).to_have_count(count)
    page.page.keyboard.press("Escape")


def test_the_last_run_is_there_after_a_reload_and_an_edit_outdates_it(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    sentence = bare.sentence()

    bare.load()
    bare.wait_for_end()
    assert bare.sentence() == sentence
    assert bare.request_text() == CALL.format("Paris")
    expect(bare.page.locator(".pd-outdated")).to_have_count(0)

    bare.page.locator("#pd-request .cm-content").press("End")
    bare.page.keyboard.type(" more")
    expect(bare.page.locator(".pd-outdated")).to_be_visible()
    bare.page.get_by_role("button", name="Share ▾").click()
    expect(bare.page.locator(".pd-share-which")).to_contain_text("The request was edited since")


def test_runs_are_reopened_compared_renamed_saved_and_forgotten(bare: DebuggerPage, tmp_path: Path) -> None:
    run_output(bare, "Paris", 1)
    run_output(bare, "Oslo", 2)
    rows = menu(bare).locator(".pd-history-run")
    rows.nth(1).get_by_role("button", name="Rename").click()
    bare.page.get_by_label("Name of the run").fill("the one with Paris")
    bare.page.keyboard.press("Enter")
    expect(rows.nth(1)).to_contain_text("the one with Paris")
    assert violations(bare.page, "#pd-history") == []

    with bare.page.expect_download() as download:
        rows.nth(1).get_by_role("button", name="Export").click()
    saved = tmp_path / "run.json"
    download.value.save_as(saved)
    raw = read_bundle(saved.read_text()).trace.raw
    assert raw is not None
    assert "Paris" in raw.text

    rows.nth(1).locator(".pd-history-open").click()
    bare.page.wait_for_function("document.querySelector('#pd-request .cm-content').innerText.includes('Paris')")

    for row in menu(bare).get_by_role("checkbox", name="Compare").all():
        row.check()
    rows.nth(0).get_by_role("button", name="Rename").click()
    bare.page.get_by_label("Name of the run").fill("not its name")
    bare.page.keyboard.press("Escape")
    expect(rows.nth(0).get_by_role("button", name="Rename")).to_be_visible()
    expect(bare.page.locator("#pd-history")).not_to_contain_text("not its name")
    bare.page.get_by_role("button", name="Compare the two selected").click()
    sides = bare.page.locator(".pd-comparison-side")
    expect(sides).to_have_count(2)
    expect(bare.page.locator("#pd-comparison")).to_contain_text("Oslo")

    menu(bare).get_by_role("button", name="Forget all").click()
    expect(rows).to_have_count(0)
    assert json.loads(bare.page.evaluate(KEPT))[0] == []


def test_no_key_is_kept_and_the_switch_keeps_nothing(bare: DebuggerPage) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "Hello"}]})
    bare.paste(f"curl http://127.0.0.1:9/v1/chat/completions -H 'Authorization: Bearer {KEY}' -d '{body}'")
    bare.run()
    expect(menu(bare).locator(".pd-history-run")).to_have_count(1)
    kept = bare.page.evaluate(KEPT)
    assert KEY not in kept
    assert "Hello" in kept

    bare.page.locator(".pd-history-keep input").uncheck()
    expect(menu(bare).locator(".pd-history-run")).to_have_count(0)
    bare.page.keyboard.press("Escape")
    bare.paste(CALL.format("Rome"))
    bare.run()
    bare.load()
    expect(menu(bare)).to_contain_text("Runs are not kept")
    assert json.loads(bare.page.evaluate(KEPT))[2].keys() == {"pd-keep-nothing"}


def test_the_theme_that_was_chosen_survives_a_reload(bare: DebuggerPage) -> None:
    bare.page.goto(bare.url)
    bare.page.wait_for_selector("html[data-ready=true]")
    was_dark = bare.page.evaluate("document.body.classList.contains('dark')")
    bare.page.get_by_role("button", name="Light or dark").click()

    bare.page.reload()
    bare.page.wait_for_selector("html[data-ready=true]")

    assert bare.page.evaluate("document.body.classList.contains('dark')") is not was_dark
