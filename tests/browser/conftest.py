"""A browser, pages that fail on any console error or outside request, and the program's own page."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from tests.browser.chromium import CHROMIUM_ARGUMENTS, find_chromium
from tests.browser.kept import KeptPage
from tests.browser.page import DebuggerPage
from tests.browser.servers import KeyRequiringProxy
from tests.browser.static_page import build_static_page
from tests.browser.tab import Tab
from tests.browser.tasks import KEY
from tests.patience import PATIENCE_MS
from tests.threads import in_thread

if TYPE_CHECKING:
    from prompt_debugger.ui.web.labs import PageLabs

_WITH_VLLM = re.compile(r"mark\.(?:lab|vllm)\b|\b(?:labs|lab_url|lab_page|keyed_vllm|page_labs)\b")
_VIEWS_URL = "http://localhost/views"  # never asked for: the test answers itself
_log = logging.getLogger(__name__)
expect.set_options(timeout=PATIENCE_MS)

Keep = Callable[..., DebuggerPage]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put browser tests last: playwright keeps an event loop running, under which no async test can run.

    Of these the files with a real vLLM come first, then what is marked `slow`: neither is left for one process alone.
    """
    items.sort(key=_place_of)


def _place_of(item: pytest.Item) -> int:
    if item.get_closest_marker("browser") is None:
        return 0
    if _has_vllm(item.path):
        return 1
    return 2 if item.get_closest_marker("slow") else 3


@functools.cache
def _has_vllm(file: Path) -> bool:
    """Return whether a file of tests starts a real vLLM: by its text, as no process but a worker collects."""
    return _WITH_VLLM.search(file.read_text(encoding="utf-8")) is not None


def share_of(file: Path) -> str:
    """Return the name of what goes to one process together with a file: all files with a real vLLM do."""
    return "vllm" if _has_vllm(file) else str(file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give the tests of a file to one process, wherever that is asked for (`--dist loadfile`).

    xdist's own groups come to nothing with pytest 9.2, where the id of a test is no longer an attribute of it.
    """
    if config.getoption("dist") != "loadfile":
        return None
    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = lambda name: share_of(config.rootpath / name.partition("::")[0])
    return scheduler


@pytest.fixture(scope="session")
def base_url() -> str:
    """In place of the one of pytest-base-url, at which pytest 9 warns; pages here name their own address."""
    return ""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium: install it, or run `make browser`")
    return {**browser_type_launch_args, "executable_path": path, "args": list(CHROMIUM_ARGUMENTS)}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_context_args,
        "viewport": {"width": 1440, "height": 900},
        "permissions": ["clipboard-read", "clipboard-write"],
        "reduced_motion": "reduce",
    }


@pytest.fixture(scope="session")
def tab(browser: Any, browser_context_args: dict[str, Any]) -> Iterator[Tab]:
    tab = Tab(lambda: browser.new_context(**browser_context_args), browser_context_args["viewport"])
    yield tab
    tab.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, tab: Tab) -> Iterator[Any]:
    """The tab that tests share, with nothing of earlier ones; a test that records itself gets one of its own."""
    if any(request.config.getoption(name) != "off" for name in ("--tracing", "--video", "--screenshot")):
        yield request.getfixturevalue("new_context")().new_page()
        return
    yield tab.take(goes_on="keep" in request.fixturenames)
    tab.give_back(is_sound=has_passed(request.node))


def has_passed(test: Any) -> bool:
    """Return whether the body of a test went well."""
    return hasattr(test, "rep_call") and bool(test.rep_call.passed)


@pytest.fixture
def context(page: Any) -> Any:
    """The context of the page, in place of another one."""
    return page.context


@pytest.fixture
def watched(page: Any) -> Iterator[Any]:
    """A page that fails the test on a console error, a script error, or a request to another machine."""
    faults: list[str] = []

    def refuse(dialog: Any) -> None:
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()  # an open one would hold the page for good

    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.on("dialog", refuse)
    page.on("request", lambda request: faults.append(f"outside: {request.url}") if _is_outside(request.url) else None)
    yield page
    assert faults == []


@pytest.fixture
def show(watched: Any) -> Callable[..., DebuggerPage]:
    """Return a function that shows the views of a trace on a page without gradio."""

    def show_trace(trace: Trace, *, dark: bool = False) -> DebuggerPage:
        body = build_static_page(trace, dark=dark)
        watched.route(_VIEWS_URL, lambda route: route.fulfill(body=body, content_type="text/html; charset=utf-8"))
        watched.goto(_VIEWS_URL)
        watched.wait_for_selector("html[data-ready=true]")
        return DebuggerPage(watched)

    return show_trace


@pytest.fixture(scope="session")
def bare_url() -> Iterator[str]:
    """The program's page without a lab: for whatever needs no model."""
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    settings = PageSettings(port=0, lab=False)
    app = build_app(settings)
    yield serve_app(app, settings)[1].rstrip("/")
    app.close(verbose=False)


@pytest.fixture(scope="session")
def unrun_url() -> Iterator[str]:
    """The page aimed at a server of someone's: nothing has run, and nothing recorded is shown."""
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    settings = PageSettings(target=Target(base_url="http://127.0.0.1:9/v1"), port=0, lab=False)
    app = build_app(settings)
    yield serve_app(app, settings)[1].rstrip("/")
    app.close(verbose=False)


@pytest.fixture(scope="session")
def page_labs() -> Iterator[PageLabs]:
    """The labs of the page that has any; stopped at the end."""
    from prompt_debugger.ui.web.labs import PageLabs

    labs = PageLabs(LabPool(), enabled=True)
    if not labs.enabled:
        pytest.skip("vLLM is not installed")
    yield labs
    labs.close()


@pytest.fixture(scope="session")
def lab_url(page_labs: PageLabs) -> Iterator[str]:
    """The program's page with its lab, which boots at the first run."""
    from prompt_debugger.ui.web.launch import build_app, serve_app
    from prompt_debugger.ui.web.settings import PageSettings

    settings = PageSettings(port=0)
    app = build_app(settings, page_labs)
    yield serve_app(app, settings)[1].rstrip("/")
    app.close(verbose=False)


@pytest.fixture
def theme() -> str:
    """The theme that a page is loaded in; a test that wants both is parametrised with it."""
    return "light"


@pytest.fixture
def window_width() -> int | None:
    """How wide the window is from the start, where a test says so."""
    return None


@pytest.fixture
def bare(watched: Any, bare_url: str, theme: str, window_width: int | None) -> DebuggerPage:
    if window_width is not None:
        watched.set_viewport_size({"width": window_width, "height": 850})
    page = DebuggerPage(watched, bare_url)
    page.load(theme)
    return page


@pytest.fixture
def unrun(watched: Any, unrun_url: str) -> DebuggerPage:
    page = DebuggerPage(watched, unrun_url)
    page.load()
    return page


@pytest.fixture
def keep(request: pytest.FixtureRequest, tab: Tab, watched: Any, theme: str) -> Iterator[Keep]:
    """Return a function that gives the page which the test before has left as it was found, or one loaded anew.

    It takes the address, and what brings a page that was loaded into the state that its tests begin with.
    """

    def load(url: str, prepare: Callable[..., object] = DebuggerPage.settle_layout, *arguments: object) -> DebuggerPage:
        page, name = DebuggerPage(watched, url), (url, theme, prepare, arguments)
        if tab.kept and tab.kept.name == name:
            differences = tab.kept.differences()
            if not differences:
                return page
            _log.info("loaded anew, for the test before left other %s", differences)
        if tab.kept:
            tab.clear()
        page.load(theme)
        prepare(page, *arguments)
        if tab.holds(watched):
            tab.put_window_back()
            tab.kept = KeptPage(name, page)
        return page

    yield load
    if tab.kept and has_passed(request.node):
        tab.put_window_back()
        tab.kept.put_back()


@pytest.fixture
def loaded(keep: Keep, bare_url: str) -> DebuggerPage:
    """The program's page without a lab, as after a load, for a test that reads, or puts back what it changes."""
    return keep(bare_url)


@pytest.fixture
def lab_page(watched: Any, lab_url: str, theme: str) -> DebuggerPage:
    page = DebuggerPage(watched, lab_url)
    page.load(theme)
    return page


@pytest.fixture
def keyed_vllm(lab_page: DebuggerPage, page_labs: PageLabs) -> Iterator[str]:
    """A real vLLM that wants a key: the lab's, behind a proxy. The page is as at its first load again."""
    lab_page.run()  # boots it
    expect(lab_page.page.locator(".pd-history-run")).to_have_count(1)  # what is kept of it is written
    lab = next(lab for lab in page_labs.pool.labs if lab.is_alive and lab.spec.tool_parser == "kimi_k2")
    lab_page.page.evaluate("localStorage.clear()")
    with in_thread(KeyRequiringProxy(lab.base_url, KEY)) as url:
        lab_page.load()
        yield url


def _is_outside(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about") and parts.hostname not in ("127.0.0.1", "localhost")
