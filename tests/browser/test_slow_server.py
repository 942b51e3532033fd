"""A server that is slow, that streams slowly, that is not there: what the page says meanwhile, and what goes on."""

from __future__ import annotations

import json
import re
import threading

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSONObject
from tests.browser.page import DebuggerPage
from tests.browser.servers import held, serving
from tests.core.complete.faulty_server import answer, chunk, drip, hang, stream

pytestmark = pytest.mark.browser

TOOL: JSONObject = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
REQUEST = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Weather?"}], "tools": [TOOL]})
RAW = 'I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
MESSAGE: JSONObject = {"role": "assistant", "content": RAW}
WHOLE = answer(200, {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]})
STREAMED = stream(
    *(chunk(delta={"content": RAW[at : at + 4]}) for at in range(0, len(RAW), 4)),
    chunk(delta={}, finish_reason="stop"),
    b"data: [DONE]\n\n",
)
LISTED = answer(200, {"object": "list", "data": [{"id": "m"}]})
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
# As browsers add them up: what moves within half a second of an input is what the input asked for.
WATCH_SHIFTS = """() => { globalThis.__shifts = []; new PerformanceObserver(list => list.getEntries()
  .filter(entry => !entry.hadRecentInput).forEach(entry => globalThis.__shifts.push([entry.value,
    entry.sources.map(source => source.node && (source.node.id || source.node.className) || "")])))
  .observe({type: "layout-shift", buffered: false}); }"""


def aim(page: DebuggerPage, url: str) -> None:
    page.paste(REQUEST)
    page.aim_at(url)
    page.page.locator("#pd-target button").first.click()
    expect(page.page.locator("#pd-run")).to_contain_text(url.split("/")[2])


@pytest.mark.parametrize("window_width", [1440, 400])
def test_what_a_slow_server_does_is_said_while_one_types_on_and_nothing_moves(bare: DebuggerPage) -> None:
    page = bare.page
    verdict = page.locator("#pd-verdict")
    lists, answers = threading.Event(), threading.Event()
    with serving(
        {
            "/v1/models": held(LISTED, lists),
            "/v1/chat/completions": held(WHOLE, answers),
            "/v1/chat/completions#stream": held(STREAMED, answers),
            "*": answer(404),
        }
    ) as url:
        aim(bare, url)
        page.click("#pd-run")
        expect(verdict).to_contain_text(f"Identifying the server at {url} · GET /v1/models")
        page.evaluate(WATCH_SHIFTS)
        expect(page.locator("#pd-stop")).to_be_enabled()
        lists.set()
        expect(verdict).to_contain_text("Asking the model · POST /v1/chat/completions")
        sentence = page.locator(".pd-sentence").element_handle()
        expect(verdict.locator(".pd-detail")).to_have_text(re.compile(r"^(?:[2-9]|\d\d+) s\b"))  # it counts
        shown, counted = verdict.evaluate("all => [all.innerText, all.querySelector('.pd-detail').innerText]")
        assert re.findall(r"\d+ s\b", shown) == re.findall(r"\d+ s\b", counted)
        assert sentence.is_visible()  # and no one hears the sentence anew at each second
        if page.locator("#pd-request").is_visible():
            bare.paste(REQUEST.replace("Weather?", "TYPED MEANWHILE"))
        answers.set()
        bare.wait_for_end()

    assert "A tool call to get_weather is in content" in bare.sentence()
    shifts = page.evaluate("globalThis.__shifts")
    assert sum(value for value, _ in shifts) <= 0.05, shifts
    if page.locator("#pd-request").is_visible():
        assert "TYPED MEANWHILE" in bare.request_text()
        expect(page.locator(".pd-outdated")).to_contain_text("Press Run to update it.")


def test_a_slow_stream_is_shown_as_it_comes_and_stop_keeps_what_came(bare: DebuggerPage) -> None:
    page = bare.page
    with serving(
        {
            "/v1/models": LISTED,
            "/v1/chat/completions": WHOLE,
            "/v1/chat/completions#stream": drip(STREAM_HEAD, chunk(delta={"content": "word\n"}), 0.05),
            "*": answer(404),
        }
    ) as url:
        aim(bare, url)
        page.click("#pd-run")
        bare.open_stage("complete")
        expect(page.locator(".pd-pane-stream")).to_contain_text("word")
        page.locator("#pd-request .cm-content").press("ControlOrMeta+End")
        page.keyboard.type(" ")
        expect(page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
        page.click("#pd-stop")
        expect(page.locator(".pd-verdict")).to_have_attribute("data-state", "stopped")

    expect(page.locator(".pd-pane-stream")).to_contain_text("word")
    expect(page.locator("#pd-run")).to_be_enabled()
    assert bare.request_text() == REQUEST + " "


def test_a_server_that_hangs_in_its_answer_is_stopped_and_the_next_run_goes_through(bare: DebuggerPage) -> None:
    page = bare.page
    hanging = hang(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")
    with serving({"/v1/models": LISTED, "/v1/chat/completions": hanging, "*": answer(404)}) as url:
        aim(bare, url)
        page.click("#pd-run")
        expect(page.locator("#pd-verdict")).to_contain_text("POST /v1/chat/completions")
        page.click("#pd-stop")
        expect(page.locator(".pd-verdict")).to_have_attribute("data-state", "stopped")
    bare.paste(RAW)
    bare.run()

    assert bare.state() == "done"


def test_a_server_that_is_not_there_is_said_at_once_with_a_button_that_opens_its_field(bare: DebuggerPage) -> None:
    aim(bare, "http://127.0.0.1:9/v1")
    bare.run()

    assert bare.state() == "error"
    assert "127.0.0.1:9" in bare.page.locator("#pd-verdict").inner_text()
    bare.page.locator("#pd-verdict .pd-actions button").first.click()
    expect(bare.page.get_by_label("Endpoint", exact=True)).to_be_focused()


@pytest.mark.parametrize("panel", ["complete", "parse", "findings"])
def test_no_one_is_left_in_front_of_an_empty_panel(bare: DebuggerPage, panel: str) -> None:
    page = bare.page
    bare.open_stage(panel)
    aim(bare, "http://127.0.0.1:9/v1")
    bare.open_stage(panel)
    bare.run()

    assert bare.state() == "error"
    assert bare.opened_stage() == "render"
    bare.open_stage(panel)  # who looks there reads why it is empty
    shown = page.locator(f"#pd-panel-{panel} .pd-empty:visible").first
    assert re.search(r"^(No|There is no)", shown.inner_text())
    expect(page.locator(f"#pd-panel-{panel} .pd-run-here:visible")).to_have_count(0)

    bare.paste(REQUEST[:-1])  # a text that cannot be read
    bare.open_stage(panel)
    bare.run()
    assert (bare.badge(), bare.opened_stage()) == ("REQUEST", "render")


def test_a_tool_that_is_open_stays_open_beside_a_dead_server(bare: DebuggerPage) -> None:
    aim(bare, "http://127.0.0.1:9/v1")
    bare.page.click("#pd-tab-check")
    bare.run()

    expect(bare.page.locator("#pd-panel-check")).to_be_visible()
