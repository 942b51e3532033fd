"""The request's editor: JSON laid out, faults marked at their place, a word where it is empty."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.pipeline import find_example
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser

# What no decoder keeps: digits, an exponent, an escape, the order of keys.
WRITTEN = (
    '{"messages":[{"role":"user","content":"caf\\u00e9"}],"seed":12345678901234567890,"temperature":1E-1,"a":1,"A":[]}'
)
LAID_OUT = """{
  "messages": [
    {
      "role": "user",
      "content": "caf\\u00e9"
    }
  ],
  "seed": 12345678901234567890,
  "temperature": 1E-1,
  "a": 1,
  "A": []
}"""
RESPONSE = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
HELD = "() => document.querySelector('#pd-request .cm-content').cmTile.view.state.doc.toString()"
# The stretches under a wavy line, in the order of the page.
WRONG = "() => [...(CSS.highlights.get('pd-wrong') || [])].map(range => range.toString())"


def wait_for_text(page: DebuggerPage, text: str) -> None:
    page.page.wait_for_function(f"text => ({HELD})() === text", arg=text)


def wait_for_wrong(page: DebuggerPage, *words: str) -> None:
    page.page.wait_for_function(
        f"words => JSON.stringify(({WRONG})()) === words", arg=json.dumps(words, separators=(",", ":"))
    )


def status(page: DebuggerPage) -> Any:
    return page.page.locator("#pd-format [role=status]")


def test_format_by_key_changes_nothing_but_space_and_can_be_undone(bare: DebuggerPage) -> None:
    bare.paste(WRITTEN)
    wait_for_text(bare, WRITTEN)

    bare.page.keyboard.press("Shift+Alt+F")
    wait_for_text(bare, LAID_OUT)
    expect(status(bare)).to_contain_text("Formatted")
    expect(bare.page.locator("#pd-notices")).to_contain_text("1 message")

    bare.page.keyboard.press("ControlOrMeta+z")
    wait_for_text(bare, WRITTEN)
    expect(status(bare)).to_be_empty()


def test_what_is_not_json_is_left_as_it_is_in_one_sentence(bare: DebuggerPage) -> None:
    written = "curl http://127.0.0.1:9/v1/chat/completions -d '{\"messages\":[]}'"
    bare.paste(written)
    wait_for_text(bare, written)

    bare.page.get_by_role("button", name="Format", exact=True).click()

    expect(status(bare)).to_have_text("This is not JSON, so it is left unchanged.")
    assert bare.request_text() == written
    assert violations(bare.page, "#pd-editor-foot") == []


def test_a_result_is_not_outdated_by_format_but_by_the_next_key(bare: DebuggerPage) -> None:
    bare.paste(json.dumps(RESPONSE))
    bare.run()

    bare.page.get_by_role("button", name="Format", exact=True).click()
    wait_for_text(bare, json.dumps(RESPONSE, indent=2))
    expect(status(bare)).to_contain_text("Formatted")
    expect(bare.page.locator(".pd-outdated")).to_have_count(0)

    bare.page.locator("#pd-request .cm-content").press("End")
    bare.page.keyboard.type(" x")
    expect(bare.page.locator(".pd-outdated")).to_be_visible()


def test_an_error_of_json_is_marked_until_it_is_fixed(bare: DebuggerPage) -> None:
    editor = bare.page.locator("#pd-request .cm-content")
    bare.paste('{"messages": nul}')
    wait_for_wrong(bare, "nul")
    expect(editor).to_have_attribute("aria-invalid", "true")

    bare.paste('{"messages": [{"role": "user", "content": "Hi"}]}')
    expect(editor).to_have_attribute("aria-invalid", "false")
    wait_for_wrong(bare)


def test_an_unknown_role_and_a_filter_that_jinja_lacks_are_marked(bare: DebuggerPage) -> None:
    bare.open_stage("render")
    bare.paste('{"messages": [{"role": "usr", "content": "Hi"}]}')
    wait_for_wrong(bare, '"usr"')
    expect(bare.page.locator("#pd-live-status")).to_contain_text("PD109")

    template = "{{ messages }}\n{{ messages | to_yaml }}"
    bare.paste(json.dumps({"messages": [{"role": "user", "content": "Hi"}], "chat_template": template}))
    wait_for_wrong(bare, "to_yaml")
    expect(bare.page.locator("#pd-live-status")).to_contain_text("to_yaml")


def test_an_empty_editor_says_what_to_paste_and_brackets_indent(bare: DebuggerPage) -> None:
    shown = "getComputedStyle(document.querySelector('#pd-request .cm-content'), '::before').content"
    bare.paste("")
    bare.page.wait_for_function(f"{shown}.includes('Paste a request')")

    bare.paste('"x"')
    wait_for_text(bare, '"x"')
    bare.page.wait_for_function(f"!{shown}.includes('Paste a request')")
    bare.page.keyboard.press("ControlOrMeta+]")
    wait_for_text(bare, '  "x"')
    bare.page.keyboard.press("ControlOrMeta+[")
    wait_for_text(bare, '"x"')


def test_the_help_names_the_keys_of_the_editor(bare: DebuggerPage) -> None:
    bare.page.get_by_role("button", name="Help and keys").click()

    expect(bare.page.get_by_role("dialog")).to_contain_text("Shift + Alt + F")
    expect(bare.page.get_by_role("dialog")).to_contain_text("Ctrl + ]")


DROP = """({name, bytes}) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], name));
    const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
    document.querySelector("#pd-inspector").dispatchEvent(drop);
    return drop.defaultPrevented;
}"""


def test_a_file_takes_the_place_of_the_request(bare: DebuggerPage) -> None:
    page, words = bare.page, bare.page.locator("#pd-format .pd-format-words")
    response = json.dumps(RESPONSE)
    assert page.evaluate(DROP, {"name": "answer.json", "bytes": list(response.encode())})  # else the page is left

    wait_for_text(bare, response)
    expect(words).to_have_text("From answer.json.")
    expect(page.locator("#pd-notices")).to_contain_text("chat response")

    page.evaluate(DROP, {"name": "image.png", "bytes": [137, 80, 78, 71, 0, 1]})
    expect(words).to_have_text("That file is not text.")
    assert bare.request_text() == response

    page.locator("#pd-file").set_input_files({"name": "r.json", "mimeType": "application/json", "buffer": b"[]"})
    wait_for_text(bare, "[]")


def test_the_tour_goes_round_and_gives_the_focus_back(bare: DebuggerPage) -> None:
    page = bare.page
    page.get_by_role("button", name="Help and keys").click()
    page.get_by_role("button", name="Show me around").click()
    tour = page.get_by_role("dialog", name="Tour: ")
    expect(tour.get_by_role("heading")).to_have_text("The request")
    expect(page.locator("#pd-request.pd-toured")).to_be_visible()
    assert violations(page, ".pd-tour") == []
    count = int(tour.locator(".pd-tour-bar .pd-muted").inner_text().split()[-1])
    assert count >= 8

    for _ in range(count):
        page.keyboard.press("Enter")

    expect(tour).to_have_count(0)
    expect(page.locator(".pd-toured")).to_have_count(0)
    expect(page.get_by_role("button", name="Help and keys")).to_be_focused()


def test_a_text_pasted_while_an_example_is_on_its_way_to_the_server_stays(bare: DebuggerPage) -> None:
    """On a busy machine the loading is cancelled before it has a name; a refusal of that would be a console error."""
    held: list[Any] = []
    answered: list[int] = []

    def hold_case(route: Any) -> None:
        is_case = "wrong-parser" in (route.request.post_data or "")
        held.append(route) if is_case else route.continue_()

    bare.page.on("response", lambda one: answered.append(one.status) if "/queue/" not in one.url else None)
    bare.page.route("**/gradio_api/queue/join*", hold_case)
    with bare.page.expect_request(lambda request: "wrong-parser" in (request.post_data or "")):
        bare.page.click("#pd-case input")
        bare.page.get_by_role("option", name=find_example("wrong-parser").title, exact=True).click()
    with bare.page.expect_response("**/reset"):
        bare.paste(WRITTEN)
    held[0].continue_()

    expect(bare.page.locator("#pd-notices")).to_contain_text("1 message")
    expect(bare.page.locator("#pd-run")).to_be_enabled()
    assert bare.request_text() == WRITTEN
    assert set(answered) == {200}
    bare.choose(find_example("healthy-call").title)
    assert bare.badge() == "NOTHING LOST"


def test_a_very_long_text_has_no_colours_and_a_short_one_has_them_again(bare: DebuggerPage) -> None:
    coloured = bare.page.locator("#pd-request .cm-line span[class]")
    long = json.dumps({"messages": [{"role": "user", "content": "again " * 60_000}]})
    bare.paste(long)

    expect(status(bare)).to_have_text("Long text: colours are off")
    expect(coloured).to_have_count(0)
    wait_for_text(bare, long)

    bare.paste(WRITTEN)

    expect(coloured).not_to_have_count(0)
    expect(status(bare)).to_have_text("")
    wait_for_text(bare, WRITTEN)
