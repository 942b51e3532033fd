"""The verify panel in a browser: two verifications opened, their plots, and a row that becomes the page's run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from tests.browser.axe import violations
from tests.browser.bench import GRADIO_RULES
from tests.browser.page import DebuggerPage
from tests.browser.test_history import CALL
from tests.core.complete.faulty_server import FaultyServer, answer, hang
from tests.core.tools.verify.made import make_by_three_apis, make_verifications
from tests.patience import PATIENCE_MS
from tests.threads import in_thread

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_verifications(tmp_path_factory.mktemp("made"))


def open_files(page: DebuggerPage, first: Path, second: Path | None = None) -> None:
    """Open one verification, or two beside each other."""
    page.page.click("#pd-tab-verify")
    page.page.get_by_label("Verification", exact=True).fill(str(first))
    if second is not None:
        page.page.get_by_label("Compare with", exact=True).fill(str(second))
    page.page.click("#pd-start-verification")
    sides = ".pd-verify-side-1" if second is not None else ".pd-verify-tiles"
    page.page.wait_for_selector(f"#pd-verification {sides}", timeout=PATIENCE_MS)


def test_a_row_is_one_click_from_the_debugger(bare: DebuggerPage, made: tuple[Path, Path]) -> None:
    open_files(bare, made[0])
    expect(bare.page.locator("#pd-verification .pd-bench-sentence")).to_contain_text("2 of 10 calls written")
    assert violations(bare.page, "#pd-panel-verify", GRADIO_RULES) == []

    bare.page.locator(".pd-verify-cluster").first.get_by_role("button", name="row 9").click()

    expect(bare.page.locator(".pd-header")).to_contain_text("from verify")
    expect(bare.page.locator(".pd-sentence")).to_contain_text("The model wrote 1 tool call, the server returned none")
    expect(bare.page.locator("#pd-panel-findings")).to_be_visible()
    assert any(code.startswith("PD401") for code in bare.finding_codes())
    assert "lose the weather in Paris" in bare.request_text()
    bare.open_stage("parse")
    assert "get_weather" in "".join(bare.lost_text())


def test_three_apis_are_three_rows_three_bars_and_two_comparisons(
    bare: DebuggerPage, made: tuple[Path, Path], tmp_path: Path
) -> None:
    open_files(bare, make_by_three_apis(*made, tmp_path / "three"))
    view = bare.page.locator("#pd-verification")

    for name in ("chat completions", "Responses", "Messages"):
        expect(view.locator(".pd-verify-tiles tbody")).to_contain_text(name)
    expect(view.get_by_text("Faults here, not there: 2 rows")).to_have_count(2)
    assert violations(bare.page, "#pd-panel-verify", GRADIO_RULES) == []
    view.locator("summary", has_text="Faults here, not there").last.click()
    view.locator("details[open] button", has_text="Messages").first.click()
    expect(bare.page.locator(".pd-header")).to_contain_text("from verify")
    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("NOTHING LOST")


def test_two_verifications_are_plotted_next_to_each_other(bare: DebuggerPage, made: tuple[Path, Path]) -> None:
    open_files(bare, *made)
    page = bare.page

    expect(page.locator("#pd-verification svg").first).to_contain_text("answers with a fault")
    page.get_by_text("Faults here, not there: 2 rows").click()
    expect(page.get_by_role("button", name="row 10").first).to_be_visible()
    page.evaluate("document.body.classList.add('dark')")
    assert violations(page, "#pd-verification") == []
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").first.click()
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"


def test_what_is_not_a_verification_is_reported(bare: DebuggerPage, tmp_path: Path) -> None:
    bare.page.click("#pd-tab-verify")
    expect(bare.page.locator("#pd-verification .pd-empty")).to_be_visible()
    bare.page.get_by_label("Verification", exact=True).fill(str(tmp_path))
    bare.page.click("#pd-start-verification")

    expect(bare.page.locator("#pd-verification .pd-bench-sentence")).to_contain_text("There is no results.sqlite in")


@pytest.fixture
def counting_server() -> Iterator[str]:
    """A server that writes each call into its content."""
    said: JSON = {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": CALL.format("Oslo")}, "finish_reason": "stop"}
        ]
    }
    paths = {"/v1/models": answer(200, {"data": [{"id": "m"}]}), "/v1/chat/completions": answer(200, said)}
    with in_thread(FaultyServer("", {**paths, "*": answer(404)})) as url:
        yield url


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    tool: JSON = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    rows = [{"messages": [{"role": "user", "content": f"Ask {n}"}], "tools": [tool]} for n in range(8)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def verify_dataset(page: DebuggerPage, dataset: Path, rows: int) -> None:
    page.page.click("#pd-tab-verify")
    page.page.locator("#pd-verify-rows input").fill(str(rows))
    page.page.locator("#pd-verify-rows input").blur()
    page.page.locator("#pd-dataset input[type=file]").set_input_files(dataset)


def test_a_dataset_is_asked_within_its_budget_and_its_rows_open(
    bare: DebuggerPage, counting_server: str, dataset: Path
) -> None:
    bare.aim_at(counting_server)
    verify_dataset(bare, dataset, 5)
    view = bare.page.locator("#pd-verification .pd")

    expect(view).to_have_attribute("data-state", "done")
    expect(view).to_contain_text("kept in")
    expect(view.locator(".pd-verify-tiles tbody td").first).to_have_text("5")
    assert violations(bare.page, "#pd-panel-verify", GRADIO_RULES) == []
    bare.page.locator(".pd-verify-cluster").first.get_by_role("button", name="row").first.click()
    expect(bare.page.locator("#pd-header")).to_contain_text("from verify")
    expect(bare.page.locator(".pd-sentence")).to_contain_text("get_weather is in content")


def test_a_dataset_without_a_server_or_a_request_says_so(bare: DebuggerPage, tmp_path: Path, dataset: Path) -> None:
    verify_dataset(bare, dataset, 5)
    view = bare.page.locator("#pd-verification .pd")
    expect(view).to_have_attribute("data-state", "error")

    bare.aim_at("http://127.0.0.1:9/v1")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    verify_dataset(bare, empty, 5)

    expect(view).to_contain_text("contains no request")


def test_stop_ends_the_asking(bare: DebuggerPage, dataset: Path) -> None:
    paths = {"/v1/models": answer(200, {"data": [{"id": "m"}]}), "*": hang()}
    with in_thread(FaultyServer("", paths)) as url:
        bare.aim_at(url)
        verify_dataset(bare, dataset, 5)
        view = bare.page.locator("#pd-verification .pd")
        expect(view).to_have_attribute("data-state", "running")

        bare.page.click("#pd-stop-verification")

        expect(view).to_have_attribute("data-state", "stopped")
        expect(bare.page.locator("#pd-stop-verification")).to_be_disabled()
