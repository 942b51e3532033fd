"""The template panel in a browser: live render, faults at their place, hostile templates, probes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations_in_both_themes
from tests.browser.bench import (
    GRADIO_RULES,
    open_template,
    template_state,
    type_template,
    wait_for_edit,
)
from tests.browser.conftest import Keep, has_passed
from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)

SHORT = (
    "{% for m in messages %}<|im_user|>{{ m.role }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_assistant|>{% endif %}"
)
DRAWN = "[...document.querySelectorAll('#pd-panel-template .pd')].map((view) => view.dataset.shown)"
# The caret, and how often each view has drawn.
PUT_BACK = """(drawn) => {
    document.activeElement.blur();
    document.querySelector("#pd-template-source .cm-content").cmTile.view.dispatch({ selection: { anchor: 0 } });
    document.querySelectorAll("#pd-panel-template .pd").forEach((view, i) => { view.dataset.shown = drawn[i]; });
}"""
BOMB = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def tokens(page: DebuggerPage) -> str:
    return "".join(page.tokens("edited-tokens"))


@pytest.fixture
def opened(request: pytest.FixtureRequest, keep: Keep, bare_url: str) -> Iterator[DebuggerPage]:
    """A page whose template panel is open; what a test leaves in the template's editor is taken back."""
    page = keep(bare_url, open_template)
    own, drawn = template_state(page, "state.doc.toString()"), page.page.evaluate(DRAWN)
    yield page
    if not has_passed(request.node):
        return
    if template_state(page, "state.doc.toString()") != own:
        page.page.click("#pd-template-reset")
        expect(page.page.locator("#pd-edited-status")).to_contain_text("This is the model's own template.")
    page.page.evaluate(PUT_BACK, drawn)


def test_the_editor_opens_with_the_models_own_template_and_its_prompt(opened: DebuggerPage) -> None:
    assert "Chat template of the lab model" in template_state(opened, "state.doc.toString()")
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("This is the model's own template.")
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("166 tokens · 25 special")
    assert tokens(opened).startswith("<|im_system|>tool_declare")


def test_jinja_is_highlighted(opened: DebuggerPage) -> None:
    colours = opened.page.evaluate(
        """() => new Set([...document.querySelectorAll("#pd-template-source .cm-line span")]
            .map(span => getComputedStyle(span).color)).size"""
    )
    assert colours >= 3


def test_the_line_under_the_caret_lights_the_tokens_that_it_wrote(opened: DebuggerPage) -> None:
    opened.page.locator("#pd-template-source .cm-line", has_text="<|im_system|>tool_declare<|im_middle|>' -}}").click()

    expect(opened.page.locator("#pd-edited-tokens .pd-lit").first).to_have_text("<|im_system|>")
    assert "template line 19" in opened.inspector()


def test_every_change_renders_the_request_again(opened: DebuggerPage) -> None:
    type_template(opened, SHORT)

    expect(opened.page.locator("#pd-edited-status")).to_contain_text("Edited:")
    expect(opened.page.locator("#pd-edited-tokens [data-at='0']")).to_have_text("<|im_user|>")
    assert "tool_declare" not in tokens(opened)


def test_a_fault_is_at_its_line_and_column_and_the_last_prompt_stays(opened: DebuggerPage) -> None:
    type_template(opened, "first\n  {% if %}")
    wait_for_edit(opened, "error")

    status = opened.page.locator("#pd-edited-status")
    expect(status).to_contain_text("The template is not valid Jinja")
    assert tokens(opened).startswith("<|im_system|>")
    status.get_by_role("button", name="template line 2, column").click()
    selected = template_state(opened, "state.sliceDoc(state.selection.main.from, state.selection.main.to)")
    assert "%}" in selected
    assert template_state(opened, "state.doc.lineAt(state.selection.main.from).number") == "2"


def test_a_hostile_template_is_one_message_and_the_next_render_works(opened: DebuggerPage) -> None:
    type_template(opened, BOMB)
    wait_for_edit(opened, "error")
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("ran for more than")

    type_template(opened, SHORT)

    wait_for_edit(opened, "ok")
    expect(opened.page.locator("#pd-edited-tokens [data-at='0']")).to_have_text("<|im_user|>")


def test_hostile_words_of_a_template_are_drawn_as_text(opened: DebuggerPage) -> None:
    type_template(opened, "{{ raise_exception('<img src=x onerror=\"globalThis.__ran = 1\">') }}")
    wait_for_edit(opened, "error")

    expect(opened.page.locator("#pd-edited-status")).to_contain_text("<img src=x")
    assert opened.page.evaluate("globalThis.__ran") is None


def test_reset_brings_the_models_own_template_back(opened: DebuggerPage) -> None:
    type_template(opened, SHORT)
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("Edited:")

    opened.page.click("#pd-template-reset")

    expect(opened.page.locator("#pd-edited-status")).to_contain_text("This is the model's own template.")
    assert "Chat template of the lab model" in template_state(opened, "state.doc.toString()")


def test_the_generation_prompt_and_kwargs_are_switches(opened: DebuggerPage) -> None:
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("166 tokens")
    opened.page.fill("#pd-template-kwargs input, #pd-template-kwargs textarea", '{"thinking": true}')
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("167 tokens")

    opened.page.get_by_label("not opened").check()

    expect(opened.page.locator("#pd-edited-status")).to_contain_text("163 tokens")
    opened.page.fill("#pd-template-kwargs input, #pd-template-kwargs textarea", "{")
    wait_for_edit(opened, "error")
    expect(opened.page.locator("#pd-edited-status")).to_contain_text("kwargs are not valid JSON")


def test_a_token_shows_the_line_that_wrote_it(opened: DebuggerPage) -> None:
    opened.page.locator("#pd-edited-tokens [data-at='120']").first.click()

    opened.page.wait_for_selector(".pd-line-light[data-line='76']")
    assert template_state(opened, "state.doc.lineAt(state.selection.main.head).number") == "76"
    assert "messages[2].tool_calls[0].function.arguments" in opened.inspector()


def test_the_request_may_change_next_to_the_template(opened: DebuggerPage) -> None:
    opened.paste('{"messages": [{"role": "user", "content": "ANOTHER ONE"}]}')

    expect(opened.page.locator("#pd-edited-tokens")).to_contain_text("AN")
    expect(opened.page.locator("#pd-edited-status")).not_to_contain_text("166 tokens")


def test_an_edited_template_stays_when_the_panel_is_opened_again(bare: DebuggerPage) -> None:
    open_template(bare)
    type_template(bare, SHORT)
    expect(bare.page.locator("#pd-edited-status")).to_contain_text("Edited:")
    bare.open_stage("render")

    open_template(bare)

    assert template_state(bare, "state.doc.toString()") == SHORT


def test_probes_say_what_the_template_supports_and_follow_its_edits(bare: DebuggerPage) -> None:
    open_template(bare)
    bare.page.click("#pd-tab-of-pd-template-of-supports")
    bare.page.wait_for_selector("#pd-probes .pd[data-state=done]", timeout=PATIENCE_MS)

    expect(bare.page.locator("#pd-probes tbody tr")).to_have_count(26)
    calls = bare.page.locator("tr[data-probe='tool-calls']")
    expect(calls).to_contain_text("changed")
    expect(calls).to_contain_text("instead of its name")
    calls.get_by_role("button", name="template line").click()
    assert "call['id']" in template_state(bare, "state.doc.lineAt(state.selection.main.head).text")

    bare.page.click("#pd-tab-of-pd-template-of-prompt")
    type_template(bare, "{% if messages[0].role == 'system' %}{{ raise_exception('none here') }}{% endif %}" + SHORT)
    wait_for_edit(bare, "error")
    bare.page.click("#pd-tab-of-pd-template-of-supports")
    expect(bare.page.locator("tr[data-probe='system-role']")).to_contain_text("none here")
    bare.page.wait_for_selector("#pd-probes .pd[data-state=done]", timeout=PATIENCE_MS)


def test_the_panel_breaks_no_accessibility_rule(bare: DebuggerPage) -> None:
    open_template(bare)
    assert violations_in_both_themes(bare.page, "#pd-panel-template", GRADIO_RULES) == []
    type_template(bare, "{% if %}")
    wait_for_edit(bare, "error")
    assert violations_in_both_themes(bare.page, "#pd-panel-template", GRADIO_RULES) == []
    bare.page.click("#pd-template-reset")
    wait_for_edit(bare, "ok")
    bare.page.click("#pd-tab-of-pd-template-of-supports")
    bare.page.wait_for_selector("#pd-probes .pd[data-state=done]", timeout=PATIENCE_MS)
    assert violations_in_both_themes(bare.page, "#pd-panel-template", GRADIO_RULES) == []


def test_nothing_is_wider_than_the_window(bare: DebuggerPage) -> None:
    bare.page.set_viewport_size({"width": 400, "height": 850})  # drawn where room is scarce
    open_template(bare)
    bare.assert_fits(1440, 1024, 400)
    bare.page.click("#pd-tab-of-pd-template-of-supports")
    bare.page.wait_for_selector("#pd-probes .pd[data-state=done]", timeout=PATIENCE_MS)
    bare.assert_fits(400, 1024, 1440)
