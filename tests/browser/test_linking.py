"""The request's editor and the views point at each other: field, template line, token; raw text, raw token, message."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.types import JSONObject
from tests.browser.conftest import Keep
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import answer, chunk, stream

pytestmark = pytest.mark.browser

MESSAGE: JSONObject = {"role": "assistant", "content": "Hello there"}
REQUEST: JSONObject = {
    "model": "m",
    "messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Search for gradio"}],
}
LIT_IN_EDITOR = "[...(CSS.highlights.get('pd-lit') || [])].map(range => range.toString())"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    choice: JSONObject = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
    chat = "/v1/chat/completions"
    completions = answer(200, {"choices": [{"index": 0, "text": "Hello there", "finish_reason": "stop"}]})
    events = stream(chunk(delta=MESSAGE), chunk(delta={}, finish_reason="stop"), b"data: [DONE]\n\n")
    with serving(
        {chat: answer(200, {"choices": [choice]}), f"{chat}#stream": events, "/v1/completions": completions}
    ) as url:
        yield url


def run_at(page: DebuggerPage, endpoint: str) -> None:
    page.paste(json.dumps(REQUEST, indent=2))
    page.aim_at(endpoint)
    page.page.get_by_label("Tokenizer", exact=True).fill(str(assets_dir() / "lab-model"))
    page.page.get_by_label("Tokenizer", exact=True).blur()
    page.page.locator("#pd-target button").first.click()
    page.run()
    page.open_stage("render")
    page.page.wait_for_selector("#pd-prompt-tokens [data-at]")


@pytest.fixture
def ran(keep: Keep, bare_url: str, endpoint: str) -> DebuggerPage:
    """A page after a run whose prompt was rendered here: every token knows its field and its template line."""
    return keep(bare_url, run_at, endpoint)


def chip(page: DebuggerPage, text: str, view: str = "prompt-tokens") -> str:
    """Return the selector of the first chip that shows `text`."""
    at = page.page.evaluate(
        """([view, text]) => [...document.querySelectorAll(`#pd-${view} [data-at]`)]
             .find(chip => chip.textContent.includes(text)).dataset.at""",
        [view, text],
    )
    return f"#pd-{view} [data-at='{at}']"


def lit_tokens(page: DebuggerPage, view: str = "prompt-tokens") -> str:
    """Return the text of the tokens that are lit."""
    return "".join(page.page.locator(f"#pd-{view} .pd-lit").all_inner_texts())


def put_caret(page: DebuggerPage, text: str) -> None:
    """Put the caret into the editor, behind the first letter of `text`."""
    page.page.evaluate(
        """text => { const view = document.querySelector("#pd-request .cm-content").cmTile.view;
          const at = view.state.doc.toString().indexOf(text) + 1;
          view.focus(); view.dispatch({selection: {anchor: at}}); }""",
        text,
    )


def test_a_token_marks_its_field_in_the_editor_and_touches_nothing(ran: DebuggerPage) -> None:
    before = ran.request_text()
    ran.page.focus("#pd-prompt-tokens [role=listbox]")
    ran.page.hover(chip(ran, "Search"))
    ran.page.wait_for_function(f"{LIT_IN_EDITOR}.length === 1")

    assert ran.page.evaluate(LIT_IN_EDITOR) == ['"Search for gradio"']
    assert ran.request_text() == before
    assert ran.page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
    assert ran.selected_text() == ""


def test_a_control_token_of_the_template_marks_no_field(ran: DebuggerPage) -> None:
    ran.page.hover(chip(ran, "<|im_middle|>"))

    assert "template line" in ran.inspector()
    assert ran.page.evaluate(LIT_IN_EDITOR) == []


def test_the_caret_lights_tokens_and_template_line(ran: DebuggerPage) -> None:
    put_caret(ran, "Search for gradio")
    expect(ran.page.locator("#pd-prompt-tokens .pd-lit").first).to_be_visible()

    assert lit_tokens(ran) == "Search for gradio"
    assert "request messages[1].content" in ran.inspector()
    assert "content" in ran.page.locator("#pd-template .pd-line.pd-lit").first.inner_text()
    expect(ran.page.locator("#pd-prompt-tokens .pd-found")).to_contain_text("linked")


def test_the_pointer_over_a_field_lights_what_came_of_it(ran: DebuggerPage) -> None:
    box = ran.page.evaluate(
        """() => { const view = document.querySelector("#pd-request .cm-content").cmTile.view;
          const box = view.coordsAtPos(view.state.doc.toString().indexOf("Be brief") + 3);
          return [box.left, (box.top + box.bottom) / 2]; }"""
    )
    ran.page.mouse.move(*box)
    expect(ran.page.locator("#pd-prompt-tokens .pd-lit").first).to_be_visible()

    assert lit_tokens(ran) == "Be brief"


def test_a_template_line_lights_its_tokens_and_their_fields(ran: DebuggerPage) -> None:
    ran.page.hover(chip(ran, "Search"))
    line = ran.page.locator("#pd-template .pd-line.pd-lit").first.get_attribute("data-line")
    ran.page.hover(f"#pd-template [data-line='{line}'] .pd-code")

    assert "Search for gradio" in lit_tokens(ran)
    assert '"Search for gradio"' in ran.page.evaluate(LIT_IN_EDITOR)


def test_raw_text_raw_tokens_and_message_light_together(ran: DebuggerPage) -> None:
    ran.open_stage("parse")
    ran.page.hover(".pd-message .pd-json-string:has-text('Hello')")
    assert ran.page.locator(".pd-raw .pd-lit").all_inner_texts() == ["Hello there"]

    ran.page.hover(".pd-raw .pd-fate-content")
    assert ran.page.locator(".pd-message .pd-lit").all_inner_texts() == ['"content"', '"Hello there"']


def test_a_click_keeps_the_light_and_escape_lets_go(ran: DebuggerPage) -> None:
    ran.page.click(chip(ran, "Search"))
    ran.page.hover(chip(ran, "<|im_middle|>"))
    kept = ran.page.evaluate(LIT_IN_EDITOR)
    ran.page.keyboard.press("Escape")

    assert kept == ['"Search for gradio"']
    assert ran.page.evaluate(LIT_IN_EDITOR) == []


def test_typing_takes_the_mark_away_and_the_run_stays(ran: DebuggerPage) -> None:
    ran.page.click(chip(ran, "Search"))
    put_caret(ran, "Be brief")
    ran.page.keyboard.type("x")

    assert "Bxe brief" in ran.request_text()
    assert ran.page.evaluate(LIT_IN_EDITOR) == []
