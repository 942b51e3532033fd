"""The program's page in a browser, without a model: loading, editing, errors, stopping."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.pipeline import find_example
from tests.browser.axe import violations_in_both_themes
from tests.browser.page import DebuggerPage
from tests.ui.present.strategies import HOSTILE

pytestmark = pytest.mark.browser

REQUEST = '{"messages": [{"role": "user", "content": "PASTED BY ME"}]}'
WRONG_PARSER = find_example("wrong-parser").title
# Of gradio's own parts: its editor scrolls without a tab stop of its own, and its status boxes carry no label.
GRADIO_RULES = frozenset({"scrollable-region-focusable"})


@pytest.fixture
def silent_endpoint() -> Iterator[str]:
    """A server that takes a connection and never answers; no real server can be made to do that."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                connections.append(listener.accept()[0])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    listener.close()
    for connection in connections:
        connection.close()


@pytest.fixture
def dead_endpoint() -> Iterator[str]:
    """An address at which no one listens, kept so that no one else begins to."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


def test_without_a_lab_the_page_opens_on_a_recorded_run(loaded: DebuggerPage) -> None:
    expect(loaded.page.locator(".pd-verdict")).to_have_attribute("data-state", "recorded")
    expect(loaded.page.locator("#pd-tab-parse")).to_have_attribute("aria-selected", "true")
    expect(loaded.page.locator(".pd-raw .pd-fate-lost").first).to_be_visible()
    assert loaded.badge() == "DROPPED"
    assert "Recorded run: vLLM 0.32.0" in loaded.page.inner_text(".pd-detail")
    assert "recorded" in loaded.page.inner_text("#pd-header")
    assert '"messages"' in loaded.request_text()
    assert "get_weather" in loaded.lost_text()
    assert loaded.page.inner_text("#pd-notices .pd-counts") == "5 messages, 2 tools"


def test_dark_and_light_change_at_a_click(loaded: DebuggerPage) -> None:
    ground = "getComputedStyle(document.querySelector('.pd-verdict')).backgroundColor"
    light = loaded.page.evaluate(ground)
    loaded.page.get_by_role("button", name="Light or dark").click()

    assert loaded.page.evaluate(ground) != light


def test_the_page_breaks_no_accessibility_rule(loaded: DebuggerPage) -> None:
    assert violations_in_both_themes(loaded.page, "body", GRADIO_RULES) == []


def test_every_example_is_one_click_away(bare: DebuggerPage) -> None:
    before = bare.request_text()
    bare.page.click("#pd-case input")
    expect(bare.page.get_by_role("option")).to_have_count(9)

    bare.page.get_by_role("option", name="A healthy tool call", exact=True).click()

    expect(bare.page.locator(".pd-detail")).to_contain_text("Nothing is wrong here")
    assert bare.request_text() != before
    assert (bare.state(), bare.badge()) == ("recorded", "NOTHING LOST")


def test_run_without_a_lab_shows_the_recording_of_a_case_and_renders_anything_else(bare: DebuggerPage) -> None:
    bare.run()
    assert (bare.state(), bare.badge()) == ("done", "DROPPED")

    bare.paste(REQUEST)
    bare.page.click("#pd-run")
    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("NO SERVER")

    assert bare.sentence().startswith("Rendered, not run")
    assert bare.opened_stage() == "render"
    assert "<|im_end|>" in bare.tokens()


def test_an_error_is_reported_while_typing_and_names_its_place_after_a_run(bare: DebuggerPage) -> None:
    bare.paste('{"messages": [}')
    expect(bare.page.locator("#pd-notices")).to_contain_text("line 1, column 15")

    broken = '{\n  "messages": [\n    {"role": "user" "content": "x"}\n  ]\n}'
    bare.paste(broken)
    bare.run()

    assert bare.state() == "error"
    assert bare.sentence().startswith("Line 3, column 21")
    assert bare.request_text() == broken

    # The verdict and the live prompt, which stays where a run got none, both offer it.
    bare.page.get_by_role("button", name="Go to line 3").first.click()
    assert bare.selected_text() == '"content": "x"}'


def test_stop_ends_a_run_that_hangs_and_shows_what_had_come_and_another_case_ends_the_next(
    bare: DebuggerPage, silent_endpoint: str
) -> None:
    bare.paste(REQUEST)
    bare.aim_at(silent_endpoint)
    for _ in range(2):
        bare.page.click("#pd-run")
        expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
        bare.page.click("#pd-stop")
        expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "stopped")
        expect(bare.page.locator("#pd-run")).to_be_enabled()

        assert bare.badge() == "STOPPED"
        assert bare.sentence().startswith("Stopped before the end.")
        assert bare.page.locator(".pd-stage-running").count() == 0
        assert bare.request_text() == REQUEST

    bare.page.click("#pd-run")
    expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
    bare.choose("A healthy tool call")
    expect(bare.page.locator("#pd-run")).to_be_enabled()
    expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", re.compile("idle|recorded"))


def test_run_waits_for_a_case_that_is_on_its_way(bare: DebuggerPage) -> None:
    """Pressed while the case is being loaded, Run used to run the old request, and was cancelled by the new one."""
    held: list[Any] = []

    def hold_case(route: Any) -> None:
        is_case = "wrong-parser" in (route.request.post_data or "")
        held.append(route) if is_case else route.continue_()

    bare.page.route("**/gradio_api/queue/join*", hold_case)
    with bare.page.expect_request(lambda request: "wrong-parser" in (request.post_data or "")):
        bare.page.click("#pd-case input")
        bare.page.get_by_role("option", name=WRONG_PARSER, exact=True).click()
    expect(bare.page.locator("#pd-run")).to_be_disabled()

    held[0].continue_()
    expect(bare.page.locator("#pd-run")).to_be_enabled()
    bare.run()

    assert bare.badge() != "ERROR", "the run began and ended by itself"


def test_tab_leaves_the_editor_and_control_enter_runs_from_inside(bare: DebuggerPage) -> None:
    bare.paste(REQUEST)
    bare.page.keyboard.press("Tab")
    is_inside = "document.activeElement.closest('.cm-editor') !== null"

    assert bare.page.evaluate(is_inside) is False
    assert bare.request_text() == REQUEST

    bare.page.locator("#pd-request .cm-content").focus()
    bare.page.keyboard.press("Shift+Tab")
    assert bare.page.evaluate(is_inside) is False
    bare.page.keyboard.press("Tab")  # through the list of cases, which opens and closes again
    assert bare.page.evaluate(is_inside) is True

    bare.paste("not a request")
    bare.page.keyboard.press("Control+Enter")
    bare.wait_for_end()

    assert bare.state() == "error"
    assert bare.request_text() == "not a request"


def test_what_is_in_the_editor_is_run_whether_or_not_gradio_has_heard_of_it(bare: DebuggerPage) -> None:
    # An editor that is given a state tells no one: as if the browser were too slow to tell it in time.
    bare.page.evaluate(
        """text => {
            const view = document.querySelector("#pd-request .cm-content").cmTile.view;
            const changes = {from: 0, to: view.state.doc.length, insert: text};
            view.setState(view.state.update({changes}).state);
        }""",
        REQUEST,
    )
    bare.run()

    bare.open_stage("render")
    assert "PASTED BY ME" in "".join(bare.tokens())


def test_five_megabytes_of_garbage_are_one_message(bare: DebuggerPage) -> None:
    bare.paste("x{" * 2_500_000)
    bare.run()

    assert bare.state() == "error"
    assert len(bare.request_text()) == 5_000_000


def test_a_hostile_request_does_nothing(bare: DebuggerPage) -> None:
    for text in HOSTILE:
        bare.paste(text)
        bare.run()

        assert bare.page.evaluate("globalThis.__ran") is None, text
        assert bare.state() in ("done", "error"), text  # there is no server: what can be read is rendered


def test_an_endpoint_that_no_one_serves_is_one_message_which_an_edit_outdates_until_it_is_undone(
    bare: DebuggerPage, dead_endpoint: str
) -> None:
    bare.paste(REQUEST)
    bare.aim_at(dead_endpoint)
    bare.run()
    assert (bare.state(), bare.badge()) == ("error", "SERVER")
    assert bare.request_text() == REQUEST
    note = bare.page.locator(".pd-outdated")
    expect(note).to_have_count(0)

    bare.page.locator("#pd-request .cm-content").click()
    bare.page.keyboard.press("Control+End")
    bare.page.keyboard.type("x")  # a space between the parts of JSON is no edit
    expect(note).to_contain_text("before your edits")

    bare.page.keyboard.press("Backspace")
    expect(note).to_have_count(0)
