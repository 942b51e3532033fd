"""What someone once stumbled over on the page, each tried again as they did it.

Others are held where they belong: a pasted call that the lab answered, an address without a scheme (test_servers.py),
exports named alike and Share before a run (test_share.py), a dataset given to Verify (test_verification.py), facts of
the header and templates that do not wrap (test_room.py). What one run does not tell, and a model that no one changed,
in a comparison: tests/core/tools/experiments/test_runs.py. The badge above another turn: tests/ui/present.
The forecast of a check: tests/ui/web/test_model_check.py.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import answer

pytestmark = pytest.mark.browser

REQUEST = '{"model": "right", "messages": [{"role": "user", "content": "Hi"}]}'


def test_a_wrong_model_of_the_target_is_not_blamed_on_the_request(bare: DebuggerPage) -> None:
    page = bare.page
    refused: JSON = {"error": {"message": "The model `typed` does not exist.", "type": "NotFoundError", "code": 404}}
    listed: JSON = {"object": "list", "data": [{"id": "right"}]}
    with serving({"/v1/models": answer(200, listed), "*": answer(404, refused)}) as url:
        bare.paste(REQUEST)
        bare.aim_at(url)
        page.locator("#pd-target").get_by_label("Model", exact=True).fill("typed")
        page.keyboard.press("Tab")
        bare.run()

    assert "the model that the target names" in bare.sentence()
    bare.open_stage("findings")
    expect(page.locator(".pd-finding .pd-fix").first).to_contain_text("the request itself needs no change")
    expect(page.locator(".pd-offered")).to_have_count(0)


def test_nothing_of_the_example_stays_above_ones_own_text(bare: DebuggerPage) -> None:
    bare.paste(REQUEST)

    expect(bare.page.get_by_text("Your own text: nothing has run yet. Press Run.")).to_be_visible()
    for of_the_example in ("#pd-verdict .pd-sentence", "#pd-header .pd-fact", "#pd-ledger .pd-fate-lost"):
        expect(bare.page.locator(of_the_example).first).not_to_be_visible()
    promises = ["the prompt, token by token", "what the model wrote", "where each character went"]
    for card, promise in zip(
        bare.page.locator(".pd-stage").all(), [*promises, "what is wrong, and the fix"], strict=True
    ):
        assert card.inner_text().splitlines()[-1] == promise  # no card is an empty box


def test_a_tool_loop_that_cannot_go_on_says_why_beside_the_field(bare: DebuggerPage) -> None:
    page = bare.page
    bare.choose("A healthy tool call")
    page.click("[id='pd-tab-fix.loop']")
    page.get_by_role("button", name="Go on").click()

    expect(page.locator(".pd-answers [aria-invalid=true]")).to_be_focused()
    expect(page.locator(".pd-answers")).to_contain_text("get_weather")
    expect(page.locator(".pd-answers [role=alert], .pd-answers .pd-loop-told")).not_to_be_empty()


def test_no_fix_of_a_cut_call_is_an_empty_box(bare: DebuggerPage) -> None:
    bare.choose("A call is cut by max_tokens")
    bare.open_stage("findings")

    for box in bare.page.locator(".pd-offered").all():
        inside = box.locator(".pd-offered-changes, .pd-fix-source, .pd-command")
        assert inside.count() > 0
        assert inside.first.inner_text().strip()


def test_tab_goes_down_the_parse_panel_as_the_eye_does(loaded: DebuggerPage) -> None:
    page = loaded.page
    loaded.open_stage("parse")
    page.locator("#pd-parse-matrix .pd-matrix-more, #pd-parse-matrix table").first.wait_for()
    start = page.locator("#pd-start-parser-matrix")
    page.locator("#pd-tab-of-pd-parse-matrix").focus()

    tops = []
    while not start.evaluate("element => element === document.activeElement"):
        page.keyboard.press("Tab")
        tops.append(page.evaluate("document.activeElement.getBoundingClientRect().top"))
        assert page.evaluate("document.activeElement.closest('#pd-parse-matrix') !== null")

    assert len(tops) > 2
    assert all(after >= before - 8 for before, after in pairwise(tops))  # controls of one row differ by a few pixels


def test_the_key_that_leaves_a_list_box_goes_to_the_next_control(loaded: DebuggerPage) -> None:
    loaded.page.get_by_label("Read as").focus()
    expect(loaded.page.locator(".option-list")).to_be_visible()
    loaded.page.keyboard.press("Tab")

    expect(loaded.page.locator("#pd-request .cm-content")).to_be_focused()


def test_fix_opens_at_its_first_part_after_the_one_that_is_a_tool_itself(loaded: DebuggerPage) -> None:
    page = loaded.page
    page.locator("#pd-tab-fix\\.loop").click()
    expect(page.locator("#pd-fix-loop")).to_be_visible()
    page.locator("#pd-tab-fix").click()
    expect(page.locator("#pd-fix-trials")).to_be_visible()
    expect(page.locator("#pd-fix-loop")).not_to_be_visible()


def test_an_example_that_has_not_run_is_not_spoken_of_above_ones_own_text(unrun: DebuggerPage) -> None:
    expect(unrun.page.locator("#pd-verdict")).to_contain_text("Press Run for this example")

    unrun.paste(REQUEST)

    expect(unrun.page.get_by_text("Your own text: nothing has run yet. Press Run.")).to_be_visible()
    expect(unrun.page.get_by_text("Press Run for this example")).not_to_be_visible()


def test_an_example_that_is_edited_is_still_the_example(unrun: DebuggerPage) -> None:
    unrun.page.locator("#pd-request .cm-content").press("ControlOrMeta+End")
    unrun.page.keyboard.type(" ")
    unrun.page.wait_for_function("(JSON.parse(localStorage.getItem('pd-draft')).text || '').endsWith(' ')")

    expect(unrun.page.locator("#pd-verdict")).to_contain_text("Press Run for this example")


def test_a_text_typed_over_the_whole_example_is_no_longer_called_the_example(unrun: DebuggerPage) -> None:
    case = unrun.page.locator("#pd-case input")
    expect(case).not_to_have_value("")

    unrun.page.locator("#pd-request .cm-content").press("ControlOrMeta+a")
    unrun.page.keyboard.type("[")

    expect(case).to_have_value("")


COUNT_FRAMES = """(() => {
    const ask = globalThis.requestAnimationFrame;
    globalThis.drawnFrames = 0;
    globalThis.requestAnimationFrame = draw => ask(time => { globalThis.drawnFrames += 1; draw(time); });
})()"""
IS_ASLEEP = """() => {
    const before = globalThis.framesBefore;
    globalThis.framesBefore = globalThis.drawnFrames;
    return before === globalThis.drawnFrames;
}"""


def test_a_page_at_which_no_one_does_anything_draws_nothing(watched: Any, bare_url: str) -> None:
    watched.add_init_script(COUNT_FRAMES)
    page = DebuggerPage(watched, bare_url)
    page.load()

    watched.wait_for_function(IS_ASLEEP, polling=500)

    page.open_stage("parse")  # and wakes
    expect(watched.locator("#pd-panel-parse")).to_be_visible()


def test_run_says_where_a_text_asks_no_server(bare: DebuggerPage) -> None:
    run = bare.page.locator("#pd-run")
    bare.paste(json.dumps({"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}))
    expect(run).to_have_text("Run without a server")
    bare.run()
    expect(bare.page.locator(".pd-message")).to_contain_text('"Hi"')

    bare.paste(REQUEST)
    expect(run).to_have_text("Run")
    bare.paste("<tool_call>{}</tool_call>")
    expect(run).to_have_text("Run without a server")
    bare.choose("A healthy tool call")
    expect(run).to_have_text("Run")


def test_no_turn_of_the_example_is_offered_to_ones_own_text(bare: DebuggerPage) -> None:
    page = bare.page
    page.get_by_role("tab", name="Tool loop", exact=True).first.click()
    expect(page.locator(".pd-loop-turn")).to_be_visible()
    bare.paste(REQUEST)
    expect(page.locator("html[data-own-text]")).to_be_attached()
    expect(page.locator(".pd-loop-turn")).not_to_be_visible()
    expect(page.get_by_role("button", name="Go on", exact=True)).not_to_be_visible()
