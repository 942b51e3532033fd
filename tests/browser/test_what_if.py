"""The what-if panel in a browser: switches, turns, a token count, two setups, on the request in the editor."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations_in_both_themes
from tests.browser.bench import GRADIO_RULES, open_bench, run_bench, type_template
from tests.browser.conftest import Keep
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS
from tests.ui.present.strategies import HOSTILE

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)

LOST = [
    {"role": "user", "content": "Think"},
    {"role": "assistant", "content": "Done", "reasoning_content": "Long thoughts"},
    {"role": "user", "content": "More"},
    {"role": "assistant", "content": "Done again"},
    {"role": "user", "content": "And more"},
]
SHORT = "{% for m in messages %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}"


def paste(page: DebuggerPage, messages: list[dict[str, str]]) -> None:
    page.paste(json.dumps({"messages": messages}, ensure_ascii=False))
    expect(page.page.locator("#pd-notices .pd-counts")).to_contain_text(f"{len(messages)} message")


def count_tokens(page: DebuggerPage, number: str) -> None:
    open_bench(page, "count")
    page.page.fill("#pd-counted input, #pd-counted textarea", number)
    run_bench(page, "token-count")


def try_switches(page: DebuggerPage) -> None:
    open_bench(page, "switches")
    run_bench(page, "switches")


@pytest.fixture
def tried(keep: Keep, bare_url: str) -> DebuggerPage:
    """A page on which the switches were tried for the request that it opens with."""
    return keep(bare_url, try_switches)


def test_a_chip_tells_the_inspector_its_id(tried: DebuggerPage) -> None:
    tried.page.locator(".pd-effect[data-switch='no-generation-prompt'] .pd-chip.pd-removed").first.hover()

    assert "<|im_assistant|>" in tried.inspector()
    assert "special" in tried.inspector()


def test_the_place_of_a_difference_opens_in_the_request_and_in_the_template(tried: DebuggerPage) -> None:
    effect = tried.page.locator(".pd-effect[data-switch='ids-normalised']")

    effect.get_by_role("button", name="→ messages[2].tool_calls[0].id").click()
    tried.wait_for_selection()
    assert tried.selected_text() == '"search"'

    effect.get_by_role("button", name="template line 73").click()
    tried.page.wait_for_function(
        "() => { const v = document.querySelector('#pd-template-source .cm-content').cmTile.view;"
        " return v.state.doc.lineAt(v.state.selection.main.head).number === 73; }"
    )
    assert tried.page.locator("#pd-panel-template").is_visible()


def test_every_switch_is_shown_with_the_tokens_that_go_and_come(tried: DebuggerPage) -> None:
    effect = tried.page.locator(".pd-effect[data-switch='no-generation-prompt']")
    expect(effect.locator(".pd-chip.pd-removed")).to_have_text(["<|im_assistant|>", "assistant", "<|im_middle|>"])
    expect(effect.locator(".pd-chip-special.pd-removed")).to_have_count(2)
    expect(effect.locator(".pd-effect-figure")).to_have_text("−3 +0 tokens")
    expect(tried.page.locator("#pd-switches .pd-plain-list")).to_contain_text("Changes nothing: thinking=false")
    tried.page.click("#pd-switches .pd-absent summary")
    expect(tried.page.locator("#pd-switches .pd-absent")).to_contain_text("the history carries no reasoning")


def test_an_experiment_says_what_it_shows_until_there_is_a_result_and_when_the_request_has_changed(
    bare: DebuggerPage,
) -> None:
    open_bench(bare, "switches")
    expect(bare.page.locator("#pd-switches .pd-empty")).to_contain_text("one at a time")
    assert not bare.page.locator("#pd-turns").is_visible()
    open_bench(bare, "turns")
    assert bare.page.locator("#pd-turns").is_visible()
    assert not bare.page.locator("#pd-switches").is_visible()

    try_switches(bare)
    assert bare.page.locator("#pd-switches .pd-stale").count() == 0
    paste(bare, LOST[:1])
    expect(bare.page.locator("#pd-switches .pd-stale")).to_contain_text("changed since")
    try_switches(bare)
    expect(bare.page.locator("#pd-switches .pd-stale")).to_have_count(0)

    bare.choose("A healthy tool call")
    expect(bare.page.locator("#pd-switches .pd-empty")).to_be_visible()


def test_the_first_token_at_which_a_turn_loses_its_prefix_is_shown_with_its_cause_next_to_turns_that_hold(
    bare: DebuggerPage,
) -> None:
    paste(bare, LOST[:3])
    open_bench(bare, "turns")
    run_bench(bare, "turns")

    turn = bare.page.locator(".pd-turn")
    expect(turn).to_have_count(1)
    expect(turn.locator(".pd-turn-cause")).to_contain_text("reasoning")
    expect(turn.locator(".pd-turn-cause")).to_contain_text("proved by rendering")
    expect(turn.locator(".pd-chip.pd-removed").first).to_have_text("<think>")

    paste(bare, LOST)
    run_bench(bare, "turns")
    expect(turn).to_have_count(2)
    expect(bare.page.locator(".pd-turn.pd-turn-kept")).to_have_count(1)


def test_a_number_of_prompt_tokens_is_explained_or_a_tie_and_what_is_not_a_number_is_one_message(
    bare: DebuggerPage,
) -> None:
    sentence = bare.page.locator("#pd-token-count .pd-bench-sentence")
    count_tokens(bare, "many")
    expect(sentence).to_contain_text("expected a whole number")

    count_tokens(bare, "163")
    expect(sentence).to_contain_text("163 prompt tokens are explained by")
    first = bare.page.locator("#pd-token-count tbody tr").first
    expect(first).to_contain_text("= exact")
    expect(first).to_contain_text("no-generation-prompt")

    paste(bare, [{"role": "user", "content": "Hello"}])
    try_switches(bare)
    count = int(bare.page.inner_text("#pd-switches .pd-bench-sentence").split()[0])
    count_tokens(bare, str(count + 1))
    expect(sentence).to_contain_text("cannot distinguish them")
    assert bare.page.locator("#pd-token-count tr.pd-exact").count() > 1


def test_a_second_template_is_compared_on_the_same_request_and_an_edited_one_is_one_more_switch(
    bare: DebuggerPage,
) -> None:
    open_bench(bare, "setups")
    type_template(bare, SHORT, "pd-second-template")
    run_bench(bare, "setups")
    expect(bare.page.locator("#pd-setups .pd-bench-sentence")).to_contain_text("The prompts differ")
    expect(bare.page.locator("#pd-setups .pd-hunk").first.locator(".pd-chip.pd-added").first).to_have_text(
        "<|im_user|>"
    )

    bare.page.click("#pd-tab-template")
    bare.page.wait_for_selector("#pd-edited-status .pd[data-state=ok]")
    type_template(bare, SHORT)
    try_switches(bare)
    expect(bare.page.locator(".pd-effect[data-switch='other-template']")).to_be_visible()


def test_what_cannot_be_seen_or_read_in_a_request_is_named(bare: DebuggerPage) -> None:
    paste(bare, [{"role": "user", "content": "  two spaces and a break\n"}])
    try_switches(bare)
    removed = bare.page.locator(".pd-effect[data-switch='content-trimmed'] .pd-chip.pd-removed").all_inner_texts()
    assert "↵" in "".join(removed)
    assert "·" in "".join(removed)

    kwargs = {"\u202elive": 1, "dull": 1}  # the hint of a switch names the character that turns text round
    messages = [*LOST[:1], *LOST[:1]]  # two: their count tells that they have come
    bare.paste(json.dumps({"messages": messages, "chat_template_kwargs": kwargs}, ensure_ascii=False))
    expect(bare.page.locator("#pd-notices .pd-counts")).to_contain_text("2 messages")
    try_switches(bare)
    hints = bare.page.locator("#pd-switches .pd-plain-list code[title]").evaluate_all(
        "all => all.map(one => one.title)"
    )
    assert "leaves out `dull`" in hints
    assert "leaves out `\u27e8RLO\u27e9live`" in hints

    bare.paste('{"messages": [}')
    try_switches(bare)
    bare.page.locator("#pd-switches").get_by_role("button", name="Go to line 1").click()
    bare.wait_for_selection()
    assert bare.selected_text() == "}"


def test_stop_keeps_what_is_there_and_says_that_it_is_not_whole(bare: DebuggerPage) -> None:
    """No render has a single token, so hundreds are tried; Stop is pressed when the first are drawn."""
    turns = [{"role": ("user", "assistant")[i % 2], "content": f" Turn {i} " + "word " * 600} for i in range(61)]
    paste(bare, turns)
    open_bench(bare, "count")
    bare.page.fill("#pd-counted input, #pd-counted textarea", "1")
    bare.page.click("#pd-start-token-count")
    bare.page.wait_for_selector("#pd-token-count .pd[data-state=running]")
    bare.page.click("#pd-stop-token-count")

    expect(bare.page.locator("#pd-token-count .pd")).to_have_attribute("data-state", "stopped")
    expect(bare.page.locator("#pd-token-count .pd-stopped")).to_contain_text("Stopped")
    expect(bare.page.locator("#pd-start-token-count")).to_be_enabled()


def test_sessions_are_bars_with_what_breaks_them(bare: DebuggerPage) -> None:
    page = bare.page
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in "ab"]
    first = {"model": "m", "messages": [{"role": "user", "content": "Look around, then report. " * 9}], "tools": tools}
    said = [*first["messages"], {"role": "assistant", "content": "Done."}, {"role": "user", "content": "<b>And on</b>"}]
    bare.paste("\n".join(map(json.dumps, (first, {**first, "messages": said, "tools": tools[::-1]}))))
    page.click("#pd-tab-what-if")
    page.get_by_role("tab", name="Sessions").click()
    view = page.locator("#pd-bench-sessions .pd-bench-view")
    expect(view).to_contain_text("Each request is a bar")

    page.get_by_role("button", name="Follow the sessions").click()

    expect(view).to_have_attribute("data-state", "done")
    expect(view.locator(".pd-session-turn")).to_have_count(2)
    expect(view.locator(".pd-session-break")).to_contain_text("tools")
    widths = view.locator(".pd-session-bar").last.evaluate("bar => [...bar.children].map((one) => one.offsetWidth)")
    assert widths[1] > 0
    assert violations_in_both_themes(page, "#pd-bench-sessions", GRADIO_RULES) == []
    bare.assert_fits(400, 1440)


def test_hostile_text_is_drawn_as_text(bare: DebuggerPage) -> None:
    for number, text in enumerate(HOSTILE[:7]):  # each with one more message, so that its count tells it from the last
        answered = {"role": "assistant", "content": text}
        paste(bare, [{"role": "user", "content": f" {text} "}, answered, *[LOST[0]] * (number + 1)])
        for name, view in (("switches", "switches"), ("turns", "turns")):
            open_bench(bare, name)
            run_bench(bare, view)

        assert bare.page.evaluate("globalThis.__ran") is None, text
        assert bare.page.locator("#pd-switches .pd").get_attribute("data-state") == "done", text


def test_the_panel_breaks_no_accessibility_rule(bare: DebuggerPage) -> None:
    paste(bare, LOST[:3])
    bare.page.click("#pd-tab-what-if")
    assert violations_in_both_themes(bare.page, "#pd-panel-what-if", GRADIO_RULES) == []
    open_bench(bare, "count")
    bare.page.fill("#pd-counted input, #pd-counted textarea", "30")
    for name, view in (("switches", "switches"), ("turns", "turns"), ("count", "token-count")):
        open_bench(bare, name)
        run_bench(bare, view)
        assert violations_in_both_themes(bare.page, "#pd-panel-what-if", GRADIO_RULES) == []
    open_bench(bare, "setups")
    type_template(bare, SHORT, "pd-second-template")
    run_bench(bare, "setups")
    assert violations_in_both_themes(bare.page, "#pd-panel-what-if", GRADIO_RULES) == []


def test_nothing_is_wider_than_the_window(bare: DebuggerPage) -> None:
    bare.page.set_viewport_size({"width": 400, "height": 850})  # drawn where room is scarce
    open_bench(bare, "switches")
    run_bench(bare, "switches")
    for name in ("switches", "turns", "count", "setups"):
        open_bench(bare, name)
        bare.assert_fits(400, 1024, 1440)
