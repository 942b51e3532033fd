"""One tab for many tests: a browser that has shown the page before loads it at half the processor time.

It keeps what makes loading fast (files, compiled scripts) and nothing that a page can see: after each test storage,
clipboard, routes, listeners, emulated media, window and history are as in a new context. After what cannot be taken
back (a script put into every page, a second origin, a failure) the next test gets a new context.

A page that tests go on with (`tests/browser/kept.py`) stays until a test wants another one.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Error

from tests.browser.kept import KeptPage
from tests.patience import PATIENCE_MS

# How many times slower the page's scripts run: what goes wrong on a busy machine alone shows itself at once.
THROTTLE = os.environ.get("THROTTLE")
# Of page and context: what stays for as long as they are there, or is not looked after here.
LASTING = (
    "add_init_script",
    "add_locator_handler",
    "clear_permissions",
    "expose_binding",
    "expose_function",
    "grant_permissions",
    "new_cdp_session",
    "on",
    "once",
    "pause",
    "route",
    "route_from_har",
    "route_web_socket",
    "set_default_navigation_timeout",
    "set_default_timeout",
    "set_extra_http_headers",
    "set_geolocation",
    "set_offline",
)
TAKEN_BACK = ("on", "route")  # those of the page itself
_BLANK = "<!doctype html><title>between two tests</title>"
_FORGET = "async () => { sessionStorage.clear(); globalThis.name = ''; await navigator.clipboard.writeText(''); }"


class Tab:
    """A page in a context of its own, which tests use one after the other.

    Attributes:
        contexts: How many contexts there have been.
        kept: The page that the next test may go on with, as it was found.
    """

    def __init__(self, new_context: Callable[[], Any], viewport: dict[str, int]) -> None:
        """Open nothing yet.

        Args:
            new_context: Makes a context as every test shall find it.
            viewport: The size of its window.
        """
        self.contexts = 0
        self.kept: KeptPage | None = None
        self._new_context = new_context
        self._viewport = viewport
        self._page: Any = None
        self._devtools: Any = None
        self._listeners: list[tuple[str, Any]] = []
        self._origins: set[str] = set()
        self._is_spoilt = False

    def take(self, *, goes_on: bool = False) -> Any:
        """Return the page: blank, with nothing of earlier tests.

        Args:
            goes_on: Whether a kept page may be there still.
        """
        if self.kept and not goes_on:
            self.clear()
        if self._page is None:
            self._open()
        return self._page

    def holds(self, page: Any) -> bool:
        """Return whether a page is the one that tests share."""
        return page is self._page

    def give_back(self, *, is_sound: bool) -> None:
        """Forget all that a test has left.

        Args:
            is_sound: Whether the test went well; after another one no one knows what is still open.
        """
        if self._page is None or not is_sound or self._is_spoilt or not self._is_at_one_place():
            self.close()
        elif self.kept:
            self._let_go()
        else:
            self.clear()

    def put_window_back(self) -> None:
        """Put back the window's size, the media it shows, and the pointer, which is outside."""
        page = self._page
        page.mouse.move(-1, -1)
        page.set_viewport_size(self._viewport)
        page.emulate_media(
            media="null", color_scheme="light", reduced_motion="reduce", forced_colors="none", contrast="no-preference"
        )

    def clear(self) -> None:
        """Make the page blank, with nothing of what was there."""
        self.kept = None
        try:
            self._clear()
        except Error:  # the page is gone, or does not answer
            self.close()

    def close(self) -> None:
        """End the context; the next test gets another one."""
        if self._page is not None:
            self._page.context.close()
        self._page = self.kept = None

    def _open(self) -> None:
        context = self._new_context()
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        self.contexts += 1
        self._page, self._listeners, self._origins, self._is_spoilt = page, [], set(), False
        self._devtools = context.new_cdp_session(page)
        self._devtools.on("Fetch.requestPaused", self._answer_blank)
        if THROTTLE:
            self._devtools.send("Emulation.setCPUThrottlingRate", {"rate": float(THROTTLE)})
        page.on("framenavigated", lambda frame: self._origins.add(_origin(frame.url)))
        for owner in (page, context):
            for name in LASTING:
                if hasattr(owner, name) and not (owner is page and name in TAKEN_BACK):
                    setattr(owner, name, self._spoiling(getattr(owner, name)))
        page.on = self._noting(page.on)

    def _spoiling(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self._is_spoilt = True
            return method(*arguments, **named)

        return call

    def _noting(self, listen: Callable[..., Any]) -> Callable[..., Any]:
        def call(event: str, listener: Any) -> Any:
            self._listeners.append((event, listener))
            return listen(event, listener)

        return call

    def _is_at_one_place(self) -> bool:
        return len(self._origins - {""}) <= 1 and all(origin.startswith("http") for origin in self._origins - {""})

    def _answer_blank(self, paused: Any) -> None:
        # `page.route` would do as well, but turns the cache off: files and compiled scripts would be fetched anew.
        headers = [{"name": "content-type", "value": "text/html"}]
        body = b64encode(_BLANK.encode()).decode()
        self._devtools.send(
            "Fetch.fulfillRequest",
            {"requestId": paused["requestId"], "responseCode": 200, "responseHeaders": headers, "body": body},
        )

    def _let_go(self) -> None:
        page = self._page
        for other in page.context.pages:
            if other is not page:
                other.close()
        for event, listener in self._listeners:
            page.remove_listener(event, listener)
        self._listeners = []
        page.unroute_all()

    def _clear(self) -> None:
        self._let_go()
        self.put_window_back()
        page = self._page
        for origin in self._origins - {""}:
            self._devtools.send("Fetch.enable", {"patterns": [{"urlPattern": f"{origin}/"}]})
            page.goto(f"{origin}/")  # what is done at leaving is done; only from here the tab's storage is reached
            self._devtools.send("Fetch.disable")
            page.evaluate(_FORGET)
            self._devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        page.context.clear_cookies()
        page.goto("about:blank")
        self._devtools.send("Page.resetNavigationHistory")
        self._origins = set()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return "" if parts.scheme in ("about", "") else f"{parts.scheme}://{parts.netloc}"
