"""The connection between browser and page breaks while something runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.ui.present import pack_payload
from tests.browser.page import DebuggerPage
from tests.browser.servers import Line, serving
from tests.core.complete.faulty_server import answer, hang

pytestmark = pytest.mark.browser

REQUEST = '{"messages": [{"role": "user", "content": "TYPED BY ME"}]}'


@pytest.fixture
def line(bare_url: str) -> Iterator[tuple[Line, str]]:
    line = Line(urlsplit(bare_url).port or 0)
    with line.laid() as address:
        yield line, address


@pytest.fixture
def mute_server() -> Iterator[str]:
    with serving({"/v1/models": answer(200, {"data": [{"id": "m"}]}), "*": hang()}) as url:
        yield url


def start(page: DebuggerPage, endpoint: str) -> None:
    page.load()
    page.paste(REQUEST)
    page.aim_at(endpoint)
    page.page.click("#pd-run")
    expect(page.page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
    expect(page.page.locator(".pd-sentence")).to_contain_text("Identifying the server")


def test_a_run_whose_connection_breaks_says_so_and_goes_on_at_a_press(
    page: Any, line: tuple[Line, str], mute_server: str
) -> None:
    network, address = line
    shown = DebuggerPage(page, address)
    start(shown, mute_server)

    network.cut()

    expect(page.locator("#pd-verdict .pd-badge")).to_have_text("CONNECTION LOST")
    expect(page.locator("#pd-verdict")).to_contain_text("What had arrived is below")
    expect(page.locator("#pd-run")).to_be_disabled()
    page.evaluate("globalThis.isTheSamePage = true")

    network.mend()

    again = page.get_by_role("button", name="Run again")
    expect(again).to_be_visible()
    expect(page.locator("#pd-run")).to_be_enabled()
    assert page.evaluate("globalThis.isTheSamePage")
    assert shown.request_text() == REQUEST

    again.click()

    expect(page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
    page.click("#pd-stop")
    expect(page.locator("#pd-verdict .pd-badge")).to_have_text("STOPPED")


def test_a_server_that_was_started_again_is_said_to_be(page: Any, line: tuple[Line, str], mute_server: str) -> None:
    network, address = line
    shown = DebuggerPage(page, address)
    start(shown, mute_server)
    other = json.dumps({"app_id": "another"})
    page.route("**/app_id", lambda route: route.abort() if network.is_cut else route.fulfill(body=other))

    network.cut()
    expect(page.locator("#pd-verdict .pd-badge")).to_have_text("CONNECTION LOST")
    network.mend()

    expect(page.locator("#pd-verdict")).to_contain_text("was started again")
    page.get_by_role("button", name="Load again").click()

    expect(page.locator("#pd-notices")).to_contain_text("was running when the page was left")
    assert shown.request_text() == REQUEST


def test_a_page_that_is_left_during_a_run_says_nothing_of_a_broken_connection(
    page: Any, line: tuple[Line, str], mute_server: str
) -> None:
    shown = DebuggerPage(page, line[1])
    start(shown, mute_server)

    shown.load()

    expect(page.locator("#pd-notices")).to_contain_text("was running when the page was left")
    expect(page.get_by_text("CONNECTION LOST", exact=True)).to_have_count(0)


def test_a_check_that_was_left_says_so_until_it_runs_again(page: Any, bare_url: str) -> None:
    shown = DebuggerPage(page, bare_url)
    shown.load()
    words = page.get_by_text("This was running when the page was left")
    page.click("#pd-tab-check")
    page.click("#pd-start-model-check")
    expect(page.locator("#pd-stop-model-check")).to_be_enabled()

    shown.load()
    page.click("#pd-tab-check")

    expect(words).to_be_visible()
    page.click("#pd-start-model-check")
    expect(words).to_have_count(0)
    page.click("#pd-stop-model-check")
    expect(page.locator("#pd-start-model-check")).to_be_enabled()

    shown.load()  # nothing ran any more
    page.click("#pd-tab-check")
    expect(page.locator("#pd-model-check .pd-empty")).to_be_visible()
    expect(words).to_have_count(0)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    rows = [json.dumps({"messages": [{"role": "user", "content": f"Ask {n}"}]}) for n in range(8)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(rows))
    return path


def begin_verifying(page: DebuggerPage, endpoint: str, dataset: Path) -> None:
    page.load()
    page.aim_at(endpoint)
    page.page.click("#pd-tab-verify")
    page.page.locator("#pd-dataset input[type=file]").set_input_files(dataset)
    expect(page.page.locator("#pd-verification .pd")).to_have_attribute("data-state", "running")
    expect(page.page.locator("#pd-stop-verification")).to_be_enabled()


def test_a_verification_that_was_left_says_so_until_it_runs_again(
    page: Any, bare_url: str, mute_server: str, dataset: Path
) -> None:
    shown = DebuggerPage(page, bare_url)
    begin_verifying(shown, mute_server, dataset)
    words = page.get_by_text("This was running when the page was left")

    shown.load()

    page.click("#pd-tab-verify")
    expect(words).to_be_visible()
    expect(page.locator("#pd-stop-verification")).to_be_disabled()
    begin_verifying(shown, mute_server, dataset)
    expect(words).to_have_count(0)


def test_a_task_whose_connection_breaks_while_no_run_is_on_says_so_and_can_begin_again(
    page: Any, line: tuple[Line, str], mute_server: str, dataset: Path
) -> None:
    network, address = line
    shown = DebuggerPage(page, address)
    begin_verifying(shown, mute_server, dataset)
    verdict = page.locator("#pd-verdict").inner_text()
    page.evaluate("globalThis.isTheSamePage = true")

    network.cut()

    view = page.locator("#pd-verification .pd")
    expect(view).to_have_attribute("data-state", "stopped")
    expect(view.locator(".pd-stopped")).to_have_text("The connection to this page's server was lost.")
    network.mend()
    expect(page.locator("#pd-stop-verification")).to_be_disabled()
    assert page.evaluate("globalThis.isTheSamePage")
    assert page.locator("#pd-verdict").inner_text() == verdict, "no run was on, and none is blamed"

    page.locator("#pd-dataset input[type=file]").set_input_files(dataset)
    expect(view).to_have_attribute("data-state", "running")
    page.click("#pd-stop-verification")
    expect(view).to_have_attribute("data-state", "stopped")


def test_a_fix_that_was_on_trial_says_so_after_a_reload_once(bare: DebuggerPage) -> None:
    bare.open_stage("findings")
    fix = bare.page.locator(".pd-offered")
    news: JSONObject = {"kind": "offered", "code": str(fix.get_attribute("data-code")), "state": "running"}
    trial = pack_payload({**news, "sentence": "Asking the model.", "hint": "", "short": ""})
    bare.page.evaluate("payload => PromptDebugger.controller('orders').set(payload)", trial)
    expect(fix).to_have_attribute("data-state", "running")

    bare.load()
    bare.open_stage("findings")

    words = fix.locator(".pd-offered-told")
    expect(words).to_have_text("The fix was being tried when the page was left, which ended the trial.")
    expect(fix.locator(".pd-try")).to_be_enabled()

    bare.load()  # nothing was on trial any more
    bare.open_stage("findings")
    expect(fix.locator(".pd-offered-state")).to_have_text("not tried")
    expect(words).to_have_text("")


def test_a_check_whose_sending_breaks_says_in_its_panel_that_it_may_have_begun(
    page: Any, line: tuple[Line, str]
) -> None:
    network, address = line
    shown = DebuggerPage(page, address)
    shown.load()
    page.click("#pd-tab-check")
    sent: list[str] = []

    def break_off(route: Any) -> None:
        number = page.evaluate("gradio_config.dependencies.find(one => one.api_name === 'check_model').id")
        if route.request.post_data_json["fn_index"] != number or sent:
            route.continue_()
            return
        sent.append("check")
        network.cut()
        route.abort()

    page.route("**/queue/join*", break_off)
    page.click("#pd-start-model-check")

    words = page.locator("#pd-panel-check .pd-left-task")
    expect(words).to_contain_text("it may have begun there. It is not sent twice")
    network.mend()
    expect(page.locator("#pd-start-model-check")).to_be_enabled()
    page.click("#pd-start-model-check")
    expect(words).to_have_count(0)
    page.click("#pd-stop-model-check")
    expect(page.locator("#pd-model-check .pd-stopped")).to_have_text(re.compile(r"Stopped( after \d[\d,]* of .+)?\."))


def test_a_run_whose_sending_breaks_is_not_sent_twice_and_the_strip_offers_it(
    page: Any, line: tuple[Line, str]
) -> None:
    network, address = line
    shown = DebuggerPage(page, address)
    shown.load()
    shown.paste(REQUEST)
    sent: list[str] = []

    def break_off(route: Any) -> None:
        number = page.evaluate("gradio_config.dependencies.find(one => one.api_name === 'run').id")
        if route.request.post_data_json["fn_index"] != number:
            route.continue_()
            return
        sent.append("run")
        if len(sent) == 1:
            network.cut()
            route.abort()
        else:
            route.continue_()

    page.route("**/queue/join*", break_off)
    page.click("#pd-run")

    expect(page.locator("#pd-verdict .pd-badge")).to_have_text("CONNECTION LOST")
    expect(page.locator("#pd-verdict")).to_contain_text("It is not sent twice")
    network.mend()
    again = page.get_by_role("button", name="Run again")
    expect(again).to_be_visible()
    expect(page.locator("#pd-run")).to_be_enabled()
    assert sent == ["run"]

    again.click()

    expect(page.locator("#pd-verdict")).to_contain_text("There is no server to run against")
    assert sent == ["run", "run"]


def test_what_is_pressed_without_a_connection_is_said_to_wait(page: Any, line: tuple[Line, str]) -> None:
    network, address = line
    shown = DebuggerPage(page, address)
    shown.load()
    shown.paste(REQUEST)
    expect(page.locator("#pd-notices")).to_contain_text("1 message")
    network.cut()

    page.click("#pd-run")

    note = page.locator(".pd-lost-note")
    expect(note).to_have_text(
        "The connection to this page's server is lost. What you press is sent once it answers again."
    )
    network.mend()
    expect(note).to_have_count(0)
    expect(page.locator("#pd-verdict")).to_contain_text("There is no server to run against")
