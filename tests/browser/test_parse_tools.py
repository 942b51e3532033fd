"""The tools below the ledger, in a browser: asked of a run of the lab, and empty before one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.parse.engines import releases_here
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser


VIEWS = {"matrix": "parser-matrix", "splits": "splits", "releases": "releases", "constrained": "constrained"}


@pytest.fixture
def dropped(lab_page: DebuggerPage) -> DebuggerPage:
    """The worked case whose call is dropped, run, with its parse panel open."""
    lab_page.run()
    lab_page.open_stage("parse")
    return lab_page


def open_tool(page: DebuggerPage, name: str) -> None:
    page.page.click(f"#pd-tab-of-pd-parse-{name}")
    expect(page.page.locator(f"#pd-parse-{name}")).to_be_visible()


def ask(page: DebuggerPage, name: str) -> None:
    """Press the tool's button and wait for the end of its answer."""
    open_tool(page, name)
    page.page.click(f"#pd-start-{VIEWS[name]}")
    view = f"#pd-{VIEWS[name]} .pd"
    page.page.wait_for_selector(f"{view}[data-state=done], {view}[data-state=error]", timeout=PATIENCE_MS)
    page.page.wait_for_selector(f"#pd-start-{VIEWS[name]}:not([disabled])", timeout=PATIENCE_MS)


def test_before_a_run_each_tool_says_what_it_will_show(unrun: DebuggerPage) -> None:
    unrun.open_stage("parse")
    for name, view in VIEWS.items():
        open_tool(unrun, name)
        hint = unrun.page.locator(f"#pd-{view} .pd-empty")
        expect(hint).to_be_visible()
        assert len(hint.inner_text()) > 100, name

        ask(unrun, name)
        expect(unrun.page.locator(f"#pd-{view}")).to_contain_text("There is no raw output yet")


@pytest.mark.lab
def test_a_lost_call_is_shown_to_every_parser_by_itself_and_streamed_on_demand(dropped: DebuggerPage) -> None:
    view = dropped.page.locator("#pd-parser-matrix")
    expect(view).to_contain_text("reads the call", timeout=PATIENCE_MS)
    expect(view).to_contain_text("not tried")

    ask(dropped, "matrix")

    expect(view.locator(".pd-own")).to_have_count(2)  # the server's own derenderer, and the same parser offline
    expect(view.get_by_role("row").nth(1)).to_contain_text("derender")
    dropped.page.locator(".pd-show-all").click()
    expect(view.get_by_role("row")).to_have_count(56)
    expect(view).to_contain_text("splits")


@pytest.mark.lab
def test_the_matrix_leads_to_the_releases_of_each_engine(dropped: DebuggerPage) -> None:
    dropped.page.locator("#pd-parser-matrix .pd-since").click()
    expect(dropped.page.locator("#pd-parse-releases")).to_be_visible()
    expect(dropped.page.locator("#pd-tab-of-pd-parse-releases")).to_be_focused()

    here = releases_here("mlx-lm")[-2:]
    if not here:
        pytest.skip("no release of mlx-lm was fetched")
    versions = dropped.page.locator("#pd-releases-versions").get_by_role("textbox")
    versions.fill(", ".join(f"mlx-lm=={one}" for one in here))
    versions.press("Tab")
    ask(dropped, "releases")

    table = dropped.page.get_by_role("table", name="What each release of mlx-lm returns for the output")
    for one in here:
        expect(table.get_by_role("row").filter(has_text=one)).to_contain_text("1 of 1 call dropped")


@pytest.mark.lab
def test_split_fuzz_shows_the_smallest_failing_cut_and_leads_to_its_token(dropped: DebuggerPage) -> None:
    open_tool(dropped, "splits")
    field = dropped.page.locator("#pd-splits-parser input")
    field.fill("phi4_mini_json")
    field.press("Enter")
    dropped.choose("A healthy tool call")
    dropped.run()
    dropped.open_stage("parse")
    ask(dropped, "splits")

    view = dropped.page.locator("#pd-splits")
    expect(view.locator(".pd-bench-sentence")).to_contain_text("vllm:phi4_mini_json")
    if view.locator(".pd-parting .pd-jump").count():
        view.locator(".pd-parting .pd-jump").click()
        assert dropped.opened_stage() == "complete"


@pytest.mark.lab
def test_the_first_illegal_token_leads_to_the_token_and_to_the_rule(dropped: DebuggerPage) -> None:
    open_tool(dropped, "constrained")
    dropped.page.click("#pd-constrained-level input")
    dropped.page.get_by_role("option", name="auto+strict", exact=True).click()
    ask(dropped, "constrained")

    view = dropped.page.locator("#pd-constrained")
    expect(view).to_contain_text("would have been changed")
    expect(view.locator(".pd-allowed").first).to_contain_text("functions.get_weather")
    assert "broken" not in view.inner_text().replace("not broken", "")
    view.locator(".pd-intervention .pd-jump").first.click()
    assert dropped.opened_stage() == "complete"


@pytest.mark.lab
def test_another_case_takes_the_answers_away(dropped: DebuggerPage) -> None:
    ask(dropped, "constrained")
    dropped.choose("A healthy tool call")

    expect(dropped.page.locator("#pd-constrained .pd-empty")).to_be_visible()
    open_tool(dropped, "matrix")
    # What is there now is of the recorded run of that case, in which nothing was lost.
    expect(dropped.page.locator("#pd-parser-matrix")).not_to_contain_text("None of")


@pytest.mark.lab
def test_stop_ends_a_question_and_says_so(dropped: DebuggerPage) -> None:
    open_tool(dropped, "matrix")
    dropped.page.click("#pd-start-parser-matrix")
    # At once: a click waits until the row stands still, and by then warm parsers may have answered.
    dropped.page.dispatch_event("#pd-stop-parser-matrix:not([disabled])", "click")
    dropped.page.wait_for_selector("#pd-start-parser-matrix:not([disabled])", timeout=PATIENCE_MS)

    dropped.page.wait_for_selector("#pd-parser-matrix .pd:not([data-state=running])", timeout=PATIENCE_MS)
    ask(dropped, "constrained")  # and the page goes on


@pytest.mark.lab
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tools_break_no_accessibility_rule(lab_page: DebuggerPage) -> None:
    lab_page.run()
    lab_page.open_stage("parse")
    found = []
    for name in ("matrix", "splits", "constrained"):
        ask(lab_page, name)
        found += violations(lab_page.page, "#pd-parse-tools")

    assert found == []
