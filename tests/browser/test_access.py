"""Every pane by the rules of accessibility, in both themes, wide and narrow; by keys alone; calm while streaming."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.parse.ledger import build_ledger
from tests.browser.axe import violations
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.browser.test_token_layers import branched, warm_trace
from tests.core.complete.faulty_server import answer, chunk, drip
from tests.ui.present.traces import RAW_TEXT

pytestmark = pytest.mark.browser

STAGES = ("render", "complete", "parse", "findings")
# Layout shifts as browsers measure them, also those that an input might excuse; from 0.1 on a page is called restless.
WATCH_SHIFTS = """() => { globalThis.__shifts = []; new PerformanceObserver(list => list.getEntries().forEach(entry =>
  globalThis.__shifts.push([entry.value, entry.sources.map(s => s.node && (s.node.id || s.node.className) || "")])
)).observe({type: "layout-shift", buffered: false}); }"""


def full_trace() -> Trace:
    """Return a run that fills every pane: heat, branches, variables, differences."""
    trace = warm_trace()
    assert trace.parse is not None
    assert trace.chat is not None
    call: JSONObject = {"function": {"name": "get_weather", "arguments": '{"city":"Rome"}'}}
    message: JSONObject = {"role": "assistant", "content": " ", "tool_calls": [call]}
    ledger = build_ledger(RAW_TEXT, trace.parse.parsed, message)
    return replace(
        trace,
        prompt=branched(),
        chat=replace(trace.chat, message=message),
        parse=replace(trace.parse, ledger=ledger),
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1440, 400])
def test_no_pane_breaks_a_rule(show, dark, width):
    page = show(full_trace(), dark=dark)
    page.page.set_viewport_size({"width": width, "height": 900})
    found = []
    for stage in STAGES:
        page.open_stage(stage)
        for option in page.page.locator("[data-option=heat][aria-disabled=false]:visible").all():
            option.click()
        for summary in page.page.locator(".pd-variables:visible summary").all():
            summary.click()
        found += violations(page.page, "main")

    assert found == []


@pytest.mark.parametrize("width", [1440, 400])
def test_no_pane_is_wider_than_the_window(show, width):
    page = show(full_trace())
    page.page.set_viewport_size({"width": width, "height": 900})
    for stage in STAGES:
        page.open_stage(stage)
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_that_can_be_used_is_reached_by_tab(show):
    page = show(full_trace())
    page.open_stage("render")
    page.page.click("#pd-template summary")
    usable = page.page.evaluate(
        """() => [...document.querySelectorAll("button, input, summary, [tabindex='0'], a[href]")]
             .filter(e => e.offsetParent && e.checkVisibility() && e.tabIndex >= 0).length"""
    )
    reached = set()
    page.page.evaluate("document.activeElement.blur()")
    for _ in range(usable + 5):
        page.page.keyboard.press("Tab")
        reached.add(
            page.page.evaluate(
                """() => { const e = document.activeElement; if (e === document.body) return "";
                  e.dataset.reached = "1"; return [...document.querySelectorAll("*")].indexOf(e); }"""
            )
        )

    assert len(reached - {""}) == usable


def test_nothing_moves_by_itself_for_who_asked_for_calm(show):
    """The context of these tests asks for reduced motion."""
    page = show(full_trace())

    running = page.page.evaluate("document.getAnimations().filter(a => a.playState === 'running').length")

    assert running == 0


def test_no_button_fades_for_who_asked_for_calm(bare: DebuggerPage) -> None:
    fading = bare.page.evaluate(
        """[...document.querySelectorAll(".gradio-container button")]
            .filter(button => getComputedStyle(button).transitionDuration.split(", ").some(each => each !== "0s"))
            .map(button => button.outerHTML.slice(0, 80))"""
    )

    assert fading == []


def test_a_run_that_streams_moves_nothing(bare: DebuggerPage) -> None:
    """Raw text and chat grow by many pieces; panels, cards and verdict stay where they are."""
    message: JSONObject = {"role": "assistant", "content": "word\n" * 300}
    whole = answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    answers = {
        "/v1/chat/completions": whole,
        "/v1/chat/completions#stream": drip(head, chunk(delta={"content": "word\n"}), 0.02),
        "/v1/completions": answer(
            200, {"choices": [{"index": 0, "text": message["content"], "finish_reason": "stop"}]}
        ),
    }
    bare.paste(json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}))
    with serving(answers) as url:
        bare.aim_at(url)
        bare.page.locator("#pd-target button").first.click()
        bare.page.click("#pd-run")
        bare.page.wait_for_selector(".pd-verdict[data-state=running]")
        bare.open_stage("complete")
        bare.page.wait_for_function("document.querySelector('.pd-pane-stream').textContent.includes('word')")
        bare.page.evaluate(WATCH_SHIFTS)
        seen = bare.page.evaluate("document.querySelector('.pd-pane-stream').textContent.length")
        bare.page.wait_for_function(
            "seen => document.querySelector('.pd-pane-stream').textContent.length > seen + 400", arg=seen
        )
        shifts = bare.page.evaluate("globalThis.__shifts")
        bare.page.click("#pd-stop")
        bare.page.wait_for_selector(".pd-verdict[data-state=stopped]")

    assert sum(value for value, _ in shifts) < 0.01, shifts
