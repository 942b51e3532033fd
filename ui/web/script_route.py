"""The page's scripts: ES modules under an address that names their version, and the tags that ask for them.

The tags go into the page itself, ahead of gradio's own script: a module runs in the order of the page, so what gradio
calls by name is there before gradio is. What gradio puts into the head (`head=`) would come at some time after it.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from functools import cache

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response

from prompt_debugger.ui.rule_pages import RULES_PATH, rules_html
from prompt_debugger.ui.scripts import needed_by, read_script
from prompt_debugger.ui.web.admission.events import App, Message, Receive, Send

ENTRY = "page/page_entry.js"
SCRIPTS_PATH = re.compile(r"/scripts/([0-9a-f]{16})/([\w./]+)")

_HEAD = b"<head>"
_OK = 200
_NAMING = (b"x-forwarded-host", b"host")  # what gradio writes into the page; the first that is there
_FORWARDED_SCHEME = b"x-forwarded-proto"
_ANY_HOST = b"page.invalid"  # stands in the page for the name under which it is reached
_KEEP = "public, max-age=31536000, immutable"  # another version has another address


@cache
def scripts_version() -> str:
    """Return what changes with any script of the page."""
    whole = "\0".join(f"{name}\0{read_script(name)}" for name in needed_by(ENTRY))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def script_tags() -> str:
    """Return the tags that fetch all modules at once and run the entry; addresses are relative to the page's own."""
    place = f"scripts/{scripts_version()}"
    early = "".join(f'<link rel="modulepreload" href="{place}/{name}">' for name in needed_by(ENTRY))
    return f'{early}<script type="module" src="{place}/{ENTRY}"></script>'


class ScriptRoute:
    """Answers for the modules, and names them in the page; everything else is passed on."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.version = scripts_version()
        self.plain = {name: read_script(name).encode() for name in needed_by(ENTRY)}
        self.packed = {name: gzip.compress(body, mtime=0) for name, body in self.plain.items()}
        self._page: tuple[Message, bytes] | None = None
        self._writing = asyncio.Lock()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        path = scope["path"] if scope["type"] == "http" else ""
        asked = SCRIPTS_PATH.fullmatch(path)
        if asked is not None:
            await self._answer(asked[1], asked[2], scope)(scope, receive, send)
        elif path == "/" and scope["method"] in ("GET", "HEAD"):
            await self._send_page(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _send_page(self, scope: Message, receive: Receive, send: Send) -> None:
        """Send the page itself: written once, with the address under which it is reached put in for each who asks.

        Gradio writes it anew for everyone, in a thread each: forty at once held up all others for seconds. Written once
        for each address, those who named ever new ones in `Host` held up everyone who came.
        """
        known = self._page
        if known is None:
            async with self._writing:
                written = self._page or await self._write(scope, receive)
            if isinstance(written, list):
                for message in written:
                    await send(message)
                return
            known = written
        start, page = known
        body = page.replace(b"http://" + _ANY_HOST, address_of(scope))
        headers = MutableHeaders(raw=[*start["headers"]])
        headers["content-length"] = str(len(body))
        await send({**start, "headers": headers.raw})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})

    async def _write(self, scope: Message, receive: Receive) -> tuple[Message, bytes] | list[Message]:
        """Let gradio write the page for no name; returns its refusal, if it refuses."""
        dropped = {b"accept-encoding", _FORWARDED_SCHEME, *_NAMING}
        headers = [(name, value) for name, value in scope["headers"] if name not in dropped]
        asked = {"method": "GET", "scheme": "http", "query_string": b"", "headers": [(b"host", _ANY_HOST), *headers]}
        written: list[Message] = []

        async def keep(message: Message) -> None:
            written.append(message)

        await self.app({**scope, **asked}, receive, _PageWithTags(keep).send)
        if not written or written[0]["status"] != _OK:
            return written
        start, body = written
        self._page = start, body["body"]
        return self._page

    def _answer(self, version: str, name: str, scope: Message) -> Response:
        if version != self.version or name not in self.plain:
            return Response("Not found", status_code=404)
        headers = {"cache-control": _KEEP, "vary": "accept-encoding"}
        if "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            return Response(self.plain[name], headers=headers, media_type="text/javascript")
        packed = {**headers, "content-encoding": "gzip"}
        return Response(self.packed[name], headers=packed, media_type="text/javascript")


def address_of(scope: Message) -> bytes:
    """Return the address under which a page is reached, as gradio makes it; the names have been looked at before."""
    headers = dict(reversed(scope["headers"]))  # of several the first counts
    host: bytes = next((headers[name] for name in _NAMING if name in headers), b"")
    forwarded = headers.get(_FORWARDED_SCHEME, b"").partition(b",")[0].strip()
    is_secure = forwarded == b"https" or (scope.get("scheme") == "https" and b"x-forwarded-host" not in headers)
    return (b"https://" if is_secure else b"http://") + host


class _PageWithTags:
    """Sends the page on with our tags after the start of its head."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Hold the answer back until it is complete."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message.get("body", b"")
        if message.get("more_body", False) or self._start is None:
            return
        body = self._body.replace(_HEAD, _HEAD + script_tags().encode(), 1)
        MutableHeaders(raw=self._start["headers"])["content-length"] = str(len(body))
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})


class RuleRoute:
    """Answers for the pages about the rules; everything else is passed on."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        asked = RULES_PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if asked is None:
            await self.app(scope, receive, send)
            return
        page = rules_html(asked[1])
        answer: Response = Response("Not found", status_code=404) if page is None else HTMLResponse(page)
        await answer(scope, receive, send)
