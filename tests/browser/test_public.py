"""A public page in a browser: what a stranger sees of its limits, of faults, and of other strangers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.pipeline import Target
from tests.browser.axe import violations_in_both_themes
from tests.browser.page import DebuggerPage
from tests.browser.test_page import GRADIO_RULES
from tests.core.complete.faulty_server import FaultyServer, answer, drip, hang
from tests.patience import PATIENCE_MS
from tests.threads import in_thread

pytestmark = pytest.mark.browser

REQUEST = '{"messages": [{"role": "user", "content": "%s"}]}'
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class MoodyServer(FaultyServer):
    """Does what the first message of a request names."""

    def _behaviour_of(self, request: Any) -> Any:
        if request.path.endswith("/models"):
            return answer(200, {"data": [{"id": "m"}]})
        if not request.path.endswith("/chat/completions"):
            return answer(404)
        words = str(request.json["messages"][0]["content"])
        message = {"role": "assistant", "content": f"ECHO {words}"}
        said: Any = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        faults = {"fail": answer(500, {"error": {"message": "engine died"}}), "hang": hang()}
        faults |= {"garbage": answer(200, b"\x00<html>"), "endless": drip(SSE_HEAD, b"x" * 1_000_000, 0)}
        return faults.get(words, answer(200, said))


@pytest.fixture(scope="module")
def moody_endpoint() -> Iterator[str]:
    with in_thread(MoodyServer("", {})) as url:
        yield url


def _serve(**settings: Any) -> Iterator[str]:
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    page_settings = PageSettings(port=0, lab=False, public=True, **settings)
    app = build_app(page_settings)
    yield serve_app(app, page_settings)[1].rstrip("/")
    app.close(verbose=False)


@pytest.fixture(scope="module")
def public_url(moody_endpoint: str) -> Iterator[str]:
    yield from _serve(target=Target(base_url=moody_endpoint))


@pytest.fixture(scope="module")
def lonely_url() -> Iterator[str]:
    """A public page without lab and servers: what a plain Space is."""
    yield from _serve()


@pytest.fixture(scope="module")
def listed_url() -> Iterator[str]:
    yield from _serve(endpoints=("https://listed.example/v1",))


def _open(page: Any, url: str, theme: str = "light") -> DebuggerPage:
    opened = DebuggerPage(page, url)
    opened.load(theme)
    return opened


def test_each_fault_is_one_message_and_the_next_run_works(watched: Any, public_url: str) -> None:
    page = _open(watched, public_url)
    nothing = ("error", "SERVER")
    for words, said, shown in (
        ("fail", "engine died", ("done", "REFUSED")),  # it said why: a finding in its own words
        ("garbage", "not JSON", nothing),
        ("endless", "larger than 32 MB", nothing),
    ):
        page.paste(REQUEST % words)
        page.page.click("#pd-run")

        expect(page.page.locator(".pd-sentence")).to_contain_text(said, timeout=PATIENCE_MS)
        assert (page.state(), page.badge()) == shown
    page.paste(REQUEST % "fine")
    page.page.click("#pd-run")

    expect(page.page.locator(".pd-verdict")).to_have_attribute("data-state", "done", timeout=PATIENCE_MS)


def test_a_server_that_hangs_can_be_stopped_and_the_next_run_works(watched: Any, public_url: str) -> None:
    page = _open(watched, public_url)
    page.paste(REQUEST % "hang")
    page.page.click("#pd-run")
    expect(page.page.locator(".pd-verdict")).to_have_attribute("data-state", "running")
    page.page.click("#pd-stop")
    expect(page.page.locator(".pd-verdict")).to_have_attribute("data-state", "stopped")
    page.paste(REQUEST % "fine")
    page.run()

    assert page.state() == "done"


def test_more_runs_than_a_minute_allows_are_refused_with_the_time_to_wait(watched: Any, public_url: str) -> None:
    page = _open(watched, public_url)
    page.paste('{"messages": 7}')  # counts as a run, and is over at once
    for _ in range(60):  # a click before the page has heard of the last one counts for nothing
        page.page.click("#pd-run")
        if "within a minute" in page.sentence():
            break

    expect(page.page.locator(".pd-sentence")).to_contain_text("started 10 runs within a minute", timeout=PATIENCE_MS)
    expect(page.page.locator("#pd-verdict .pd-badge")).to_have_text("LIMIT")
    expect(page.page.locator(".pd-detail")).to_contain_text("Run again in")
    assert page.request_text() == '{"messages": 7}'


def test_text_that_the_guard_refuses_leaves_a_page_that_can_run_again(page: Any, public_url: str) -> None:
    """Without the watch on the console: a browser logs each answer that is an error."""
    opened = _open(page, public_url)
    opened.paste("x{" * 2_500_000)
    opened.run()

    assert opened.sentence() == "The run did not start."
    expect(opened.page.locator(".toast-body").first).to_contain_text("shorten the text")
    opened.load()
    opened.paste(REQUEST % "fine")
    opened.run()
    assert opened.state() == "done"


def test_two_pages_side_by_side_show_their_own_words(watched: Any, context: Any, public_url: str) -> None:
    mine, theirs = _open(watched, public_url), _open(context.new_page(), public_url)
    mine.paste(REQUEST % "MY-OWN-WORDS")
    theirs.paste(REQUEST % "THEIR-OWN-WORDS")
    mine.page.click("#pd-run")
    theirs.page.click("#pd-run")
    for page in (mine, theirs):
        page.wait_for_end()
        page.open_stage("complete")

    texts = [page.page.inner_text("#pd-panel-complete") for page in (mine, theirs)]
    assert ["ECHO MY-OWN-WORDS" in texts[0], "ECHO THEIR-OWN-WORDS" in texts[1]] == [True, True]
    assert ["THEIR-OWN-WORDS" in texts[0], "MY-OWN-WORDS" in texts[1]] == [False, False]


def test_a_page_without_a_server_says_so_before_and_after_run(watched: Any, lonely_url: str) -> None:
    page = _open(watched, lonely_url)
    expect(page.page.locator("#pd-lab")).to_contain_text("No lab on this page")
    expect(page.page.locator(".pd-verdict")).to_have_attribute("data-state", "recorded")
    assert page.badge() == "DROPPED"
    page.paste(REQUEST % "hello")
    page.page.click("#pd-run")
    expect(page.page.locator("#pd-verdict .pd-badge")).to_have_text("NO SERVER")

    assert "on your own machine" in page.page.inner_text(".pd-detail")


def test_no_one_names_an_endpoint_where_none_is_listed(watched: Any, lonely_url: str) -> None:
    page = _open(watched, lonely_url)
    page.page.locator("#pd-target button").first.click()

    expect(page.page.get_by_label("Tool parser of the lab")).to_be_visible()
    for label in ("Endpoint", "Model", "Tokenizer"):
        expect(page.page.get_by_label(label, exact=True)).to_have_count(0)


def test_a_listed_endpoint_may_be_named_and_no_other(watched: Any, listed_url: str) -> None:
    page = _open(watched, listed_url)
    page.aim_at("http://169.254.169.254/latest")
    page.run()
    refused = page.sentence()
    field = page.page.get_by_label("Endpoint", exact=True)

    expect(field).to_have_attribute("placeholder", "https://listed.example/v1")
    assert "This page sends nothing to 'http://169.254.169.254/latest'" in refused


def test_a_public_page_fits_the_window(watched: Any, listed_url: str) -> None:
    page = _open(watched, listed_url)
    page.page.locator("#pd-target button").first.click()
    expect(page.page.get_by_label("Endpoint", exact=True)).to_be_visible()

    page.assert_fits(1440, 1024, 400)


def test_a_public_page_breaks_no_accessibility_rule(watched: Any, listed_url: str) -> None:
    page = _open(watched, listed_url)
    page.page.locator("#pd-target button").first.click()
    expect(page.page.get_by_label("Endpoint", exact=True)).to_be_visible()

    assert violations_in_both_themes(page.page, "body", GRADIO_RULES) == []
