"""Sharing in a browser: files without a server, links that run nothing, bundles that open again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.report import read_bundle, write_bundle
from prompt_debugger.ui.report import trace_to_html
from tests.browser.axe import violations_in_both_themes
from tests.browser.page import DebuggerPage
from tests.browser.test_page import GRADIO_RULES, REQUEST
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import dropped_call_trace

pytestmark = pytest.mark.browser

SENTENCE = "The model wrote 1 tool call, the server returned none. Guilty stage: parse."


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(write_bundle(dropped_call_trace(), "0.1.0"))
    return path


@pytest.fixture
def opened(bare: DebuggerPage, bundle: Path) -> DebuggerPage:
    open_bundle(bare, bundle)
    return bare


def menu(page: DebuggerPage) -> Any:
    toggle = page.page.get_by_role("button", name="Share ▾")
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    return page.page.get_by_role("group", name="Share or open a run")


def open_bundle(page: DebuggerPage, path: Path) -> None:
    menu(page).locator("input[type=file]").set_input_files(path)
    page.page.wait_for_selector(".pd-verdict[data-state=done]")


def download(page: DebuggerPage, title: str, path: Path) -> Path:
    with page.page.expect_download() as download:
        menu(page).get_by_role("button", name=title).click()
    path = path / download.value.suggested_filename
    download.value.save_as(path)
    expect(page.page.locator(".pd-share-status")).to_contain_text("Saved " + path.name)
    return path


def link_of(page: DebuggerPage) -> str:
    menu(page).get_by_role("button", name="Copy link").click()
    field = page.page.get_by_label("Link", exact=True)
    expect(field).to_be_visible()
    assert page.page.evaluate("navigator.clipboard.readText()") == field.input_value()
    return str(field.input_value())


# --- links ------------------------------------------------------------------------


def test_a_link_brings_the_request_and_sends_nothing(bare: DebuggerPage) -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "中文 \u202e 👩‍🚀 <b>"}]}, ensure_ascii=False)
    bare.paste(request)
    url = link_of(bare)
    sent: list[str] = []
    bare.page.on("request", lambda request: sent.append(request.url + " " + (request.post_data or "")))

    bare.page.goto("about:blank")
    bare.page.goto(url)
    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")

    assert bare.request_text() == request
    assert "Nothing was run or sent" in bare.sentence()
    assert bare.state() == "idle"
    assert bare.lost_text() == [], "the recorded run that was shown belongs to another request"
    assert [text for text in sent if "#pd" in text or "中文" in text or "\\u4e2d" in text] == []
    assert [text for text in sent if "queue/join" in text and "messages" in text] == []


def test_a_link_of_a_command_carries_neither_key_nor_address(bare: DebuggerPage) -> None:
    bare.paste(f"curl http://10.1.2.3/v1/chat/completions -H 'Authorization: Bearer planted-secret-1' -d '{REQUEST}'")
    url = link_of(bare)

    bare.page.goto("about:blank")
    bare.page.goto(url)
    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")

    assert json.loads(bare.request_text()) == json.loads(REQUEST)


def test_a_link_pasted_into_the_open_page_is_followed(bare: DebuggerPage) -> None:
    bare.paste(REQUEST)
    url = link_of(bare)
    bare.load()
    menu(bare).get_by_label("Bundle or link").fill(f"  {url}\n")
    bare.page.get_by_role("button", name="Open", exact=True).click()

    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")
    assert bare.request_text() == REQUEST


def test_a_request_too_long_for_a_link_is_told_to_go_as_bundle(bare: DebuggerPage) -> None:
    words = " ".join(str(number * 7_919) for number in range(40_000))
    bare.paste(json.dumps({"messages": [{"role": "user", "content": words}]}))
    menu(bare).get_by_role("button", name="Copy link").click()

    expect(bare.page.locator(".pd-share-status")).to_contain_text("too long for a link")
    expect(bare.page.locator(".pd-share-status")).to_contain_text("JSON bundle")
    assert bare.page.locator(".pd-share-link").count() == 0


def test_a_broken_link_is_one_clear_message_and_keeps_the_page(bare: DebuggerPage) -> None:
    bare.page.goto("about:blank")
    bare.page.goto(f"{bare.url}/#pd=1.AAAA")

    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("BAD LINK")
    assert '"messages"' in bare.request_text()


def test_a_hostile_link_does_nothing(bare: DebuggerPage) -> None:
    text = "".join(HOSTILE)
    state = {"request": text, "tool_parser": text, "model": text[:190], "tokenizer": text}
    fragment = bare.page.evaluate("state => PromptDebugger.makeFragment(state)", state)

    bare.page.goto("about:blank")
    bare.page.goto(f"{bare.url}/{fragment}")
    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")

    assert bare.page.evaluate("globalThis.__ran") is None
    assert "<script>" in bare.request_text()
    assert bare.state() == "idle"


def test_a_playground_link_says_what_was_taken(bare: DebuggerPage) -> None:
    bare.page.goto(f"{bare.url}/?modelId=Qwen%2FQwen3-8B&template=tool_use&example=tool-usage")

    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")
    detail = bare.page.inner_text(".pd-verdict .pd-detail")
    assert "tokenizer Qwen/Qwen3-8B" in detail
    assert "Left out: template" in detail
    assert "get_weather" in bare.request_text()


# --- files ------------------------------------------------------------------------


def test_before_a_run_the_menu_says_so(unrun: DebuggerPage) -> None:
    menu(unrun).get_by_role("button", name="JSON bundle").click()

    expect(unrun.page.locator(".pd-share-status")).to_contain_text("Nothing has been run yet")


def test_every_form_is_saved_by_the_browser(opened: DebuggerPage, tmp_path: Path) -> None:
    html = download(opened, "HTML report", tmp_path)
    picture = download(opened, "Picture", tmp_path)
    markdown = download(opened, "Markdown", tmp_path)
    bundle = download(opened, "JSON bundle", tmp_path)

    assert html.read_text() == trace_to_html(dropped_call_trace())
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert markdown.read_text().startswith(f"**{SENTENCE}**")
    assert opened.page.evaluate("navigator.clipboard.readText()") == markdown.read_text()
    assert read_bundle(bundle.read_text()).trace == dropped_call_trace()


def test_what_is_saved_and_opened_again_is_the_same_run(opened: DebuggerPage, tmp_path: Path) -> None:
    saved = download(opened, "JSON bundle", tmp_path)
    opened.load()
    open_bundle(opened, saved)

    assert opened.sentence() == SENTENCE
    assert opened.lost_text() == ["get_weather", '{"city":·"Paris"}']


# --- bundles ----------------------------------------------------------------------


def test_a_bundle_shows_the_whole_run_marked_as_reopened(opened: DebuggerPage) -> None:
    assert opened.sentence() == SENTENCE
    assert "nothing was run" in opened.page.inner_text(".pd-verdict .pd-detail")
    assert "reopened" in opened.page.inner_text("#pd-header")
    assert opened.request_text() == dropped_call_trace().request.text
    expect(opened.page.locator("#pd-notices .pd-counts")).to_have_text("2 messages, 1 tool")
    opened.open_stage("render")
    assert opened.tokens()[0] == "<|im_system|>"
    opened.open_stage("findings")
    assert opened.finding_codes() == ["PD401 dropped-call", "PD502 finish-reason-contradiction"]


def test_a_pasted_bundle_opens_too(bare: DebuggerPage, bundle: Path) -> None:
    menu(bare).get_by_label("Bundle or link").fill(bundle.read_text())
    bare.page.get_by_role("button", name="Open", exact=True).click()
    bare.page.wait_for_selector(".pd-verdict[data-state=done]")

    assert bare.sentence() == SENTENCE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Nothing was pasted"),
        ("{]", "not valid JSON"),
        (REQUEST, "this is a request"),
        ('{"bundle": {"version": 7}}', "this program reads 2"),
    ],
)
def test_what_is_no_bundle_is_one_message_and_changes_nothing(bare: DebuggerPage, text: str, words: str) -> None:
    before = bare.request_text()
    menu(bare).get_by_label("Bundle or link").fill(text)
    bare.page.get_by_role("button", name="Open", exact=True).click()

    expect(bare.page.locator(".pd-share-status")).to_contain_text(words, ignore_case=True)
    assert (bare.state(), bare.request_text()) == ("recorded", before)


def test_a_hostile_bundle_does_nothing(bare: DebuggerPage, tmp_path: Path) -> None:
    trace = dropped_call_trace()
    assert trace.server is not None
    assert trace.verdict is not None
    text = "".join(HOSTILE)
    finding = replace(trace.findings[0], title=text, detail=text, name=text, fix=text, links=(text,))
    path = tmp_path / "evil.json"
    path.write_text(
        write_bundle(
            replace(
                trace,
                request=replace(trace.request, text=text, body={text: text}),
                server=replace(trace.server, model=text, version=text),
                findings=(finding,),
                verdict=replace(trace.verdict, sentence=text),
                notes=(text,),
            ),
            text,
        )
    )
    open_bundle(bare, path)
    for stage in ("render", "complete", "parse", "findings"):
        bare.open_stage(stage)

    assert bare.page.evaluate("globalThis.__ran") is None


# --- the menu ---------------------------------------------------------------------


def test_the_menu_works_by_keyboard(bare: DebuggerPage) -> None:
    bare.page.get_by_role("button", name="Share ▾").focus()
    bare.page.keyboard.press("Enter")
    expect(bare.page.get_by_role("button", name="Copy link")).to_be_focused()
    bare.page.keyboard.press("Tab")
    expect(bare.page.get_by_role("button", name="HTML report")).to_be_focused()

    bare.page.keyboard.press("Escape")

    expect(bare.page.get_by_role("button", name="Share ▾")).to_be_focused()
    assert not bare.page.get_by_role("group", name="Share or open a run").is_visible()


@pytest.mark.parametrize("window_width", [1440, 400])
def test_the_open_menu_breaks_no_accessibility_rule_and_fits(bare: DebuggerPage, window_width: int) -> None:
    link_of(bare)

    box = menu(bare).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window_width
    assert bare.page.evaluate("document.documentElement.scrollWidth") <= window_width
    assert violations_in_both_themes(bare.page, "body", GRADIO_RULES) == []


def test_a_link_to_a_token_opens_the_run_there_by_one_press(opened: DebuggerPage) -> None:
    page = opened.page
    page.locator("#pd-tab-render").click()
    chip = page.locator("#pd-prompt-tokens .pd-chip", has_text="Paris")
    chip.click()
    page.get_by_role("button", name="Copy link to this token").click()
    field = page.get_by_label("Link", exact=True)
    expect(field).to_be_visible()
    link = field.input_value()
    assert page.evaluate("navigator.clipboard.readText()") == link

    page.goto("about:blank")
    page.goto(link)

    expect(page.locator(".pd-badge").first).to_have_text("FROM A LINK")
    expect(page.locator(".pd-sentence")).not_to_have_text(SENTENCE)  # nothing is opened before somebody says so
    page.get_by_role("button", name="Show the run it holds").click()
    expect(page.locator(".pd-sentence")).to_have_text(SENTENCE)
    shown = page.locator("#pd-prompt-tokens .pd-chip.pd-shown")
    expect(shown).to_have_text("Paris", use_inner_text=False)
    expect(shown).to_be_visible()


def test_a_link_to_a_finding_is_on_its_card(opened: DebuggerPage) -> None:
    page = opened.page
    page.locator("#pd-tab-findings").click()
    page.locator(".pd-finding").first.get_by_role("button", name="Link to this finding").click()
    link = page.get_by_label("Link", exact=True).input_value()

    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("button", name="Show the run it holds").click()

    expect(page.locator(".pd-finding.pd-shown")).to_be_focused()


def test_a_title_is_in_the_report_and_in_the_history(opened: DebuggerPage, tmp_path: Path) -> None:
    menu(opened).get_by_label("Title of the report").fill("Paris vanishes")

    report = download(opened, "HTML report", tmp_path)

    assert "<title>Paris vanishes · Prompt Debugger</title>" in report.read_text()
