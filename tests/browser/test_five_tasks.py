"""Five tasks of a person who never saw the page, in clicks from its first load: as many as docs/views.md says."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.page import DebuggerPage
from tests.browser.tasks import (
    KEY,
    LOG,
    RAW,
    REQUEST,
    assert_proof_in,
    curl,
    expect_fix_of_log,
    expect_parser_of_raw,
    expect_proof_told,
    expect_two_servers,
)
from tests.browser.test_history import menu

pytestmark = pytest.mark.browser

MAX_CLICKS = 6
OPENER = "<|tool_call_begin|>"
# As if the runs of this browser had been made a day earlier.
A_DAY_EARLIER = """async () => {
    const opening = indexedDB.open("prompt-debugger", 1);
    const db = await new Promise(resolve => { opening.onsuccess = () => resolve(opening.result); });
    const runs = db.transaction("runs", "readwrite").objectStore("runs");
    const asking = runs.getAll();
    const all = await new Promise(resolve => { asking.onsuccess = () => resolve(asking.result); });
    const writes = all.map(run => runs.put({...run, at: run.at - 86_400_000}));
    await Promise.all(writes.map(write => new Promise(resolve => { write.onsuccess = resolve; })));
    db.close();
    return all.length;
}"""


@dataclass
class Person:
    """Someone at the page, whose clicks are counted. Keys are not: who pastes or types has a hand on them.

    Attributes:
        at: The page.
        clicks: So far, since it was loaded.
    """

    at: DebuggerPage
    clicks: int = 0

    def click(self, what: Locator) -> None:
        """Click once."""
        self.clicks += 1
        assert self.clicks <= MAX_CLICKS, "the task takes too many clicks"
        what.click()

    def button(self, name: str) -> None:
        """Click the button of that name."""
        self.click(self.at.page.get_by_role("button", name=name, exact=True).first)

    def fill(self, what: Locator, text: str) -> None:
        """Click into a field and type."""
        self.click(what)
        self.at.page.keyboard.insert_text(text)

    def paste(self, text: str) -> None:
        """Click into the editor, select all and paste."""
        self.clicks += 1
        self.at.paste(text)

    def run(self) -> None:
        """Click Run and wait for the end."""
        self.clicks += 1
        self.at.run()
        assert self.clicks <= MAX_CLICKS


@pytest.mark.lab
def test_why_did_my_call_vanish_on_my_vllm_with_a_key(lab_page: DebuggerPage, keyed_vllm: str) -> None:
    person = Person(lab_page)
    person.paste(curl(keyed_vllm, "$KEY"))
    person.button("Enter its key")
    expect(lab_page.page.get_by_label("Endpoint", exact=True)).to_have_value(keyed_vllm)
    expect(lab_page.page.locator("#pd-key input")).to_be_focused()
    lab_page.page.keyboard.insert_text(KEY)
    person.run()

    assert lab_page.badge() == "DROPPED"
    assert "Guilty stage: parse" in lab_page.sentence()
    assert "".join(lab_page.lost_text()).startswith("get_weather")
    person.click(lab_page.page.locator("#pd-tab-findings"))
    assert "PD401 dropped-call" in lab_page.finding_codes()
    expect(lab_page.page.locator(".pd-finding .pd-fix").first).to_be_visible()
    assert person.clicks == 4
    assert KEY not in lab_page.page.evaluate("JSON.stringify({...localStorage})")


@pytest.mark.lab
def test_the_same_with_the_bare_request(lab_page: DebuggerPage, keyed_vllm: str) -> None:
    person = Person(lab_page)
    person.paste(REQUEST)
    person.click(lab_page.page.locator("#pd-target button").first)
    person.fill(lab_page.page.get_by_label("Endpoint", exact=True), keyed_vllm)
    person.fill(lab_page.page.locator("#pd-key input"), KEY)
    person.run()

    assert lab_page.badge() == "DROPPED"
    person.click(lab_page.page.locator("#pd-tab-findings"))
    assert "PD401 dropped-call" in lab_page.finding_codes()
    assert person.clicks == 6


@pytest.mark.lab
def test_the_same_request_on_two_servers_side_by_side(lab_page: DebuggerPage, keyed_vllm: str) -> None:
    person = Person(lab_page)
    page = lab_page.page
    person.paste(curl(keyed_vllm, "$KEY"))
    person.button("Enter its key")
    expect(page.locator("#pd-key input")).to_be_focused()
    page.keyboard.insert_text(KEY)
    person.click(page.locator("#pd-run-on input"))
    person.click(page.get_by_role("option", name="both, and compare"))
    expect(page.locator("#pd-run")).to_contain_text("Run on lab and ")
    person.run()

    expect_two_servers(lab_page, keyed_vllm)
    assert person.clicks == 5


def test_which_calls_are_in_a_raw_output(bare: DebuggerPage) -> None:
    person = Person(bare)
    person.paste(RAW)
    person.run()

    assert bare.opened_stage() == "parse"
    assert person.clicks == 2
    expect(bare.page.locator("#pd-ledger")).to_contain_text('get_weather({"city": "Paris"})')


@pytest.mark.lab
def test_a_vanished_call_comes_back_by_a_proved_fix_and_the_report_has_the_proof(lab_page: DebuggerPage) -> None:
    person = Person(lab_page)
    person.run()
    verdict = lab_page.page.locator("#pd-verdict")
    person.click(verdict.get_by_role("button", name="Try the fix"))
    expect(verdict.locator(".pd-trial")).to_contain_text("Fixed: 1 of 1 call returned.")
    person.click(verdict.get_by_role("button", name="Add to report"))
    expect_proof_told(lab_page)
    person.button("Share ▾")
    with lab_page.page.expect_download() as saved:
        person.click(lab_page.page.get_by_role("button", name="Markdown for an issue"))

    assert_proof_in(saved.value.path().read_text("utf-8"))
    assert person.clicks == 5


@pytest.mark.vllm
def test_which_parser_reads_this_output(bare: DebuggerPage) -> None:
    person = Person(bare)
    person.paste(RAW)
    person.run()
    person.button("Test every parser")

    expect_parser_of_raw(bare)
    assert person.clicks == 3


def test_a_line_of_a_log_becomes_a_diagnosis(bare: DebuggerPage) -> None:
    person = Person(bare)
    person.paste(LOG)
    person.run()
    assert bare.badge() == "REFUSED"
    assert "was started without a tool parser" in bare.sentence()
    person.button("Show the fix")

    expect_fix_of_log(bare)
    assert person.clicks == 3


@pytest.mark.lab
def test_does_the_fix_help(lab_page: DebuggerPage) -> None:
    person = Person(lab_page)
    person.run()
    person.click(lab_page.page.locator("#pd-tab-findings"))
    person.click(lab_page.page.locator(".pd-offered").first.get_by_role("button", name="Apply and run"))

    expect(lab_page.page.locator("#pd-tab-compare")).to_have_attribute("aria-selected", "true")
    expect(lab_page.page.locator(".pd-comparison-side .pd-badge")).to_contain_text(["DROPPED", "NOTHING LOST"])
    assert person.clicks == 3


def test_a_colleague_gets_a_link_to_the_one_bad_token(bare: DebuggerPage) -> None:
    person = Person(bare)
    person.click(bare.page.locator("#pd-tab-complete"))
    person.click(bare.page.locator("#pd-raw-tokens .pd-chip", has_text=OPENER).first)
    person.button("Copy link to this token")
    field = bare.page.get_by_label("Link", exact=True)
    expect(field).to_be_visible()
    link = field.input_value()
    assert bare.page.evaluate("navigator.clipboard.readText()") == link
    assert person.clicks == 3

    bare.page.goto("about:blank")
    bare.page.goto(link)
    colleague = Person(bare)
    colleague.button("Show the run in it")
    shown = bare.page.locator("#pd-raw-tokens .pd-chip.pd-shown")
    expect(shown).to_contain_text(OPENER)
    expect(shown).to_be_visible()


def test_where_is_yesterdays_run(bare: DebuggerPage) -> None:
    bare.paste(RAW)
    bare.run()
    expect(menu(bare).locator(".pd-history-run")).to_have_count(1)
    assert bare.page.evaluate(A_DAY_EARLIER) == 1
    bare.page.evaluate("localStorage.clear()")  # else the last run would be there by itself
    bare.load()
    person = Person(bare)

    person.button("History ▾")
    row = bare.page.locator(".pd-history-run")
    expect(row).to_contain_text("yesterday")
    person.click(row.locator(".pd-history-open"))

    expect(bare.page.locator("#pd-ledger")).to_contain_text('get_weather({"city": "Paris"})')
    assert bare.request_text() == RAW
    assert person.clicks == 2
