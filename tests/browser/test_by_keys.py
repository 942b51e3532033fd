"""Tasks of docs/views.md by keyboard alone: Tab reaches, focus is seen, Enter does, Escape goes back."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, expect

from prompt_debugger.core.base.types import JSON
from tests.browser.page import DebuggerPage
from tests.browser.rings import ring_fault
from tests.browser.servers import serving
from tests.browser.tasks import (
    KEY,
    LOG,
    RAW,
    assert_proof_in,
    curl,
    expect_fix_of_log,
    expect_parser_of_raw,
    expect_proof_told,
    expect_two_servers,
)
from tests.core.complete.faulty_server import answer

pytestmark = pytest.mark.browser

MAX_TABS = 90  # from one place of the page to any other
MAX_PRESSED = 150  # keys from a vanished call to its report
HAS_FOCUS = "part => part === document.activeElement || part.contains(document.activeElement)"


@dataclass
class Keys:
    """Someone without a mouse.

    Attributes:
        at: The page.
        pressed: How many keys were pressed to reach and to press.
    """

    at: DebuggerPage
    pressed: int = 0

    def _key(self, key: str) -> None:
        self.pressed += 1
        self.at.page.keyboard.press(key)

    def reach(self, what: Locator) -> None:
        """Press Tab until something has the focus, and see that it has."""
        expect(what).to_be_visible()
        for _ in range(MAX_TABS):
            if what.evaluate(HAS_FOCUS):
                break
            self._key("Tab")
        else:
            raise AssertionError(f"{what} is not reached by Tab")
        assert ring_fault(self.at.page) == ""

    def press(self, what: Locator, key: str = "Enter") -> None:
        """Reach something, and press it."""
        self.reach(what)
        self._key(key)

    def button(self, name: str) -> None:
        """Press the button of that name."""
        self.press(self.at.page.get_by_role("button", name=name, exact=True).first)

    def write(self, text: str) -> None:
        """Replace what is in the editor."""
        self.reach(self.at.page.locator("#pd-request .cm-content"))
        self.at.page.keyboard.press("ControlOrMeta+a")
        self.at.page.keyboard.insert_text(text)

    def save_markdown(self) -> str:
        """Have Share make the report for an issue, and return it."""
        self.button("Share ▾")
        with self.at.page.expect_download() as saved:
            self.press(self.at.page.get_by_role("button", name="Markdown for an issue"))
        self._key("Escape")
        return str(saved.value.path().read_text("utf-8"))

    def run(self) -> None:
        """Press Run and wait for the end."""
        self.reach(self.at.page.locator("#pd-run"))
        self.at.page.evaluate(
            "document.querySelectorAll('.pd-verdict > *').forEach((part) => { part.dataset.old = ''; })"
        )
        self._key("Enter")
        self.at.page.wait_for_selector(".pd-verdict > :first-child:not([data-old])")
        self.at.wait_for_end()


def test_a_log_line_becomes_a_diagnosis(bare: DebuggerPage) -> None:
    keys = Keys(bare)
    keys.write(LOG)
    keys.run()
    keys.button("Show the fix")

    expect(bare.page.locator(".pd-finding.pd-shown")).to_be_focused()
    expect_fix_of_log(bare)


def test_an_own_server_with_its_key_gives_a_verdict_and_escape_goes_back(bare: DebuggerPage) -> None:
    page, keys = bare.page, Keys(bare)
    listed: JSON = {"object": "list", "data": [{"id": "qwen"}]}
    call: JSON = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    message: JSON = {"role": "assistant", "content": None, "tool_calls": [call]}
    said: JSON = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    with serving(
        {"/v1/models": answer(200, listed), "/v1/chat/completions": answer(200, said), "*": answer(404)}
    ) as url:
        body = json.dumps({"model": "qwen", "messages": [{"role": "user", "content": "Search"}]})
        keys.write(f"curl {url}/chat/completions -H 'Authorization: Bearer $KEY' -d {shlex.quote(body)}")
        keys.button("Enter its key")
        expect(page.locator("#pd-key input")).to_be_focused()
        page.keyboard.insert_text(KEY)
        page.keyboard.press("Escape")
        expect(page.locator("#pd-key input")).not_to_be_visible()
        expect(page.locator("#pd-target button").first).to_be_focused()
        keys.run()

    assert bare.state() == "done"
    keys.reach(page.locator(".pd-stage[tabindex='0']"))
    for _ in range(4):
        if bare.opened_stage() != "findings":
            page.keyboard.press("ArrowRight")
    assert bare.opened_stage() == "findings"


@pytest.mark.vllm
def test_which_parser_reads_this_output(bare: DebuggerPage) -> None:
    keys = Keys(bare)
    keys.write(RAW)
    keys.run()
    keys.button("Test every parser")

    expect_parser_of_raw(bare)


@pytest.mark.lab
def test_two_servers_are_compared(lab_page: DebuggerPage, keyed_vllm: str) -> None:
    page, keys = lab_page.page, Keys(lab_page)
    keys.write(curl(keyed_vllm, KEY))
    expect(page.locator("#pd-run")).to_contain_text(keyed_vllm.split("/")[2])
    keys.reach(page.locator("#pd-run-on"))
    expect(page.get_by_role("option", name="both, and compare")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#pd-run")).to_contain_text("Run on lab and ")
    keys.run()
    expect_two_servers(lab_page, keyed_vllm)


@pytest.mark.lab
def test_a_vanished_call_comes_back_by_a_fix_and_the_report_has_the_proof_after_a_reload_too(
    lab_page: DebuggerPage,
) -> None:
    page, keys = lab_page.page, Keys(lab_page)
    keys.run()
    keys.button("Try the fix")
    expect(page.locator("#pd-verdict .pd-trial")).to_contain_text("Fixed: 1 of 1 call returned.")
    keys.button("Add to report")
    expect_proof_told(lab_page)
    assert_proof_in(keys.save_markdown())
    assert keys.pressed <= MAX_PRESSED

    lab_page.load()
    expect(page.locator("#pd-verdict .pd-badge")).to_have_text(["DROPPED", "FIXED"])
    expect(page.locator(".pd-verdict")).to_have_attribute("data-state", "done")  # not the recording
    assert_proof_in(keys.save_markdown())
