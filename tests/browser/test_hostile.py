"""Markup, prototype keys and reordering characters in every field of a real exchange: nothing runs, nothing hides."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.types import JSON, JSONObject
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import Behaviour, answer, stream

pytestmark = pytest.mark.browser

EVIL = (
    "<img src=x onerror='globalThis.__ran=1'><script>globalThis.__ran=1</script>"
    "${globalThis.__ran=1}{{constructor.constructor('globalThis.__ran=1')()}}"
    "`javascript:globalThis.__ran=1`\u202eevil\u202c\u2066x\u2069\u200b\U000e0041\ufeff"
)
PROTOTYPE: JSONObject = {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}
HIDDEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]")
# Text of all views, and what a pointer or a screen reader is told; shadow trees and templates included.
SHOWN = """() => {
  const roots = [...document.querySelectorAll(".pd, #pd-inspector")];
  const texts = roots.map(root => root.textContent);
  for (const root of roots) for (const element of [root, ...root.querySelectorAll("*")])
    for (const name of ["title", "aria-label", "alt", "placeholder"]) texts.push(element.getAttribute(name) || "");
  return texts.concat(document.title);
}"""
# Once at each place that is in sight, or, in the end, that never was.
POINT_AT_ALL = """isEnd => {
  const pointed = globalThis.__pointed ??= new WeakSet();
  const places = ".pd [data-at], .pd [data-segment], .pd [data-path], .pd [data-line], .pd-field-difference";
  for (const element of document.querySelectorAll(places)) {
    if (pointed.has(element) || (!isEnd && !element.checkVisibility())) continue;
    pointed.add(element);
    element.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
  }
}"""


def evil_request() -> str:
    body: JSONObject = {
        "model": EVIL,
        "messages": [
            {"role": "system", "content": EVIL, **PROTOTYPE},
            {"role": "user", "name": EVIL, "content": [{"type": "text", "text": EVIL}]},
            {"role": "assistant", "content": None, "tool_calls": [evil_call()]},
            {"role": "tool", "tool_call_id": EVIL, "content": EVIL},
        ],
        "tools": [{"type": "function", "function": {"name": EVIL, "description": EVIL, "parameters": {EVIL: EVIL}}}],
        "logprobs": True,
        "top_logprobs": 2,
        "chat_template_kwargs": {"thinking": EVIL, **PROTOTYPE},
        EVIL: EVIL,
    }
    return json.dumps({**body, **PROTOTYPE}, ensure_ascii=False)


def evil_call() -> JSONObject:
    return {"id": EVIL, "type": EVIL, "function": {"name": EVIL, "arguments": json.dumps({EVIL: EVIL}), **PROTOTYPE}}


def evil_answers() -> dict[str, Behaviour]:
    top: JSON = [{"token": EVIL, "logprob": -1}, {"token": "__proto__", "logprob": -2}]
    logprobs: JSON = {"content": [{"token": EVIL, "logprob": -1, "top_logprobs": top}]}
    message: JSONObject = {
        "role": EVIL,
        "content": EVIL,
        "reasoning": EVIL,
        "tool_calls": [evil_call()],
        EVIL: EVIL,
        **PROTOTYPE,
    }
    choice: JSONObject = {
        "index": 0,
        "message": message,
        "finish_reason": EVIL,
        "stop_reason": EVIL,
        "logprobs": logprobs,
    }
    delta: JSONObject = {"choices": [{"index": 0, "delta": message, "finish_reason": EVIL, "logprobs": logprobs}]}
    event = b"data: " + json.dumps(delta).encode() + b"\n\n"
    raw: JSONObject = {"index": 0, "text": f"<think>{EVIL}</think>{EVIL}", "finish_reason": EVIL, "stop_reason": EVIL}
    return {
        "/v1/models": answer(200, {"data": [{"id": EVIL, "root": EVIL, "max_model_len": 4_096}]}),
        "/version": answer(200, {"version": EVIL}),
        "/v1/chat/completions": answer(200, {"choices": [choice], "prompt_text": EVIL, **PROTOTYPE}),
        "/v1/chat/completions#stream": stream(event, b"data: [DONE]\n\n"),
        "/v1/completions": answer(200, {"choices": [raw]}),
        "/v1/completions#stream": answer(200, {"choices": [raw]}),
    }


@pytest.fixture(scope="module")
def evil_endpoint() -> Iterator[str]:
    with serving(evil_answers()) as url:
        yield url


@pytest.fixture(scope="module")
def refusing_endpoint() -> Iterator[str]:
    error: JSON = {"error": {"message": EVIL, "type": EVIL, "param": EVIL, "code": EVIL}}
    with serving({"*": answer(400, error)}) as url:
        yield url


def prepare(page: DebuggerPage, endpoint: str, tokenizer: Path) -> None:
    page.paste(evil_request())
    page.aim_at(endpoint)
    field = page.page.get_by_label("Tokenizer", exact=True)
    field.fill(str(tokenizer))
    field.blur()
    page.page.locator("#pd-target button").first.click()
    page.run()


def check_everywhere(page: DebuggerPage) -> str:
    """Walk through every pane, point at everything once, and return what was shown, for what must be there."""
    shown = []
    for stage in ("render", "complete", "parse", "findings"):
        page.open_stage(stage)
        page.page.evaluate(POINT_AT_ALL, stage == "findings")
        heat = page.page.locator(".pd-switch[data-option=heat]:visible")
        for i in range(heat.count()):
            heat.nth(i).focus()
            page.page.keyboard.press("Enter")
        shown += page.page.evaluate(SHOWN)
    assert page.page.evaluate("globalThis.__ran") is None
    assert page.page.evaluate("[({}).polluted, [].polluted, Object.prototype.polluted]") == [None, None, None]
    assert (
        page.page.locator(
            ".pd img, .pd svg:not(.dropdown-arrow), .pd script, .pd iframe, .pd a[href^='javascript']"
        ).count()
        == 0
    )
    assert [text for text in shown if HIDDEN.search(text)] == []
    return "\n".join(shown)


def test_a_hostile_exchange_is_text_in_every_pane(bare: DebuggerPage, evil_endpoint: str) -> None:
    prepare(bare, evil_endpoint, assets_dir() / "lab-model")
    assert bare.state() == "done"

    shown = check_everywhere(bare)

    assert shown.count("⟨RLO⟩") > 20
    assert shown.count("<img src=x onerror=") > 10
    assert shown.count("__proto__") > 0
    message = bare.page.evaluate("document.querySelector('.pd-message').textContent")
    raw = bare.page.evaluate("document.querySelector('.pd-raw').textContent")
    assert message.count("⟨RLO⟩") > 3
    assert raw.count("⟨RLO⟩") == 2
    assert bare.page.evaluate("document.querySelector('#pd-prompt-tokens').textContent").count("⟨RLO⟩") > 0


def test_a_server_that_answers_with_a_hostile_error_is_quoted(bare: DebuggerPage, refusing_endpoint: str) -> None:
    prepare(bare, refusing_endpoint, assets_dir() / "lab-model")

    shown = check_everywhere(bare)

    assert "⟨RLO⟩evil⟨PDF⟩" in shown
    assert "<img src=x onerror=" in shown


def test_a_template_that_raises_hostile_words_is_quoted(bare: DebuggerPage, evil_endpoint: str, tmp_path: Path) -> None:
    shutil.copytree(assets_dir() / "lab-model", tmp_path / "model")
    (tmp_path / "model" / "chat_template.jinja").write_text(
        "{{ raise_exception(" + json.dumps(EVIL, ensure_ascii=False) + ") }}", encoding="utf-8"
    )
    prepare(bare, evil_endpoint, tmp_path / "model")

    shown = check_everywhere(bare)

    assert "⟨RLO⟩evil⟨PDF⟩" in shown


def test_the_editor_shows_what_hides(bare: DebuggerPage) -> None:
    bare.paste('{"messages": [{"role": "user", "content": "a\u202eb\u200bc\u2066"}]}')

    assert bare.page.locator("#pd-request .cm-specialChar").count() == 3
