"""Room on the page: a calm load, the size of a bug report, panes that are resized, narrow windows."""

from __future__ import annotations

import json
import socket
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.pipeline import find_example
from tests.browser.axe import violations, violations_in_both_themes
from tests.browser.page import DebuggerPage
from tests.browser.rings import ALL_RINGS

pytestmark = pytest.mark.browser

# The sum of layout shifts as browsers measure them: a share of the window, no time.
COUNT_SHIFTS = """globalThis.__shifts = []; new PerformanceObserver(list => list.getEntries().forEach(entry =>
  globalThis.__shifts.push([entry.value, entry.sources.map(s => s.node && (s.node.id || s.node.className) || "")])
)).observe({type: "layout-shift", buffered: true});"""
# A page whose script fails shows itself after a while; a slow machine would take that for its turn.
NO_WAY_OUT = """const sheet = new CSSStyleSheet(); sheet.replaceSync("main { animation: none !important; }");
document.adoptedStyleSheets = [sheet];"""
BUG_REPORT = {"width": 1200, "height": 800}
PHONE = {"width": 400, "height": 850}
TYPED = '{"messages": [{"role": "user", "content": "TYPED BY ME"}]}'
GRADIO_RULES = frozenset({"scrollable-region-focusable"})  # of its editor, which scrolls without a tab stop of its own


def is_whole(page: DebuggerPage, selector: str) -> bool:
    """Return whether an element is in the window, and in every box around it that scrolls, once all is laid out."""
    page.settle_layout()
    return bool(
        page.page.evaluate(
            """selector => { const box = document.querySelector(selector).getBoundingClientRect();
              let [top, bottom] = [0, innerHeight];
              for (let e = document.querySelector(selector).parentElement; e; e = e.parentElement) {
                if (getComputedStyle(e).overflowY === "visible") continue;
                const around = e.getBoundingClientRect();
                top = Math.max(top, around.top); bottom = Math.min(bottom, around.bottom);
              }
              return box.height > 0 && box.top >= top - 1 && box.bottom <= bottom + 1; }""",
            selector,
        )
    )


def share(handle: Any) -> int:
    """Return what a handle says that the pane before it has of the width."""
    return int(handle.get_attribute("aria-valuenow"))


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, PHONE], ids=["wide", "phone"])
def test_nothing_moves_while_the_page_loads(watched: Any, bare_url: str, size: dict[str, int]) -> None:
    watched.set_viewport_size(size)
    watched.add_init_script(COUNT_SHIFTS + NO_WAY_OUT)
    page = DebuggerPage(watched, bare_url)
    page.load()
    page.settle_layout()

    shifts = watched.evaluate("globalThis.__shifts")

    assert sum(value for value, _ in shifts) <= 0.01, shifts


@pytest.mark.parametrize("window_width", [BUG_REPORT["width"]])
def test_the_size_of_a_bug_report_shows_verdict_calls_loss_and_what_is_missing(bare: DebuggerPage) -> None:
    bare.page.set_viewport_size(BUG_REPORT)
    for name, harmed in (
        ("dropped-call", ".pd-raw .pd-fate-lost"),
        ("wrong-parser", ".pd-raw .pd-fate-content"),  # left as content
    ):
        bare.choose(find_example(name).title)
        expect(bare.page.locator("#pd-tab-parse")).to_have_attribute("aria-selected", "true")
        expect(bare.page.locator(".pd-missing")).to_be_attached()

        for part in (".pd-sentence", ".pd-calls .pd-table", harmed, ".pd-missing"):
            assert is_whole(bare, part), (name, part)


def test_a_verdict_of_two_lines_is_as_tall_as_one_of_one(bare: DebuggerPage) -> None:
    bare.page.set_viewport_size(BUG_REPORT)
    heights = []
    for name in ("healthy-call", "dropped-call"):
        bare.choose(find_example(name).title)
        bare.settle_layout()
        heights.append(bare.page.evaluate("document.querySelector('#pd-verdict').getBoundingClientRect().height"))

    assert heights[0] == pytest.approx(heights[1], abs=1)
    bare.page.click(".pd-detail-more")
    expect(bare.page.locator(".pd-detail-more")).to_have_text("less")
    assert is_whole(bare, ".pd-detail")


def test_panes_are_resized_by_keys_and_mouse_and_what_wraps_on_demand_are_remembered(bare: DebuggerPage) -> None:
    wrap = bare.page.locator("#pd-template").get_by_role("button", name="wrap", exact=True)
    source = "document.querySelector('#pd-template .pd-source')"
    is_wide = f"{source}.scrollWidth > {source}.clientWidth"
    name = "Width of the raw output"
    handle = bare.page.locator(f"[role=separator][aria-label='{name}']")
    bare.open_stage("parse")
    expect(handle).to_be_visible()
    bare.settle_layout()
    before = share(handle)

    handle.focus()
    bare.page.keyboard.press("ArrowLeft")
    bare.page.keyboard.press("ArrowLeft")
    expect(handle).not_to_have_attribute("aria-valuenow", str(before))
    by_keys = share(handle)
    box = handle.bounding_box()
    bare.page.mouse.move(box["x"] + 5, box["y"] + 40)
    bare.page.mouse.down()
    bare.page.mouse.move(box["x"] - 120, box["y"] + 40)
    bare.page.mouse.up()
    expect(handle).not_to_have_attribute("aria-valuenow", str(by_keys))
    bare.settle_layout()
    by_mouse = share(handle)

    assert by_mouse < by_keys < before
    bare.open_stage("render")
    expect(bare.page.locator("#pd-template [data-line]").first).to_be_visible()
    assert not bare.page.evaluate(is_wide)

    wrap.click()
    bare.settle_layout()
    assert bare.page.evaluate(is_wide)

    bare.load()
    bare.open_stage("render")
    expect(wrap).to_have_attribute("aria-pressed", "false")
    bare.open_stage("parse")
    expect(handle).to_have_attribute("aria-valuenow", str(by_mouse))
    handle.dblclick()
    expect(handle).to_have_attribute("aria-valuenow", str(before))


def test_tokens_do_not_wrap_on_demand(bare: DebuggerPage) -> None:
    bare.open_stage("render")
    bare.page.locator("#pd-prompt-tokens .pd-view-menu > summary").click()
    wrap = bare.page.locator("#pd-prompt-tokens").get_by_role("button", name="wrap", exact=True)
    expect(wrap).to_have_attribute("aria-pressed", "true")
    grid = "document.querySelector('#pd-prompt-tokens .pd-grid')"
    assert bare.page.evaluate(f"{grid}.scrollWidth <= {grid}.clientWidth")

    wrap.click()
    bare.settle_layout()
    assert bare.page.evaluate(f"{grid}.scrollWidth > {grid}.clientWidth")
    bare.page.locator("#pd-prompt-tokens .pd-grid").focus()
    for key in ("Home", "ArrowDown", "ArrowLeft"):  # the end of the first line
        bare.page.keyboard.press(key)
    expect(bare.page.locator("#pd-active-prompt_tokens")).to_be_in_viewport()


def test_on_a_phone_the_end_of_a_run_brings_the_verdict_into_view(bare: DebuggerPage) -> None:
    bare.page.set_viewport_size(PHONE)
    bare.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    bare.run()

    expect(bare.page.locator(".pd-sentence")).to_be_in_viewport()
    expect(bare.page.locator("#pd-inspector")).to_be_hidden()


@pytest.mark.parametrize(("theme", "window_width"), [("light", 400), ("dark", 1200)])
def test_the_whole_page_breaks_no_rule(bare: DebuggerPage) -> None:
    found = []
    for panel in ("parse", "findings", "fix", "check", "verify"):
        bare.open_stage(panel)  # what is around the panels stays as it was scanned with the first
        found += violations(bare.page, "body" if panel == "parse" else f"#pd-panel-{panel}", GRADIO_RULES)

    assert found == []


def test_no_state_of_a_run_breaks_a_rule(bare: DebuggerPage) -> None:
    """Refused, outdated, failed and stopped, each in both themes. A refused request's card leads to the place."""
    found: list[str] = []

    def look() -> None:
        found.extend(violations_in_both_themes(bare.page, "body", GRADIO_RULES))

    bare.choose(find_example("tutorial-tool-types").title)
    look()
    expect(bare.page.locator("#pd-ledger .pd-raw .pd-empty")).to_contain_text("refused the request, HTTP 400")
    expect(bare.page.locator("#pd-raw-tokens .pd-empty")).to_contain_text("refused the request, HTTP 400")
    bare.page.locator(".pd-request-card").click()
    bare.wait_for_selection()
    template = "{% for m in messages %}{{ m.content | nosuch }}{% endfor %}"
    bare.paste(json.dumps({"messages": [{"role": "user", "content": "Hi"}], "chat_template": template}))
    expect(bare.page.locator(".pd-own-text")).to_be_visible()
    look()
    bare.run()
    assert (bare.state(), bare.badge()) == ("error", "TEMPLATE")
    assert "line 1" in bare.sentence()
    assert "nosuch" in bare.sentence()
    look()
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes a connection and never answers
        bare.aim_at(f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        bare.page.click("#pd-run")
        expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
        bare.page.click("#pd-stop")
        expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "stopped")
        look()

    assert found == []


def test_the_list_of_cases_obeys_keys_and_menus_give_the_focus_back(bare: DebuggerPage) -> None:
    options = bare.page.get_by_role("option")
    case = bare.page.locator("#pd-case input")
    case.click()
    expect(options).to_have_count(9)
    bare.page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(case).to_be_focused()

    share = bare.page.locator(".pd-share-toggle", has_text="Share")
    share.click()
    expect(share).to_have_attribute("aria-expanded", "true")
    bare.page.keyboard.press("Escape")
    expect(share).to_have_attribute("aria-expanded", "false")
    expect(share).to_be_focused()

    bare.paste(TYPED)
    case.click()
    expect(case).to_have_attribute("aria-expanded", "true")
    bare.page.keyboard.press("Tab")  # anyone who only passes through loses nothing
    expect(case).not_to_be_focused()
    bare.page.locator("#pd-run").click()
    expect(bare.page.locator("#pd-verdict .pd-badge")).to_have_text("NO SERVER")
    expect(case).to_have_attribute("aria-expanded", "false")
    assert bare.request_text() == TYPED

    case.click()
    expect(case).to_have_attribute("aria-expanded", "true")
    bare.page.keyboard.press("End")
    bare.page.keyboard.press("Enter")
    expect(bare.page.locator(".pd-sentence")).to_contain_text("a token id beyond the vocabulary")


def test_on_a_phone_a_tap_on_a_token_opens_the_inspector_and_a_button_closes_it(loaded: DebuggerPage) -> None:
    loaded.page.set_viewport_size(PHONE)
    loaded.open_stage("complete")
    loaded.page.locator("#pd-raw-tokens [data-at]").nth(3).click()

    expect(loaded.page.locator("#pd-inspector")).to_be_in_viewport()
    assert is_whole(loaded, "#pd-inspector")
    loaded.page.get_by_role("button", name="Release the pin").click()
    expect(loaded.page.locator("#pd-inspector")).to_be_hidden()


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_figure_of_a_card_ends_in_the_middle_of_a_word(loaded: DebuggerPage, width: int) -> None:
    loaded.page.set_viewport_size({"width": width, "height": 720})
    loaded.settle_layout()

    cut = loaded.page.evaluate(
        """() => [...document.querySelectorAll(".pd-stage-figures")].flatMap(box => {
            const line = box.getBoundingClientRect();
            const isSeen = (one) => one.getBoundingClientRect().top < line.bottom - 2;
            const isOut = (one) => one.getBoundingClientRect().right > line.right + 1;
            return [...box.children].filter(isSeen).filter(one => one.scrollWidth > one.clientWidth || isOut(one));
        }).map(one => one.textContent)"""
    )

    assert cut == []


def test_the_verdict_reads_as_a_sentence(loaded: DebuggerPage) -> None:
    snapshot = loaded.page.locator("#pd-verdict").aria_snapshot()

    heading = next(line for line in snapshot.splitlines() if "heading" in line)
    assert "The model wrote 1 tool call, the server returned none. Guilty stage: parse." in heading
    assert "[level=2]" in heading


def test_headings_go_down_one_step_at_a_time(loaded: DebuggerPage) -> None:
    for panel in ("render", "complete", "parse", "findings", "what-if", "template", "fix", "compare", "check"):
        loaded.open_stage(panel)
        levels = loaded.page.evaluate(
            """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
                 .filter(e => e.offsetParent).map(e => Number(e.tagName[1]))"""
        )
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(later - earlier <= 1 for earlier, later in pairwise(levels)), (panel, levels)


def test_nothing_is_wider_than_the_window(loaded: DebuggerPage) -> None:
    for width in (400, 800, 1024, 1200, 1440):
        loaded.page.set_viewport_size({"width": width, "height": 850})
        for panel in ("render", "complete", "parse", "findings", "what-if", "template", "fix", "check", "verify"):
            loaded.open_stage(panel)
            assert loaded.page.evaluate("document.documentElement.scrollWidth") <= width, (panel, width)


def test_nothing_to_press_is_smaller_than_24_pixels_on_a_phone(loaded: DebuggerPage) -> None:
    loaded.page.set_viewport_size(PHONE)
    for panel in ("render", "complete", "parse", "findings", "fix", "check"):
        loaded.open_stage(panel)
        small = loaded.page.evaluate(
            """() => [...document.querySelectorAll("button, a[href], summary, input, [role=tab]")]
                 .filter(e => e.offsetParent && !e.closest("label"))
                 .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
                 .filter(([, r]) => r.width > 1 && (r.width < 24 || r.height < 23.5)).map(([html]) => html)"""
        )
        assert small == [], panel


@pytest.mark.parametrize("width", [1440, 1000, 400])
def test_a_ring_is_whole_around_whatever_has_the_focus(loaded: DebuggerPage, width: int) -> None:
    loaded.page.set_viewport_size({"width": width, "height": 850})
    found = []
    panels = ("render", "complete", "parse", "findings", "what-if", "template", "fix", "compare", "check", "verify")
    for panel in (*panels, "live"):
        loaded.open_stage(panel)
        loaded.settle_layout()
        loaded.page.keyboard.press("Tab")
        rings = loaded.page.evaluate(ALL_RINGS)
        assert len(rings) > 15
        found += [f"{panel}: {words}" for words in rings if words]

    assert found == []


def test_the_header_leaves_a_narrow_window_its_room(loaded: DebuggerPage) -> None:
    loaded.page.set_viewport_size({"width": 800, "height": 800})
    loaded.settle_layout()

    assert loaded.page.locator(".pd-header .pd-target").bounding_box()["height"] < 60  # of six lines it had 112


def test_the_cause_takes_one_line_and_the_rest_opens_on_demand(loaded: DebuggerPage) -> None:
    text = loaded.page.locator("#pd-verdict .pd-verdict-text")
    expect(text).to_have_attribute("style", "--pd-lines: 1;")
    assert "\u2192" in loaded.page.locator("#pd-verdict .pd-detail").inner_text()
    assert loaded.page.locator("#pd-verdict").bounding_box()["height"] <= 66


def test_show_evidence_takes_the_focus_along(loaded: DebuggerPage) -> None:
    loaded.page.get_by_role("button", name="Evidence", exact=True).click()

    expect(loaded.page.locator("#pd-ledger :focus")).to_be_visible()
    assert loaded.page.evaluate("document.activeElement.closest('.pd-raw') !== null")


@pytest.mark.parametrize("window_width", [PHONE["width"]])
def test_facts_that_do_not_fit_end_in_an_ellipsis_and_are_whole_where_one_goes_to_them(bare: DebuggerPage) -> None:
    page = bare.page
    facts = page.locator("#pd-header .pd-target")
    is_cut = "line => line.scrollWidth > line.clientWidth"
    assert facts.evaluate(is_cut)
    assert facts.evaluate("line => getComputedStyle(line).textOverflow") == "ellipsis"
    assert facts.evaluate("line => getComputedStyle(line).display") == "block"  # no other kind of box draws it

    facts.focus()

    assert not facts.evaluate(is_cut)
    assert facts.evaluate("line => line.tabIndex") == 0
    expect(facts).to_contain_text("evidence same run")


def test_the_open_tool_stays_in_sight_where_the_window_becomes_narrow(bare: DebuggerPage) -> None:
    bare.page.click("#pd-tab-live")
    bare.page.set_viewport_size(PHONE)
    bare.page.wait_for_function("document.querySelector('.pd-tools').scrollLeft > 0")

    right = bare.page.evaluate("document.querySelector('#pd-tab-live').getBoundingClientRect().right")
    assert right <= PHONE["width"]


def test_what_is_said_of_a_long_text_moves_no_button_from_the_edge(bare: DebuggerPage) -> None:
    bare.paste('{"messages": [{"role": "user", "content": "' + "long " * 300_000 + '"}]}')
    expect(bare.page.locator(".pd-format-words")).to_contain_text("Long text")

    edge = "part => part.getBoundingClientRect().right"
    button = bare.page.locator("#pd-format .pd-button").last.evaluate(edge)
    assert button == pytest.approx(bare.page.locator("#pd-editor-foot").evaluate(edge), abs=1)
