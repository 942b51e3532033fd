"""Nothing is lost: the page is reloaded in every state it can be in, and goes on from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.pipeline import Target
from tests.browser.page import DebuggerPage
from tests.browser.test_history import CALL, menu, run_output
from tests.core.complete.faulty_server import FaultyServer, answer, hang
from tests.threads import in_thread

pytestmark = pytest.mark.browser

REQUEST = '{"messages": [{"role": "user", "content": "TYPED BY ME"}]}'
SAID: JSON = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Good day."}, "finish_reason": "stop"}]
}
# The end of the stream of answers reaches the page only after the next event was taken and the page has heard so.
LATE_END = """(() => {
    const send = globalThis.fetch;
    let letEndThrough = () => {};
    globalThis.fetch = async (input, init) => {
        const path = (input.url || String(input)).split("?")[0];
        const answer = await send(input, init);
        if (path.endsWith("/queue/join")) {
            const text = await answer.text();
            setTimeout(letEndThrough, 50);
            return new Response(text, {status: answer.status, headers: answer.headers});
        }
        if (!path.endsWith("/queue/data")) return answer;
        const hold = new TransformStream({async transform(chunk, controller) {
            const text = new TextDecoder().decode(chunk);
            const end = text.indexOf('data: {"msg":"close_stream"');
            if (end < 0) return controller.enqueue(chunk);
            controller.enqueue(new TextEncoder().encode(text.slice(0, end)));
            globalThis.__endIsHeld = true;
            await new Promise(done => { letEndThrough = done; });
            controller.enqueue(new TextEncoder().encode(text.slice(end)));
        }});
        return new Response(answer.body.pipeThrough(hold), {status: answer.status, headers: answer.headers});
    };
})()"""
HELD = "() => document.querySelector('#pd-request .cm-content').cmTile.view.state.doc.toString()"


@pytest.fixture
def silent_server() -> Iterator[str]:
    with in_thread(FaultyServer("", {"*": hang()})) as url:
        yield url


@pytest.fixture
def failing_server() -> Iterator[str]:
    with in_thread(FaultyServer("", {"*": answer(500, {"error": {"message": "engine died"}})})) as url:
        yield url


@pytest.fixture
def public_page(watched: Any) -> Iterator[DebuggerPage]:
    """A public page, whose operator's server answers every request with the same words."""
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    paths = {"/v1/models": answer(200, {"data": [{"id": "m"}]}), "/v1/chat/completions": answer(200, SAID)}
    with in_thread(FaultyServer("", {**paths, "*": answer(404)})) as endpoint:
        settings = PageSettings(target=Target(base_url=endpoint), port=0, lab=False, public=True)
        app = build_app(settings)
        page = DebuggerPage(watched, serve_app(app, settings)[1].rstrip("/"))
        page.load()
        yield page
        app.close(verbose=False)


def wait_for_text(page: DebuggerPage, text: str) -> None:
    page.page.wait_for_function(f"text => ({HELD})() === text", arg=text)


def wait_for_badge(page: DebuggerPage, badge: str) -> None:
    expect(page.page.locator("#pd-verdict .pd-badge")).to_have_text(badge)


def start(page: DebuggerPage, endpoint: str) -> None:
    page.paste(REQUEST)
    page.aim_at(endpoint)
    page.page.click("#pd-run")
    expect(page.page.locator(".pd-verdict")).to_have_attribute("data-state", "running")


def test_while_something_is_typed(bare: DebuggerPage) -> None:
    worked = bare.page.locator("#pd-case input")
    expect(worked).not_to_have_value("")
    bare.paste(REQUEST)
    expect(bare.page.locator("#pd-notices")).to_contain_text("1 message")  # it was heard of; kept a moment later
    expect(worked).to_have_value("")

    bare.load()

    wait_for_text(bare, REQUEST)
    expect(bare.page.locator("#pd-notices")).to_contain_text("restored from this browser")
    expect(worked).to_have_value("")  # and not the case that the page begins with


def test_what_an_example_gave_is_not_shown_as_the_result_of_ones_own_text(bare: DebuggerPage) -> None:
    own = bare.page.get_by_text("Your own text: nothing has run yet. Press Run.")
    bare.paste(REQUEST)
    expect(own).to_be_visible()
    bare.page.wait_for_function("text => JSON.parse(localStorage.getItem('pd-draft')).text === text", arg=REQUEST)

    bare.load()

    expect(own).to_be_visible()
    expect(bare.page.locator("#pd-verdict .pd-sentence")).not_to_be_visible()
    expect(bare.page.locator(".pd-outdated")).to_have_count(0)


OUTPUT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
READ_HERE = "Run without a server"


def test_a_pasted_output_is_still_said_to_need_no_server(unrun: DebuggerPage) -> None:
    run = unrun.page.locator("#pd-run")
    expect(run).to_have_text("Run on 127.0.0.1:9")
    unrun.paste(OUTPUT)
    expect(run).to_have_text(READ_HERE)
    unrun.aim_at("http://127.0.0.1:10/v1")
    expect(unrun.page.locator("#pd-target")).to_contain_text("127.0.0.1:10")
    expect(run).to_have_text(READ_HERE)
    unrun.page.wait_for_function("text => JSON.parse(localStorage.getItem('pd-draft')).text === text", arg=OUTPUT)

    unrun.load()

    wait_for_text(unrun, OUTPUT)
    expect(unrun.page.locator("#pd-target")).to_contain_text("127.0.0.1:10")
    expect(run).to_have_text(READ_HERE)
    unrun.choose("A healthy tool call")
    expect(run).to_have_text("Run on 127.0.0.1:10")


# As where a page comes slowly: the editor is drawn, and the button that asks where Run goes is not.
DRAWN_LATE = """
globalThis.late = [];
new MutationObserver(() => {
  const button = document.getElementById("pd-name-run");
  if (!button || globalThis.isOver) return;
  globalThis.late.push([button.parentElement, button]);
  button.remove();
}).observe(document, { childList: true, subtree: true });
"""
DRAW = "() => { globalThis.isOver = true; globalThis.late.forEach(([parent, button]) => parent.append(button)); }"


def test_a_button_that_is_drawn_late_is_pressed_once_it_is_there(unrun: DebuggerPage) -> None:
    run = unrun.page.locator("#pd-run")
    unrun.paste(OUTPUT)
    expect(run).to_have_text(READ_HERE)
    unrun.page.wait_for_function("text => JSON.parse(localStorage.getItem('pd-draft')).text === text", arg=OUTPUT)
    unrun.page.add_init_script(DRAWN_LATE)

    unrun.load()

    wait_for_text(unrun, OUTPUT)
    expect(run).to_have_text("Run on 127.0.0.1:9")
    unrun.page.evaluate(DRAW)
    expect(run).to_have_text(READ_HERE)


def test_an_address_that_is_typed_while_a_paste_is_read_leaves_run_saying_that_it_needs_no_server(
    unrun: DebuggerPage,
) -> None:
    run = unrun.page.locator("#pd-run")
    unrun.paste(OUTPUT)
    unrun.aim_at("http://127.0.0.1:10/v1")

    expect(unrun.page.locator("#pd-target")).to_contain_text("127.0.0.1:10")
    expect(run).to_have_text(READ_HERE)


def test_a_run_that_is_opened_again_says_where_it_would_go(bare: DebuggerPage) -> None:
    run = bare.page.locator("#pd-run")
    bare.paste(OUTPUT)
    bare.run()
    bare.choose("A healthy tool call")
    expect(run).to_have_text("Run")

    menu(bare).locator(".pd-history-open").first.click()

    wait_for_text(bare, OUTPUT)
    expect(run).to_have_text(READ_HERE)


def test_a_target_that_came_with_a_paste_gives_way_to_the_next_one(bare: DebuggerPage) -> None:
    run, call = bare.page.locator("#pd-run"), "curl http://127.0.0.1:{}/v1/chat/completions -d '{}'"
    bare.paste(call.format(9, REQUEST))
    expect(run).to_have_text("Run on 127.0.0.1:9")
    bare.page.wait_for_function("(JSON.parse(localStorage.getItem('pd-draft')).fields || [''])[0].includes(':9/')")

    bare.load()

    expect(run).to_have_text("Run on 127.0.0.1:9")
    bare.paste(call.format(10, REQUEST))
    expect(run).to_have_text("Run on 127.0.0.1:10")


def test_a_target_that_was_typed_stays_whatever_is_pasted_after_a_reload(bare: DebuggerPage) -> None:
    run, call = bare.page.locator("#pd-run"), "curl http://127.0.0.1:{}/v1/chat/completions -d '{}'"
    bare.aim_at("http://127.0.0.1:9/v1")
    bare.page.wait_for_function("(JSON.parse(localStorage.getItem('pd-draft')).fields || [''])[0].endsWith(':9/v1')")

    bare.load()
    bare.paste(call.format(10, REQUEST))

    expect(bare.page.locator("#pd-notices")).to_contain_text("Run asks http://127.0.0.1:9/v1 instead")
    expect(run).to_have_text("Run on 127.0.0.1:9")


def test_while_a_example_is_edited(bare: DebuggerPage) -> None:
    title = "A healthy tool call"
    worked = bare.page.locator("#pd-case input")
    bare.choose(title)
    bare.page.locator("#pd-request .cm-content").press("ControlOrMeta+End")
    bare.page.keyboard.type(" mine")
    bare.page.wait_for_function("(JSON.parse(localStorage.getItem('pd-draft')).text || '').endsWith(' mine')")
    expect(worked).to_have_value(title)

    bare.load()

    bare.page.wait_for_function(f"({HELD})().endsWith(' mine')")
    expect(worked).to_have_value(title)


def test_while_a_run_goes_on(bare: DebuggerPage, silent_server: str) -> None:
    run_output(bare, "Paris", 1)
    start(bare, silent_server)

    bare.load()

    wait_for_text(bare, REQUEST)
    expect(bare.page.locator("#pd-notices")).to_contain_text("was running when the page was left")
    expect(bare.page.locator("#pd-run")).to_be_enabled()
    expect(bare.page.locator("#pd-verdict")).to_contain_text("The run of this text ended when the page was left.")
    # An older run is not this request's result: the page begins anew.
    expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "recorded")
    bare.page.locator("#pd-target button").first.click()
    expect(bare.page.get_by_label("Endpoint", exact=True)).to_have_value(silent_server)
    expect(menu(bare).locator(".pd-history-run")).to_have_count(1)


def test_after_a_run_with_the_panel_that_was_open(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    badge = bare.badge()
    bare.open_stage("complete")

    bare.load()

    wait_for_badge(bare, badge)
    expect(bare.page.locator("#pd-header")).to_contain_text("kept")
    expect(bare.page.locator(".pd-verdict .pd-detail")).to_contain_text(
        "kept in this browser; no server was asked again"
    )
    wait_for_text(bare, CALL.format("Paris"))
    expect(bare.page.locator("#pd-tab-complete")).to_have_attribute("aria-selected", "true")
    expect(bare.page.locator("#pd-completion")).to_contain_text("Paris")


def test_after_a_run_whose_request_was_edited_since(bare: DebuggerPage) -> None:
    text = CALL.format("Paris")
    run_output(bare, "Paris", 1)
    sentence = bare.sentence()
    bare.page.locator("#pd-request .cm-content").press("ControlOrMeta+End")
    bare.page.keyboard.type("x")
    expect(bare.page.locator(".pd-outdated")).to_be_visible()
    bare.page.wait_for_function("text => JSON.parse(localStorage.getItem('pd-draft')).text === text", arg=text + "x")

    bare.load()

    wait_for_text(bare, text + "x")
    expect(bare.page.locator(".pd-sentence")).to_have_text(sentence)
    expect(bare.page.locator(".pd-outdated")).to_be_visible()
    bare.page.locator("#pd-request .cm-content").press("ControlOrMeta+End")
    bare.page.keyboard.press("Backspace")
    expect(bare.page.locator(".pd-outdated")).to_have_count(0)


def test_after_an_error(bare: DebuggerPage, failing_server: str) -> None:
    start_and_end(bare, failing_server)
    badge, sentence = bare.badge(), bare.sentence()
    assert badge not in ("NO VERDICT", "RUNNING")

    bare.load()

    wait_for_badge(bare, badge)
    expect(bare.page.locator(".pd-sentence")).to_have_text(sentence)
    wait_for_text(bare, REQUEST)


def start_and_end(page: DebuggerPage, endpoint: str) -> None:
    page.paste(REQUEST)
    page.aim_at(endpoint)
    page.run()
    expect(menu(page).locator(".pd-history-run")).to_have_count(1)
    page.page.keyboard.press("Escape")


def test_after_stop(bare: DebuggerPage, silent_server: str) -> None:
    start(bare, silent_server)
    bare.page.click("#pd-stop")
    expect(bare.page.locator(".pd-verdict")).to_have_attribute("data-state", "stopped")
    expect(menu(bare).locator(".pd-history-run")).to_have_count(1)
    sentence = bare.sentence()

    bare.load()

    wait_for_badge(bare, "STOPPED")
    expect(bare.page.locator(".pd-sentence")).to_have_text(sentence)
    wait_for_text(bare, REQUEST)
    expect(bare.page.locator("#pd-run")).to_be_enabled()


def test_while_two_runs_stand_side_by_side(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    run_output(bare, "Oslo", 2)
    for row in menu(bare).get_by_role("checkbox", name="Compare").all():
        row.check()
    bare.page.get_by_role("button", name="Compare the two selected").click()
    expect(bare.page.locator(".pd-comparison-side")).to_have_count(2)

    bare.load()

    expect(bare.page.locator("#pd-panel-compare")).to_be_visible()
    expect(bare.page.locator(".pd-comparison-side")).to_have_count(2)
    expect(bare.page.locator("#pd-comparison")).to_contain_text("Oslo")
    expect(bare.page.locator("#pd-comparison")).to_contain_text("Paris")
    wait_for_text(bare, CALL.format("Oslo"))


def test_what_is_asked_as_the_stream_of_answers_ends_is_answered(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    run_output(bare, "Oslo", 2)
    bare.page.add_init_script(LATE_END)
    bare.load()
    bare.page.wait_for_function("globalThis.__endIsHeld")

    bare.page.click("#pd-tab-compare")

    expect(bare.page.locator(".pd-comparison-side")).to_have_count(2)


LATE_COMPARISON = """(() => {
    let kept;
    Object.defineProperty(globalThis, "PromptDebugger", {get: () => kept, set(facade) {
        const {attach} = facade;
        facade.attach = (root, kind, name) => {
            if (kind !== "comparison") return attach(root, kind, name);
            let payload = "";
            let view = {set: given => { payload = given; }};
            root.dataset.shown = "later";
            globalThis.__mount = () => { view = attach(root, kind, name); view.set(payload); };
            return {set: given => view.set(given)};
        };
        kept = facade;
    }});
})()"""


def test_a_comparison_that_is_mounted_after_its_panel_was_opened_is_asked_for(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    run_output(bare, "Oslo", 2)
    bare.page.add_init_script(LATE_COMPARISON)
    bare.load()
    bare.page.click("#pd-tab-compare")
    expect(menu(bare).locator(".pd-history-run")).to_have_count(2)  # they are offered

    bare.page.evaluate("globalThis.__mount()")

    expect(bare.page.locator(".pd-comparison-side")).to_have_count(2)


def test_on_a_public_page(public_page: DebuggerPage) -> None:
    start_on_public(public_page)
    badge = public_page.badge()

    public_page.load()

    wait_for_badge(public_page, badge)
    wait_for_text(public_page, REQUEST)
    public_page.open_stage("complete")
    expect(public_page.page.locator("#pd-completion")).to_contain_text("Good day.")


def start_on_public(page: DebuggerPage) -> None:
    page.paste(REQUEST)
    page.run()
    expect(menu(page).locator(".pd-history-run")).to_have_count(1)
    page.page.keyboard.press("Escape")
