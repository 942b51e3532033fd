"""Sharing in a browser: files without a server, links that run nothing, bundles that open again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.report import read_bundle, write_bundle
from prompt_debugger.ui.report import share_trace
from tests.browser.axe import violations_in_both_themes
from tests.browser.conftest import Keep
from tests.browser.page import DebuggerPage
from tests.browser.test_page import GRADIO_RULES, REQUEST
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import dropped_call_trace

pytestmark = pytest.mark.browser

SENTENCE = "The model wrote 1 tool call, the server returned none. Guilty stage: parse."


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "run.json"
    path.write_text(write_bundle(dropped_call_trace(), "0.1.0"))
    return path


@pytest.fixture
def opened(keep: Keep, bare_url: str, bundle: Path) -> DebuggerPage:
    return keep(bare_url, open_bundle, bundle)


@pytest.fixture
def unopened(watched: Any, bare_url: str) -> DebuggerPage:
    """The program's page before anyone is there, for a visit that begins with a link."""
    return DebuggerPage(watched, bare_url)


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


def follow(page: DebuggerPage, url: str) -> None:
    """Come by a link, as from another page."""
    page.page.goto("about:blank")
    page.page.goto(url)
    expect(page.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")


# --- the menu ---------------------------------------------------------------------


def test_the_menu_works_by_keyboard(loaded: DebuggerPage) -> None:
    loaded.page.get_by_role("button", name="Share ▾").focus()
    loaded.page.keyboard.press("Enter")
    expect(loaded.page.get_by_role("button", name="Copy link")).to_be_focused()
    loaded.page.keyboard.press("Tab")
    expect(loaded.page.get_by_role("button", name="HTML report")).to_be_focused()

    loaded.page.keyboard.press("Escape")

    expect(loaded.page.get_by_role("button", name="Share ▾")).to_be_focused()
    assert not loaded.page.get_by_role("group", name="Share or open a run").is_visible()


def test_the_open_menu_breaks_no_accessibility_rule_and_fits(loaded: DebuggerPage) -> None:
    link_of(loaded)

    for width in (1440, 400):
        loaded.page.set_viewport_size({"width": width, "height": 850})
        loaded.settle_layout()
        expect(loaded.page.get_by_label("Link", exact=True)).to_be_visible()
        box = menu(loaded).bounding_box()
        assert box["x"] >= 0, width
        assert box["x"] + box["width"] <= width
        assert loaded.page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations_in_both_themes(loaded.page, "body", GRADIO_RULES) == [], width


# --- links ------------------------------------------------------------------------


def test_a_link_pasted_or_visited_brings_the_request_sends_nothing_and_has_neither_key_nor_address(
    loaded: DebuggerPage,
) -> None:
    loaded.paste(f"curl http://10.1.2.3/v1/chat/completions -H 'Authorization: Bearer planted-secret-1' -d '{REQUEST}'")
    url_of_command = link_of(loaded)
    request = json.dumps({"messages": [{"role": "user", "content": "中文 \u202e 👩‍🚀 <b>"}]}, ensure_ascii=False)
    loaded.paste(request)
    url = link_of(loaded)
    sent: list[str] = []
    loaded.page.on("request", lambda request: sent.append(request.url + " " + (request.post_data or "")))

    menu(loaded).get_by_label("Bundle or link").fill(f"  {url_of_command}\n")
    loaded.page.get_by_role("button", name="Open", exact=True).click()
    expect(loaded.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")
    assert json.loads(loaded.request_text()) == json.loads(REQUEST)
    loaded.page.goto("about:blank")
    assert [text for text in sent if "#pd" in text] == []
    sent.clear()  # the text that was pasted before may have been read meanwhile

    follow(loaded, url)
    assert loaded.request_text() == request
    assert "Nothing was run or sent" in loaded.sentence()
    assert loaded.state() == "idle"
    assert loaded.lost_text() == [], "the recorded run that was shown belongs to another request"
    assert [text for text in sent if "#pd" in text or "中文" in text or "\\u4e2d" in text] == []
    assert [text for text in sent if "queue/join" in text and "messages" in text] == []


def test_a_link_of_a_pasted_output_brings_the_text_and_promises_no_server(loaded: DebuggerPage) -> None:
    output = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    loaded.paste(output)
    url = link_of(loaded)

    follow(loaded, url)

    assert loaded.request_text() == output
    assert "This text came from a link." in loaded.sentence()
    expect(loaded.page.locator("#pd-run")).to_have_text("Run")


def test_a_broken_link_is_one_clear_message_and_keeps_the_page(unopened: DebuggerPage) -> None:
    unopened.page.goto(f"{unopened.url}/#pd=1.AAAA")

    expect(unopened.page.locator("#pd-verdict .pd-badge")).to_have_text("BAD LINK")
    assert '"messages"' in unopened.request_text()


def test_a_playground_link_says_what_was_taken(unopened: DebuggerPage) -> None:
    unopened.page.goto(f"{unopened.url}/?modelId=Qwen%2FQwen3-8B&template=tool_use&example=tool-usage")

    expect(unopened.page.locator("#pd-verdict .pd-badge")).to_have_text("FROM A LINK")
    detail = unopened.page.inner_text(".pd-verdict .pd-detail")
    assert "tokenizer Qwen/Qwen3-8B" in detail
    assert "Left out: template" in detail
    assert "get_weather" in unopened.request_text()


# --- bundles ----------------------------------------------------------------------


def test_a_pasted_bundle_opens_and_what_is_none_is_one_message_and_changes_nothing(
    loaded: DebuggerPage, bundle: Path
) -> None:
    before = loaded.request_text()
    field = menu(loaded).get_by_label("Bundle or link")
    for text, words in (
        ("", "Nothing was pasted"),
        ("{]", "not valid JSON"),
        (REQUEST, "This is a request"),
        ('{"bundle": {"version": 7}}', "this program reads 2"),
    ):
        field.fill(text)
        loaded.page.get_by_role("button", name="Open", exact=True).click()
        expect(loaded.page.locator(".pd-share-status")).to_contain_text(words, ignore_case=True)
        assert (loaded.state(), loaded.request_text()) == ("recorded", before), words

    field.fill(bundle.read_text())
    loaded.page.get_by_role("button", name="Open", exact=True).click()
    loaded.page.wait_for_selector(".pd-verdict[data-state=done]")
    assert loaded.sentence() == SENTENCE


def test_a_hostile_link_and_a_hostile_bundle_do_nothing(loaded: DebuggerPage, tmp_path: Path) -> None:
    text = "".join(HOSTILE)
    state = {"request": text, "tool_parser": text, "model": text[:190], "tokenizer": text}
    follow(loaded, f"{loaded.url}/" + loaded.page.evaluate("state => PromptDebugger.makeFragment(state)", state))

    assert loaded.page.evaluate("globalThis.__ran") is None
    assert "<script>" in loaded.request_text()
    assert loaded.state() == "idle"

    path = tmp_path / "evil.json"
    path.write_text(hostile_bundle(text))
    open_bundle(loaded, path)
    for stage in ("render", "complete", "parse", "findings"):
        loaded.open_stage(stage)

    assert loaded.page.evaluate("globalThis.__ran") is None


def hostile_bundle(text: str) -> str:
    trace = dropped_call_trace()
    assert trace.server is not None
    assert trace.verdict is not None
    finding = replace(trace.findings[0], title=text, detail=text, name=text, fix=text, links=(text,))
    return write_bundle(
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


# --- files ------------------------------------------------------------------------


def test_every_form_is_saved_titled_or_not_and_the_bundle_opens_again_as_the_same_run(
    opened: DebuggerPage, tmp_path: Path
) -> None:
    html = download(opened, "HTML report", tmp_path)
    assert html.read_text() == share_trace(dropped_call_trace()).html
    picture = download(opened, "Picture", tmp_path)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    kib = -(-picture.stat().st_size // 1024)
    expect(opened.page.locator(".pd-share-status")).to_contain_text(f"Saved {picture.name}, {kib} KB.")
    markdown = download(opened, "Markdown", tmp_path)
    assert markdown.read_text().startswith(f"**{SENTENCE}**")
    assert opened.page.evaluate("navigator.clipboard.readText()") == markdown.read_text()
    bundle = download(opened, "JSON bundle", tmp_path)
    assert read_bundle(bundle.read_text()).trace == dropped_call_trace()

    menu(opened).get_by_label("Title of the report").fill("Paris vanishes")
    titled = download(opened, "HTML report", tmp_path)
    assert "<title>Paris vanishes · Prompt Debugger</title>" in titled.read_text()

    opened.load()
    open_bundle(opened, bundle)
    assert opened.sentence() == SENTENCE
    assert opened.lost_text() == ["get_weather", '{"city":·"Paris"}']


def test_a_link_to_a_token_or_a_finding_opens_the_run_there_by_one_press(opened: DebuggerPage) -> None:
    page = opened.page
    page.locator("#pd-tab-render").click()
    chip = page.locator("#pd-prompt-tokens .pd-chip", has_text="Paris")
    chip.click()
    page.get_by_role("button", name="Copy link to this token").click()
    field = page.get_by_label("Link", exact=True)
    expect(field).to_be_visible()
    to_token = field.input_value()
    assert page.evaluate("navigator.clipboard.readText()") == to_token
    page.locator("#pd-tab-findings").click()
    page.locator(".pd-finding").first.get_by_role("button", name="Link to this finding").click()
    to_finding = field.input_value()

    follow(opened, to_token)
    expect(page.locator(".pd-sentence")).not_to_have_text(SENTENCE)  # nothing is opened before someone says so
    page.get_by_role("button", name="Show the run in it").click()
    expect(page.locator(".pd-sentence")).to_have_text(SENTENCE)
    shown = page.locator("#pd-prompt-tokens .pd-chip.pd-shown")
    expect(shown).to_have_text("Paris", use_inner_text=False)
    expect(shown).to_be_visible()

    follow(opened, to_finding)
    page.get_by_role("button", name="Show the run in it").click()
    expect(page.locator(".pd-finding.pd-shown")).to_be_focused()


@pytest.mark.parametrize(
    ("form", "ending"),
    [("HTML report", "html"), ("Picture", "png"), ("Markdown for an issue", "md"), ("JSON bundle", "json")],
)
def test_every_file_of_a_run_says_what_is_in_it_and_opens_again(
    bare: DebuggerPage, tmp_path: Path, form: str, ending: str
) -> None:
    path = download(bare, form, tmp_path)
    assert path.name.startswith("dropped-call_kimi_k2_vllm-")
    assert path.suffix == f".{ending}"
    sentence = bare.sentence()
    bare.load()
    bare.choose("A healthy tool call")

    menu(bare).locator("input[type=file]").set_input_files(path)

    bare.page.wait_for_selector(".pd-verdict[data-state=done]")
    assert bare.sentence() == sentence
    assert "reopened" in bare.page.inner_text("#pd-header")


@pytest.mark.parametrize("form", ["HTML report", "Picture", "Markdown for an issue"])
def test_a_file_of_a_run_dropped_on_the_page_opens(bare: DebuggerPage, tmp_path: Path, form: str) -> None:
    path = download(bare, form, tmp_path)
    sentence = bare.sentence()
    bare.choose("A healthy tool call")

    bare.page.locator("#pd-file").set_input_files(path)  # goes the same way as a drop

    bare.page.wait_for_selector(".pd-verdict[data-state=done]")
    assert bare.sentence() == sentence


def test_the_markdown_of_a_run_pasted_into_the_editor_opens_it(bare: DebuggerPage, tmp_path: Path) -> None:
    text = download(bare, "Markdown for an issue", tmp_path).read_text()
    sentence = bare.sentence()
    bare.choose("A healthy tool call")

    bare.paste(text)

    bare.page.wait_for_selector(".pd-verdict[data-state=done]")
    assert bare.sentence() == sentence


def test_a_report_that_was_tampered_with_runs_nothing(bare: DebuggerPage, tmp_path: Path) -> None:
    path = tmp_path / "evil.html"
    evil = "<script>globalThis.__ran = 1</script><img src=x onerror='globalThis.__ran = 2'>"
    path.write_text(f'{evil}<script type="application/json" id="pd-bundle">"H4sIAAAA"</script>{evil}')

    bare.page.locator("#pd-file").set_input_files(path)

    expect(bare.page.locator(".pd-share-status")).to_contain_text("did not arrive completely")
    assert bare.page.evaluate("globalThis.__ran") is None


def test_a_picture_without_a_run_is_said_to_have_none(bare: DebuggerPage, tmp_path: Path) -> None:
    path = tmp_path / "shot.png"
    bare.page.screenshot(path=path)

    bare.page.locator("#pd-file").set_input_files(path)

    expect(bare.page.locator("#pd-left")).to_contain_text("That picture contains no run")


def test_what_cannot_be_shared_is_reported_in_the_menu(unrun: DebuggerPage) -> None:
    """Nothing before a run, and no link of a request that is too long for one."""
    status = unrun.page.locator(".pd-share-status")
    expect(menu(unrun).get_by_role("button", name="JSON bundle")).to_be_disabled()
    expect(unrun.page.locator(".pd-share-which")).to_contain_text("Nothing has run yet")

    words = " ".join(str(number * 7_919) for number in range(40_000))
    unrun.paste(json.dumps({"messages": [{"role": "user", "content": words}]}))
    menu(unrun).get_by_role("button", name="Copy link").click()
    expect(status).to_contain_text("too long for a link")
    expect(status).to_contain_text("JSON bundle")
    assert unrun.page.locator(".pd-share-link").count() == 0


def test_before_a_run_files_cannot_be_made_and_the_menu_says_why(unrun: DebuggerPage) -> None:
    share = menu(unrun)

    expect(share.locator(".pd-share-which")).to_contain_text("Press Run first")
    for name in ("HTML report", "Picture", "Markdown for an issue", "JSON bundle", "Link to this run"):
        expect(share.get_by_role("button", name=name)).to_be_disabled()
    expect(share.get_by_role("button", name="Copy link")).to_be_enabled()
