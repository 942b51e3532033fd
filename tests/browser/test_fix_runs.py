"""The *Fix* panel on a real server: experiments, shrinking, the plugin and the test that are handed over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.pipeline import Target
from tests.browser.axe import violations
from tests.browser.bench import GRADIO_RULES
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS
from tests.servers.running_servers import llama_cpp

pytestmark = [pytest.mark.browser, pytest.mark.servers]
expect.set_options(timeout=PATIENCE_MS)
SCHEMA = {"type": "object", "properties": {"city": {"type": "str"}}}
FAULTY = {
    "messages": [{"role": "user", "content": f"Question {number} about the weather in Paris."} for number in range(6)],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}],
    "max_tokens": 8,
    "temperature": 0,
}


@pytest.fixture(scope="module")
def served_url(tmp_path_factory: Any, lab_model_dir: Any) -> Iterator[str]:
    """The page aimed at a llama.cpp server, which boots in a second."""
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    with llama_cpp(tmp_path_factory.mktemp("llama-cpp")) as base_url:
        settings = PageSettings(target=Target(base_url=base_url, tokenizer=lab_model_dir), port=0, lab=False)
        app = build_app(settings)
        yield serve_app(app, settings)[1].rstrip("/")
        app.close(verbose=False)


@pytest.fixture
def failed(watched: Any, served_url: str) -> DebuggerPage:
    """The page after a run that has a finding with a fix."""
    page = DebuggerPage(watched, served_url)
    page.load()
    page.paste(json.dumps(FAULTY))
    page.run()
    return page


def open_fix(page: DebuggerPage, name: str) -> None:
    page.page.click("#pd-tab-fix")
    page.page.click(f"#pd-tab-of-pd-fix-{name}")


def start(page: DebuggerPage, view: str) -> None:
    page.page.click(f"#pd-start-{view}")
    page.page.wait_for_selector(f"#pd-{view} .pd[data-state=done], #pd-{view} .pd[data-state=error]")
    page.page.wait_for_selector(f"#pd-start-{view}:not([disabled])")


def test_experiments_say_what_they_cost_and_what_came_of_each(failed: DebuggerPage) -> None:
    open_fix(failed, "trials")
    cost = failed.page.locator(".pd-variant-cost")
    expect(cost).to_contain_text("4 variants (the unchanged request is one), 1 run of each: 4 runs")
    expect(cost).to_contain_text("at most 816 new tokens")  # three requests each, two variants with 128 tokens
    for name in ("max_tokens: 128", "the first 2 changes together"):
        failed.page.get_by_role("checkbox", name=name).uncheck()
    expect(cost).to_contain_text("at most 48 new tokens")
    failed.page.get_by_label("Runs of each").fill("2")
    failed.page.get_by_label("Runs at most").fill("3")
    expect(cost).to_contain_text("2 runs of each: 3 runs of 4")

    failed.page.get_by_text("further change").click()
    failed.page.get_by_label("Stop at the text").fill("END")
    expect(cost).to_contain_text("3 variants (the unchanged request is one), 2 runs of each: 3 runs of 6")

    start(failed, "trials")

    rows = failed.page.locator(".pd-trial-table tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("stop at 'END'")
    expect(rows.nth(0)).to_contain_text("unchanged request")
    expect(rows.nth(1).locator(".pd-trial-runs button")).to_have_count(1)
    assert violations(failed.page, "#pd-panel-fix", GRADIO_RULES) == []
    rows.nth(1).locator(".pd-trial-runs button").click()
    expect(failed.page.locator("#pd-header")).to_contain_text("experiment")
    failed.open_stage("findings")
    expect(failed.page.locator("#pd-findings")).not_to_contain_text("PD101")


def test_a_request_shrinks_to_one_that_opens_in_the_editor(failed: DebuggerPage) -> None:
    open_fix(failed, "shrink")
    start(failed, "shrunk")

    shrunk = failed.page.locator("#pd-shrunk")
    expect(shrunk.locator(".pd-bench-sentence")).to_contain_text("PD301")
    expect(shrunk.locator(".pd-bench-sentence")).to_contain_text("in 3 of 3 confirming runs")
    smallest = shrunk.get_by_role("region", name="The smallest request").inner_text()
    shrunk.get_by_role("button", name="Open it in the editor").click()
    expect(shrunk).to_contain_text("It is in the editor.")
    assert json.loads(failed.request_text()) == json.loads(smallest)
    assert len(json.loads(smallest)["messages"]) == 1
    assert json.loads(smallest)["max_tokens"] == FAULTY["max_tokens"]
