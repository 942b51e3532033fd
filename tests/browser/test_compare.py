"""Two runs side by side, as a person puts them there: by running twice, or from bundles."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.report import write_bundle
from tests.browser.axe import violations_in_both_themes
from tests.browser.conftest import Keep
from tests.browser.page import DebuggerPage
from tests.browser.test_history import CALL, run_output
from tests.browser.test_page import GRADIO_RULES
from tests.browser.test_share import open_bundle
from tests.core.tools.experiments.test_runs import changed
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import dropped_call_trace

pytestmark = pytest.mark.browser


def save(folder: Path, name: str, trace: Trace) -> Path:
    path = folder / name
    path.write_text(write_bundle(trace, "0.1.0"))
    return path


def add(page: DebuggerPage, path: Path) -> None:
    page.page.locator("#pd-comparison input[type=file]").set_input_files(path)
    expect(page.page.locator("#pd-comparison")).not_to_contain_text("Reading it")


def compare(page: DebuggerPage, before: Path, after: Path) -> None:
    open_bundle(page, before)
    page.page.click("#pd-tab-compare")
    add(page, after)
    page.page.wait_for_selector(".pd-comparison-sides")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("bundles")
    return save(folder, "before.json", dropped_call_trace()), save(folder, "after.json", changed())


@pytest.fixture
def compared(keep: Keep, bare_url: str, bundles: tuple[Path, Path]) -> DebuggerPage:
    """A page on which two bundles are compared."""
    return keep(bare_url, compare, *bundles)


# The page's server takes no further event, as where too many wait.
REFUSE_EVENTS = """() => {
    const send = globalThis.fetch;
    const refusal = () => new Response('{"detail": "Queue is full."}', {status: 503});
    globalThis.fetch = async (url, init) => String(url).includes("queue/join") ? refusal() : send(url, init);
    globalThis.takeEvents = () => { globalThis.fetch = send; };
}"""


def shown(page: DebuggerPage) -> str:
    return str(page.page.inner_text("#pd-comparison"))


def assert_fits_and_breaks_no_rule(page: DebuggerPage, width: int) -> None:
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations_in_both_themes(page.page, "body", GRADIO_RULES) == []


def test_before_there_are_two_runs_the_panel_says_how_to_get_them(loaded: DebuggerPage) -> None:
    loaded.page.click("#pd-tab-compare")

    expect(loaded.page.locator("#pd-comparison")).to_contain_text("Run twice, or add a bundle")


def test_a_run_that_is_not_packed_yet_is_said_to_come(bare: DebuggerPage) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        number = bare.page.evaluate("gradio_config.dependencies.find(one => one.api_name === 'pack_run').id")
        is_packing = route.request.post_data_json["fn_index"] == number
        if is_packing and not held:
            held.append(route)
        else:
            route.continue_()

    bare.page.route("**/queue/join*", hold)
    bare.paste(CALL.format("Paris"))
    bare.run()
    bare.page.click("#pd-tab-compare")

    empty = bare.page.locator("#pd-comparison .pd-empty")
    expect(empty).to_have_text("The run that has just ended is being prepared …")
    held[0].continue_()
    expect(empty).to_contain_text("One is here: run again, or add a bundle.")


def test_two_runs_that_the_server_did_not_take_are_compared_once_more(
    bare: DebuggerPage, bundles: tuple[Path, Path]
) -> None:
    before, after = bundles
    open_bundle(bare, before)
    bare.page.click("#pd-tab-compare")
    bare.page.evaluate(REFUSE_EVENTS)
    add(bare, after)
    expect(bare.page.locator("#pd-comparison")).to_contain_text("did not accept the two runs")

    bare.page.evaluate("takeEvents()")
    bare.page.get_by_role("button", name="Compare again").click()
    expect(bare.page.locator(".pd-comparison-sides")).to_be_visible()
    expect(bare.page.locator("#pd-comparison")).not_to_contain_text("did not accept")


def test_two_bundles_show_what_differs_stage_by_stage(compared: DebuggerPage) -> None:
    text = shown(compared)

    assert "The requests differ in 1 field; the prompts diverge at token 18" in text
    assert "only A has PD401" in text
    assert "tool parser" in compared.page.inner_text(".pd-comparison-part:has-text('Server and run') table")
    assert "messages[2] only in B" in " ".join(text.split())
    assert compared.page.locator("#pd-comparison .pd-chip.pd-added").first.inner_text() == "·Rome"


def test_a_bundle_added_for_comparison_leaves_the_shown_run_alone(compared: DebuggerPage) -> None:
    compared.open_stage("parse")

    assert compared.lost_text() == ["get_weather", '{"city":·"Paris"}']
    assert compared.request_text() == dropped_call_trace().request.text


def test_the_panel_breaks_no_accessibility_rule_and_fits(compared: DebuggerPage) -> None:
    assert_fits_and_breaks_no_rule(compared, 1440)


def test_before_and_after_are_a_picture(compared: DebuggerPage, tmp_path: Path) -> None:
    with compared.page.expect_download() as download:
        compared.page.get_by_role("button", name="Picture").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)

    data = path.read_bytes()
    assert path.name == "before-after.png"
    assert int.from_bytes(data[16:20], "big") == 2_400
    assert 800 < int.from_bytes(data[20:24], "big") < 4_000


def test_on_a_phone_the_two_buttons_of_a_comparison_are_side_by_side(compared: DebuggerPage) -> None:
    compared.page.set_viewport_size({"width": 400, "height": 850})
    compared.settle_layout()

    tops = compared.page.locator(".pd-comparison-head .pd-button").evaluate_all(
        "parts => parts.map(part => part.getBoundingClientRect().top)"
    )
    assert len(tops) == 2
    assert tops[0] == tops[1]


def test_a_damaged_bundle_is_one_message_and_the_comparison_stays(compared: DebuggerPage, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(write_bundle(changed())[:5_000])
    add(compared, path)

    expect(compared.page.locator("#pd-comparison [role=status]")).to_contain_text("not valid JSON")
    assert "only A has PD401" in shown(compared)


def test_the_sides_can_be_chosen_and_swapped(compared: DebuggerPage) -> None:
    name = compared.page.locator(".pd-comparison-name").first.inner_text()
    compared.page.get_by_role("button", name="Swap A and B").click()
    expect(compared.page.locator(".pd-comparison-name").last).to_have_text(name.replace("A ", "B ", 1))
    expect(compared.page.locator("#pd-comparison")).to_contain_text("only B has PD401")

    compared.page.get_by_label("Run B").select_option(label="after.json")

    expect(compared.page.locator("#pd-comparison")).to_contain_text("identical in everything that both runs contain")


def test_the_lists_hold_the_history(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    run_output(bare, "Oslo", 2)
    bare.load()
    bare.page.click("#pd-tab-compare")

    expect(bare.page.get_by_label("Run A").locator("option")).to_have_count(2)
    names = bare.page.get_by_label("Run A").locator("option").all_inner_texts()
    assert all("no server" in name and bare.badge() in name for name in names)
    expect(bare.page.locator(".pd-comparison-side")).to_have_count(2)
    assert "tab=compare&runs=" in bare.page.url


def test_a_run_without_a_verdict_is_chosen_by_hand_alone(bare: DebuggerPage) -> None:
    run_output(bare, "Paris", 1)
    bare.paste('{"messages": [{"role": "user", "content": "Hi"}]}')
    bare.aim_at("http://127.0.0.1:9/v1")
    bare.run()
    run_output(bare, "Oslo", 3)

    bare.page.click("#pd-tab-compare")

    expect(bare.page.locator(".pd-comparison-side")).to_have_count(2)
    expect(bare.page.locator("#pd-comparison")).to_contain_text("Paris")
    expect(bare.page.locator("#pd-comparison")).to_contain_text("Oslo")
    bare.page.get_by_label("Run A").select_option(index=1)
    expect(bare.page.locator("#pd-comparison [role=status]").first).to_contain_text("There is no finished run in")


def test_an_address_with_two_runs_compares_them(bare: DebuggerPage) -> None:
    for number, city in enumerate(("Paris", "Oslo", "Rome"), 1):
        run_output(bare, city, number)
    bare.page.click("#pd-tab-compare")
    bare.page.get_by_label("Run B").select_option(index=2)
    expect(bare.page.locator("#pd-comparison")).to_contain_text("Paris")
    url = bare.page.url

    other = bare.page.context.new_page()
    other.goto(url)

    expect(other.locator(".pd-comparison-side")).to_have_count(2)
    expect(other.locator("#pd-comparison")).to_contain_text("Paris")
    expect(other.locator("#pd-comparison")).to_contain_text("Oslo")


def test_runs_are_compared_also_where_nothing_is_kept(bare: DebuggerPage) -> None:
    bare.page.evaluate("localStorage.setItem('pd-keep-nothing', '1')")
    for city in ("Paris", "Oslo"):
        bare.paste(CALL.format(city))
        bare.run()
    bare.page.click("#pd-tab-compare")

    expect(bare.page.locator("#pd-comparison")).to_contain_text("Oslo")
    assert "runs=" not in bare.page.url


def test_hostile_runs_are_text(bare: DebuggerPage, tmp_path: Path) -> None:
    text = "".join(HOSTILE)
    trace = dropped_call_trace()
    assert trace.chat is not None
    assert trace.server is not None
    evil = replace(
        trace,
        request=replace(trace.request, body={text: text, "messages": [{"role": text, "content": text}]}),
        server=replace(trace.server, model=text, version=text, tool_parser=text),
        chat=replace(trace.chat, message={text: text, "content": text}),
        findings=(replace(trace.findings[0], title=text, name=text),),
    )
    open_bundle(bare, save(tmp_path, "a.json", trace))
    bare.page.click("#pd-tab-compare")
    add(bare, save(tmp_path, "b.json", evil))
    bare.page.wait_for_selector(".pd-comparison-sides")

    assert bare.page.evaluate("globalThis.__ran") is None
    assert bare.page.locator("#pd-comparison img, #pd-comparison svg, #pd-comparison script").count() == 0
    assert not set(shown(bare)) & set("\u202e\u202c\u2066\u2069\u200b")


@pytest.mark.parametrize("window_width", [400])
def test_the_panel_breaks_no_accessibility_rule_and_fits_where_room_is_scarce(
    bare: DebuggerPage, bundles: tuple[Path, Path], window_width: int
) -> None:
    compare(bare, *bundles)

    assert_fits_and_breaks_no_rule(bare, window_width)


@pytest.mark.lab
def test_a_fix_is_run_and_compared_with_what_it_fixes(lab_page: DebuggerPage) -> None:
    lab_page.run()
    request = json.loads(lab_page.request_text())
    request["messages"][2]["tool_calls"][0]["id"] = request["messages"][3]["tool_call_id"] = "functions.search:0"
    lab_page.paste(json.dumps(request))
    lab_page.run()
    lab_page.page.click("#pd-tab-compare")
    lab_page.page.wait_for_selector(".pd-comparison-sides")

    text = shown(lab_page)
    assert "lab · lab-model · kimi_k2 · DROPPED" in text
    assert "only A has PD401" in text
    assert "messages[2].tool_calls[0].id" in text
    assert lab_page.page.locator(".pd-comparison-side").last.get_attribute("data-tone") == "success"
