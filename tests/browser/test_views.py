"""Views of ours on a page without gradio: keyboard, marks, jumps, hostile text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import Completion, LedgerEntry, Span, Token, TokenKind
from tests.browser.axe import violations
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import PROMPT_TEXT, RAW_TEXT, dropped_call_trace, prompt_of, tokens_of

pytestmark = pytest.mark.browser


@pytest.fixture
def dropped(show):
    return show(dropped_call_trace())


# --- token view --------------------------------------------------------------


def test_the_tokens_spell_the_prompt(dropped):
    dropped.open_stage("render")

    assert "".join(dropped.tokens()) == PROMPT_TEXT.replace("?\n", "?")  # the line break is a row of its own


def test_the_keyboard_walks_the_tokens(dropped):
    dropped.open_stage("render")
    dropped.page.focus("#pd-prompt-tokens [role=listbox]")
    steps = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "ArrowDown", "ArrowUp"):
        dropped.page.keyboard.press(key)
        steps.append(dropped.active_token())

    assert steps[:5] == ["system", "<|im_middle|>", "system", "<|im_middle|>", "<|im_system|>"]
    assert steps[5:] == ["<|im_user|>", "<|im_system|>"]


def test_the_inspector_follows_the_keyboard_and_the_pointer(dropped):
    dropped.open_stage("render")
    dropped.page.focus("#pd-prompt-tokens [role=listbox]")
    dropped.page.keyboard.press("ArrowRight")
    by_keyboard = dropped.inspector()
    dropped.page.locator("#pd-prompt-tokens [data-at='0']").hover()

    assert "token 1" in by_keyboard
    assert '"system"' in by_keyboard
    assert "bytes 73 79 73 74 65 6d" in by_keyboard
    assert "special" in dropped.inspector()
    assert "template line 2" in dropped.inspector()


def test_a_click_pins_and_escape_lets_go(dropped):
    dropped.open_stage("render")
    dropped.page.locator("#pd-prompt-tokens [data-at='1']").click()
    dropped.page.locator("#pd-prompt-tokens [data-at='5']").hover()
    pinned = dropped.inspector()
    dropped.page.evaluate("PromptDebugger.release()")

    assert "token 1" in pinned
    assert "Point at a token" in dropped.inspector()


def test_the_lines_that_wrote_a_token_light_up(dropped):
    dropped.open_stage("render")
    dropped.page.locator("#pd-prompt-tokens [data-at='1']").hover()
    assert dropped.page.get_attribute("#pd-template .pd-lit", "data-line") == "3"

    dropped.page.locator("#pd-template [data-line='2']").hover()
    assert dropped.page.locator("#pd-prompt-tokens .pd-lit").count() == 8


def test_white_space_is_marked_on_demand_and_never_copied(dropped):
    dropped.open_stage("render")
    plain = "".join(dropped.tokens())
    dropped.switch("whitespace")
    marked = "".join(dropped.tokens())
    dropped.page.focus("#pd-prompt-tokens [role=listbox]")
    dropped.page.keyboard.press("ControlOrMeta+a")
    dropped.page.keyboard.press("ControlOrMeta+c")

    assert "·" not in plain
    assert "In··Celsius" in marked
    assert "?↵" in marked
    assert dropped.page.evaluate("navigator.clipboard.readText()") == PROMPT_TEXT


def test_ids_take_the_place_of_text(dropped):
    dropped.open_stage("render")
    dropped.page.click("#pd-prompt-tokens [data-option=ids]")

    assert dropped.tokens()[0].strip() == str(dropped_call_trace().prompt.tokens[0].id)


def test_search_counts_and_walks_its_hits(dropped):
    dropped.open_stage("render")
    dropped.page.fill("#pd-prompt-tokens input", "special:")
    expect(dropped.page.locator("#pd-prompt-tokens .pd-found")).to_have_text("8 hits")
    dropped.page.press("#pd-prompt-tokens input", "Enter")
    dropped.page.press("#pd-prompt-tokens input", "Enter")

    assert dropped.page.inner_text("#pd-prompt-tokens .pd-found") == "2 of 8"
    assert dropped.active_token() == "<|im_middle|>"


def test_control_tokens_are_marked_by_more_than_colour(dropped):
    dropped.open_stage("render")
    style = dropped.page.evaluate(
        """() => { const s = getComputedStyle(document.querySelector("#pd-prompt-tokens .pd-chip-special"));
          return [Number(s.fontWeight) >= 600, s.boxShadow !== "none"]; }"""
    )

    assert style == [True, True]


def test_a_forged_control_token_says_so_in_words(show):
    trace = dropped_call_trace()
    forged = replace(trace.prompt.tokens[2], injected=True)
    tokens = (*trace.prompt.tokens[:2], forged, *trace.prompt.tokens[3:])
    page = show(replace(trace, prompt=replace(trace.prompt, tokens=tokens)))

    page.open_stage("render")

    assert "injected▸<|im_middle|>" in page.tokens()


def test_a_very_long_prompt_stays_small_in_the_page(show):
    trace = dropped_call_trace()
    tokens = tokens_of("def f(x): return x + 1\n" * 19_000)
    page = show(replace(trace, prompt=replace(trace.prompt, tokens=tokens), prompt_difference=None))
    page.open_stage("render")
    page.page.focus("#pd-prompt-tokens [role=listbox]")

    page.page.keyboard.press("End")

    assert len(tokens) > 200_000
    assert page.page.evaluate("document.querySelectorAll('#pd-prompt-tokens *').length") < 1_000
    assert f"token {len(tokens) - 1}" in page.inspector()


def test_tokens_inside_a_character_are_one_chip(show):
    pieces = [
        Token(i, text, Span(0, len(text)), TokenKind.BYTE, bytes([byte]))
        for i, text, byte in ((5, "", 0xE4), (6, "", 0xB8), (7, "中", 0xAD))
    ]
    trace = dropped_call_trace()
    page = show(replace(trace, prompt=replace(trace.prompt, tokens=(*tokens_of("a"), *pieces, *tokens_of("b")))))
    page.open_stage("render")
    page.page.locator("#pd-prompt-tokens [data-at='1']").hover()

    assert page.tokens() == ["a", "中", "b"]
    assert "tokens 1–3" in page.inspector()
    assert "ids 5 6 7" in page.inspector()


# --- ledger, findings, stages ------------------------------------------------


def test_lost_text_is_struck_through_and_marked_in_the_margin(dropped):
    dropped.open_stage("parse")
    dropped.page.wait_for_selector(".pd-rail-lost")

    assert dropped.lost_text() == ["get_weather", '{"city":·"Paris"}']
    line = dropped.page.evaluate("getComputedStyle(document.querySelector('.pd-raw .pd-fate-lost')).textDecorationLine")
    assert line == "line-through"


def test_a_field_of_the_message_and_its_raw_text_light_up_together(show):
    trace = dropped_call_trace()
    start = RAW_TEXT.index("{")
    entries = (
        *trace.parse.ledger.entries[:3],
        LedgerEntry(Span(start, start + 17), trace.parse.ledger.entries[3].fate, "content"),
        *trace.parse.ledger.entries[4:],
    )
    chat = replace(trace.chat, message={"role": "assistant", "content": '{"city": "Paris"}'})
    page = show(
        replace(trace, chat=chat, parse=replace(trace.parse, ledger=replace(trace.parse.ledger, entries=entries)))
    )
    page.open_stage("parse")

    page.page.locator(".pd-raw [data-segment='3']").hover()

    assert page.page.locator(".pd-message .pd-lit").all_inner_texts() == ['"content"', r'"{\"city\": \"Paris\"}"']


def test_evidence_of_a_finding_opens_the_place(dropped):
    dropped.open_stage("findings")
    dropped.jump("raw, characters")
    dropped.page.wait_for_selector(".pd-raw .pd-shown")
    assert dropped.opened_stage() == "parse"
    assert dropped.page.inner_text(".pd-raw .pd-shown") == "get_weather"

    dropped.open_stage("findings")
    dropped.jump("prompt, tokens 14–15")
    dropped.page.wait_for_selector("#pd-prompt-tokens .pd-shown")
    assert dropped.opened_stage() == "render"
    assert "token 14" in dropped.inspector()


def test_the_verdict_can_be_copied_and_shows_its_evidence(dropped):
    dropped.page.get_by_role("button", name="Copy sentence").click()
    copied = dropped.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(dropped.sentence())

    dropped.open_stage("render")
    dropped.page.get_by_role("button", name="Evidence").click()
    assert dropped.opened_stage() == "parse"


def test_the_guilty_stage_is_open_and_arrows_move_between_stages(dropped):
    assert dropped.opened_stage() == "parse"
    dropped.page.focus("#pd-tab-parse")
    dropped.page.keyboard.press("ArrowRight")
    assert dropped.opened_stage() == "findings"
    dropped.page.keyboard.press("ArrowRight")
    assert dropped.opened_stage() == "render"
    assert dropped.stage_word("parse") == "the guilty stage"


# --- hostile text, access ----------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_text_everywhere(show, text):
    trace = dropped_call_trace()
    finding = replace(trace.findings[0], title=text, detail=text, fix=text, name=text, links=(text,))
    message = {"role": text, "content": text, text: {text: [text]}}
    raw = Completion(text, None, text, tokens=tokens_of(text))
    ledger = replace(
        trace.parse.ledger, entries=(LedgerEntry(Span(0, len(text)), trace.parse.ledger.entries[1].fate, text),)
    )
    page = show(
        replace(
            trace,
            server=replace(trace.server, model=text, tool_parser=text),
            prompt=replace(prompt_of(text), template=text, note=text),
            local_prompt=None,
            prompt_difference=replace(trace.prompt_difference, server=text, local=text + "x", cause=text),
            raw=raw,
            chat=replace(trace.chat, message=message, error=text, finish_reason=text),
            parse=replace(trace.parse, raw=text, ledger=ledger),
            findings=(finding,),
            verdict=replace(trace.verdict, sentence=text),
        )
    )
    for stage in ("render", "complete", "parse", "findings"):
        page.open_stage(stage)
    page.page.locator(".pd-jump").first.click()

    assert page.page.evaluate("globalThis.__ran") is None
    assert page.page.locator("main img, main svg, main script, main style").count() == 0
    assert page.page.locator("a[href^='javascript']").count() == 0
    shown = page.page.inner_text("main")
    assert [line for line in shown.splitlines() if set(line) & set("\u202e\u202c\u2066\u2069\u200b")] == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_view_breaks_an_accessibility_rule(show, dark):
    page = show(dropped_call_trace(), dark=dark)
    found = []
    for stage in ("render", "complete", "parse", "findings"):
        page.open_stage(stage)
        found += violations(page.page, "main")

    assert found == []
