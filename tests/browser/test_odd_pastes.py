"""What people paste by mistake: one clear sentence each, and nothing is lost; `watched` fails on console errors."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from tests.browser.page import DebuggerPage

pytestmark = pytest.mark.browser

PNG = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0]
PASTE_FILE = """([bytes, name]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  const paste = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
  document.querySelector("#pd-request .cm-content").dispatchEvent(paste);
}"""


@pytest.mark.parametrize(
    ("content", "said"),
    [(PNG, "That picture contains no run; one saved by this page does."), ([], "That file is empty.")],
)
def test_a_picture_in_the_clipboard_is_answered_and_the_text_stays(
    bare: DebuggerPage, content: list[int], said: str
) -> None:
    before = bare.request_text()
    bare.page.evaluate(PASTE_FILE, [content, "image.png"])

    expect(bare.page.locator(".pd-format-words")).to_have_text(said)
    assert bare.request_text() == before


def test_a_file_in_the_clipboard_is_read_like_one_that_was_dropped(bare: DebuggerPage) -> None:
    body = '{"messages": [{"role": "user", "content": "From a file"}]}'
    bare.page.evaluate(PASTE_FILE, [[*body.encode()], "request.json"])

    expect(bare.page.locator(".pd-format-words")).to_have_text("From request.json.")
    assert bare.request_text() == body


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("   \n", "Nothing was pasted."),
        ("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n" * 20, "The text is the content of a PDF."),
        ("1.1 Methods\nWe asked 200 people what they think.\n" * 30, "The text was not recognized; it begins with"),
    ],
)
def test_what_is_no_evidence_is_refused_in_one_sentence(bare: DebuggerPage, text: str, said: str) -> None:
    bare.paste(text)
    bare.run()

    assert bare.badge() == "REQUEST"
    assert bare.sentence().startswith(said)
    bare.page.get_by_role("button", name="Share ▾").click()
    expect(bare.page.locator(".pd-share-which")).to_contain_text("nothing has run")
    expect(bare.page.get_by_role("button", name="HTML report")).to_be_disabled()


def test_a_stream_of_five_thousand_events_is_one_answer(bare: DebuggerPage) -> None:
    events: list[JSON] = [
        {"choices": [{"index": 0, "delta": {"content": f"w{at} "}, "finish_reason": None}]} for at in range(5000)
    ]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    bare.paste("".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n")
    bare.run()

    assert bare.sentence().startswith("No problem was found in the answer.")
