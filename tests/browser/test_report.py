"""The exported report, opened from a file as a stranger would: quiet, whole, harmless."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import Completion, LedgerEntry, Notice, Refusal, Request, Span, Trace
from prompt_debugger.ui.report import trace_to_html
from prompt_debugger.ui.scripts import one_script
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import PROMPT_TEXT, dropped_call_trace, prompt_of, tokens_of
from tests.ui.report.test_mask import KEYS, planted

pytestmark = pytest.mark.browser

# The parts that draw the picture, once more: a report has no global that a test could call.
PICTURE = f"Object.assign({{}}, ...Object.values({one_script('views/picture.js')}))"


@pytest.fixture
def opened(page, tmp_path):
    """Return a function that opens the report of a trace; any error, or request for more than the file, fails."""
    faults = []
    path = tmp_path / "report.html"
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    page.on(
        "request", lambda request: faults.append(request.url) if request.url.split("#")[0] != path.as_uri() else None
    )

    def open_report(trace, *, scheme="light", width=1200, at="", place=""):
        path.write_text(trace_to_html(trace, place), encoding="utf-8")
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(path.as_uri() + at)
        page.wait_for_selector("html[data-ready=true]")
        return DebuggerPage(page)

    yield open_report
    assert [fault for fault in faults if not fault.startswith("blob:")] == []


def test_a_newcomer_reads_what_was_sent_written_returned_and_lost(opened):
    report = opened(dropped_call_trace())

    assert report.sentence() == "The model wrote 1 tool call, the server returned none. Guilty stage: parse."
    assert "What's the weather in Paris?" in report.page.inner_text("#pd-request")
    assert report.lost_text() == ["get_weather", '{"city":·"Paris"}']
    assert '"tool_calls": []' in report.message_text()
    assert "Missing here: 1 tool call that the model wrote." in report.message_text()
    assert "".join(report.tokens()) == PROMPT_TEXT.replace("?\n", "?")
    assert report.finding_codes() == ["PD401 dropped-call", "PD502 finish-reason-contradiction"]
    assert "curl http://127.0.0.1:8123/v1/chat/completions" in report.page.inner_text("#pd-again")
    assert report.page.evaluate("scrollY") == 0


def test_evidence_scrolls_to_its_place(opened):
    report = opened(dropped_call_trace())

    report.jump("prompt, tokens 14–15")
    report.page.wait_for_selector("#pd-prompt-tokens .pd-shown")
    assert "token 14" in report.inspector()
    assert report.page.locator("#pd-prompt-tokens .pd-shown").first.evaluate(
        "e => e.getBoundingClientRect().top < innerHeight"
    )

    report.jump("request messages[1].content")
    report.page.wait_for_selector("#pd-request .pd-lit")
    assert report.page.locator("#pd-request .pd-lit").all_inner_texts()[-1].startswith("\"What's the weather in Paris?")
    assert report.page.locator("#pd-request .pd-lit").last.evaluate("e => e.getBoundingClientRect().bottom > 0")


def test_a_field_of_the_request_lights_its_tokens(opened):
    report = opened(dropped_call_trace())

    report.page.locator("#pd-request [data-path='messages[1].content'].pd-json-string").hover()

    assert report.page.locator("#pd-prompt-tokens .pd-lit").count() > 0


def test_a_missing_field_is_shown_by_what_should_hold_it(opened):
    trace = dropped_call_trace()
    evidence = replace(trace.findings[0].evidence[1], field="messages[0].tool_call_id")
    finding = replace(trace.findings[0], evidence=(evidence,))

    report = opened(replace(trace, findings=(finding,)))
    report.jump("request messages[0].tool_call_id")
    report.page.wait_for_selector("#pd-request .pd-lit")

    assert '"You are a helpful assistant"' in report.page.locator("#pd-request .pd-lit").all_inner_texts()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_text_everywhere(opened, text):
    trace = dropped_call_trace()
    finding = replace(trace.findings[0], title=text, detail=text, fix=text, name=text, links=(text,))
    body = {"model": text, text: text, "messages": [{"role": text, "content": text}]}
    ledger = replace(
        trace.parse.ledger, entries=(LedgerEntry(Span(0, len(text)), trace.parse.ledger.entries[1].fate, text),)
    )
    report = opened(
        replace(
            trace,
            request=Request(body, text, notices=(Notice(text, text),)),
            sent={**body, "seed" + text: text},
            server=replace(trace.server, base_url=text, version=text, model=text, model_root=text, tool_parser=text),
            prompt=replace(prompt_of(text), template=text, note=text, effective_kwargs={text: text}),
            local_prompt=None,
            prompt_difference=replace(trace.prompt_difference, server=text, local=text + "x", cause=text),
            notes=(text,),
            refusal=Refusal(400, text, text),
            raw=Completion(text, None, text, tokens=tokens_of(text)),
            chat=replace(trace.chat, message={"content": text, text: {text: [text]}}, error=text, finish_reason=text),
            parse=replace(trace.parse, raw=text, ledger=ledger),
            findings=(finding,),
            verdict=replace(trace.verdict, sentence=text),
        )
    )
    with report.page.expect_download():
        report.page.get_by_role("button", name="Save picture").click()

    assert report.page.evaluate("globalThis.__ran") is None
    assert report.page.locator("main img, main svg, main script, main style").count() == 0
    assert report.page.locator("a[href^='javascript']").count() == 0
    shown = report.page.inner_text("main")
    assert [line for line in shown.splitlines() if set(line) & set("\u202e\u202c\u2066\u2069\u200b")] == []


def test_no_planted_secret_is_drawn_or_copied(opened):
    report = opened(planted(KEYS[0]))
    report.page.get_by_role("button", name="Copy Markdown").click()

    drawn = report.page.evaluate("document.documentElement.outerHTML + document.documentElement.innerText")
    copied = report.page.evaluate("navigator.clipboard.readText()")

    assert "•••••••" in copied
    assert [part for part in (KEYS[0][3:15], KEYS[0][-12:]) if part in drawn or part in copied] == []


def test_a_very_long_prompt_stays_small(opened, page):
    trace = dropped_call_trace()
    text = "def f(x): return x + 1\n" * 19_000
    tokens = tokens_of(text)
    messages = [{"role": "user", "content": f"{number}: {text[:40]}"} for number in range(3_000)]
    body = {**trace.request.body, "messages": messages, "user": text}
    evidence = replace(trace.findings[0].evidence[1], field="messages[2500].content")
    page.add_init_script(
        """globalThis.__made = 0; const make = Document.prototype.createElement;
        Document.prototype.createElement = function (...tag) { globalThis.__made++; return make.apply(this, tag); };"""
    )
    report = opened(
        replace(
            trace,
            request=replace(trace.request, body=body, text=json.dumps(body)),
            sent=body,
            prompt=replace(trace.prompt, tokens=tokens),
            findings=(replace(trace.findings[0], evidence=(evidence,)),),
        )
    )
    count = "document.querySelectorAll('*').length"
    at_first, made = report.page.evaluate(count), report.page.evaluate("globalThis.__made")
    report.page.focus("#pd-prompt-tokens [role=listbox]")
    report.page.keyboard.press("End")
    last = report.inspector()
    report.jump("request messages[2500].content")
    report.page.wait_for_selector("#pd-request .pd-lit")

    assert len(tokens) > 200_000
    assert f"token {len(tokens) - 1}" in last
    assert report.page.locator("#pd-request .pd-lit").last.inner_text().startswith('"2500: def')
    assert max(at_first, report.page.evaluate(count)) < 1_500
    assert 100 < made < 20_000  # never drawn whole, not even for a moment


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_no_accessibility_rule_is_broken_and_nothing_sticks_out(opened, scheme, width):
    report = opened(dropped_call_trace(), scheme=scheme, width=width)

    assert report.page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    assert report.page.evaluate("document.documentElement.scrollWidth") == width
    assert violations(report.page, "body") == []


def test_a_run_that_ended_early_is_accessible_too(opened):
    trace = Trace(request=Request(body={"messages": []}, text="{}"), refusal=Refusal(422, "no"))

    report = opened(trace)

    assert "The server refused the request" in report.page.inner_text("#pd-part-parse")
    assert violations(report.page, "body") == []


def test_the_picture_is_a_png_of_the_verdict(opened, tmp_path):
    report = opened(dropped_call_trace())
    with report.page.expect_download() as download:
        report.page.get_by_role("button", name="Save picture").click()
    path = tmp_path / "picture.png"
    download.value.save_as(path)

    data = path.read_bytes()
    assert download.value.suggested_filename == "dropped-call_kimi_k2_vllm-0.32.0.png"
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") == 2_400
    assert 600 < int.from_bytes(data[20:24], "big") < 2_400
    drawn = report.page.evaluate(
        f"async () => {{ const pd = {PICTURE};"
        """const words = [], fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
            words.push(text); fill.call(this, text, ...at); };
          const { payloads } = JSON.parse(document.getElementById("pd-data").textContent), parts = {};
          for (const name of ["header", "verdict", "ledger", "findings"])
            parts[name] = (await pd.decodePayload(payloads[name])).header;
          pd.drawPicture(parts);
          return words.join("\\n"); }"""
    )
    assert "The model wrote 1 tool call, the server returned none. Guilty stage: parse." in drawn
    assert "get_weather\n" in drawn
    assert "PD401 dropped-call" in drawn


def test_a_long_raw_output_is_pictured_around_what_was_lost(opened):
    trace = dropped_call_trace()
    raw = "one more line\n" * 5_000 + "LOST HERE" + "\nafter" * 5_000
    start = raw.index("LOST")
    kinds = [entry.fate for entry in trace.parse.ledger.entries]
    entries = (
        LedgerEntry(Span(0, start), kinds[0]),
        LedgerEntry(Span(start, start + 9), kinds[1]),
        LedgerEntry(Span(start + 9, len(raw)), kinds[0]),
    )
    ledger = replace(trace.parse.ledger, entries=entries)
    report = opened(replace(trace, parse=replace(trace.parse, raw=raw, ledger=ledger)))

    size = report.page.evaluate(
        f"async () => {{ const pd = {PICTURE};"
        """const { payloads } = JSON.parse(document.getElementById("pd-data").textContent);
          const words = [], fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
            words.push(text); fill.call(this, text, ...at); };
          const ledger = (await pd.decodePayload(payloads.ledger)).header;
          const canvas = pd.drawPicture({ ledger });
          return [canvas.height, words.includes("LOST·HERE"), words.some((word) => /rows above/.test(word))]; }"""
    )

    assert size[0] < 4_000
    assert size[1:] == [True, True]


def test_paper_is_white_whole_and_without_buttons(opened):
    trace = dropped_call_trace()
    tokens = tokens_of("one line of the prompt\n" * 90)
    report = opened(replace(trace, prompt=replace(trace.prompt, tokens=tokens)), scheme="dark")
    on_screen = len(report.tokens())

    report.page.emulate_media(media="print", color_scheme="dark")
    report.page.wait_for_selector("body:not(.dark)")

    assert len(report.tokens()) == len(tokens) > on_screen
    assert not report.page.get_by_role("button", name="Save picture").is_visible()
    assert not report.page.locator("#pd-inspector").is_visible()
    assert report.page.pdf(format="A4").startswith(b"%PDF")

    report.page.emulate_media(media="screen", color_scheme="dark")
    report.page.wait_for_selector("body.dark")
    assert len(report.tokens()) <= on_screen


def test_an_address_that_names_a_token_opens_there_and_the_token_gives_it(opened):
    at = next(i for i, token in enumerate(dropped_call_trace().prompt.tokens) if "Paris" in token.text)
    report = opened(dropped_call_trace(), at=f"#at=prompt.t{at}")
    chip = report.page.locator("#pd-prompt-tokens .pd-chip.pd-active")

    expect(chip).to_contain_text("Paris")
    expect(chip).to_have_class(re.compile(r"\bpd-shown\b"))
    expect(chip).to_be_in_viewport()
    report.page.get_by_role("button", name="Copy link to this token").click()
    link = report.page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"report.html#at=prompt.t{at}")


def test_an_address_that_names_a_finding_opens_there_and_another_one_moves_on(opened):
    report = opened(dropped_call_trace(), at="#at=finding.PD401.1")
    card = report.page.locator(".pd-finding.pd-shown")

    expect(card).to_be_focused()
    expect(card).to_contain_text("PD401")
    report.page.evaluate("location.hash = '#at=raw.c0-10'")
    expect(report.page.locator("#pd-ledger [data-segment].pd-shown").first).to_be_in_viewport()


def test_an_address_that_names_nothing_opens_the_report_at_its_verdict(opened):
    report = opened(dropped_call_trace(), at="#at=%3Cimg%20src=x%3E")

    expect(report.page.locator(".pd-verdict")).to_be_in_viewport()
    expect(report.page.locator(".pd-finding.pd-shown")).to_have_count(0)


def test_a_report_carries_its_title_and_the_place_it_was_made_for(opened):
    report = opened(replace(dropped_call_trace(), title="Paris vanishes"), place="finding.PD401.1")

    expect(report.page.get_by_role("heading", name="Paris vanishes")).to_have_count(1)
    expect(report.page.locator(".pd-finding.pd-shown")).to_be_focused()
