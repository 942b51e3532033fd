"""What the page's server answers, to whom, and with which headers.

Gradio answers to any Host, lets any site call a page that is not on localhost, takes bodies of any size, and has
some sixty routes, among them uploads, files, a proxy, and one that writes all values of a page to disk. Our page
needs a dozen: these are open, in both modes, and whatever another release of gradio adds is closed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from prompt_debugger.ui.rule_pages import RULES_PATH
from prompt_debugger.ui.web.admission.events import App, EventGuard, KeptByServer, Message, Receive, Send
from prompt_debugger.ui.web.admission.kinds import OWN_ADMISSION, PUBLIC_ADMISSION
from prompt_debugger.ui.web.admission.payloads import read_table
from prompt_debugger.ui.web.admission.visitors import Network
from prompt_debugger.ui.web.call_route import CALLS, CallList
from prompt_debugger.ui.web.memory_release import MemoryRelease
from prompt_debugger.ui.web.script_route import SCRIPTS_PATH, RuleRoute, ScriptRoute

MAX_BODY_BYTES = OWN_ADMISSION.max_bytes
MAX_PUBLIC_BODY_BYTES = PUBLIC_ADMISSION.max_bytes
FORGET_EVERY_S = 10.0

_CALLED = "|".join(CALLS)

# Method and path of all that the page asks for, and of what programs may call by name (`ui.web.calls`).
OPEN_PATHS = (
    ("GET", r"/"),
    ("GET", r"/(assets|static)/[\w./~@+-]+"),
    ("GET", r"/(gradio_api/)?theme\.css"),
    ("GET", r"/(favicon\.ico|robots\.txt|manifest\.json)"),
    ("GET", RULES_PATH.pattern),
    ("GET", SCRIPTS_PATH.pattern),
    ("GET", r"/gradio_api/(app_id|startup-events)"),
    ("GET", r"/gradio_api/heartbeat/[\w-]+"),
    ("GET", r"/gradio_api/queue/data"),
    ("POST", r"/gradio_api/queue/join"),
    ("POST", r"/gradio_api/run/predict"),
    ("POST", r"/gradio_api/(cancel|reset)"),
    ("GET", r"/gradio_api/call"),
    ("POST", rf"/gradio_api/call/({_CALLED})"),
    ("GET", rf"/gradio_api/call/({_CALLED})/[0-9a-f]{{32}}"),
)


def security_headers(*, is_public: bool) -> dict[str, str]:
    """Return the headers of every answer; only a public page may be framed, by the Hub that shows it."""
    framers = "'self' https://huggingface.co https://*.hf.space" if is_public else "'self'"
    # Gradio's own scripts need inline code and eval; nothing may come from, or go to, anywhere else.
    policy = (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        f"frame-ancestors {framers}",
    )
    return {
        "content-security-policy": "; ".join(policy),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "cross-origin-resource-policy": "same-origin",
    }


def allowed_hosts(host: str, further: tuple[str, ...] = (), *, is_public: bool = False) -> frozenset[str]:
    """Return the names in the Host header that are answered: against pages that point their own name at this machine.

    An IP address is always answered (see `is_answered`): no one can point a name at us by it.
    """
    own = () if host in ("0.0.0.0", "::") else (host,)
    return frozenset({"localhost", *own, *further, *(("*.hf.space",) if is_public else ())})


def is_answered(host_header: str, names: frozenset[str]) -> bool:
    """Return whether a Host header names this page."""
    if is_named(host_header, names):
        return True
    try:
        return bool(ipaddress.ip_address(_name_in(host_header)))
    except ValueError:
        return False


def is_named(host_header: str, names: frozenset[str]) -> bool:
    """Return whether a header contains one of the names under which this page is reached."""
    name = _name_in(host_header)
    return name in names or any(name.endswith(known[1:]) for known in names if known.startswith("*."))


def _name_in(host_header: str) -> str:
    return urlsplit(f"//{host_header}").hostname or "" if _HOST.fullmatch(host_header) else ""


def is_own_origin(origin: str, host_header: str, names: frozenset[str]) -> bool:
    """Return whether a request that names its origin comes from this very page.

    Args:
        origin: The Origin header.
        host_header: The Host header.
        names: Allowed hosts; one that is spelled out counts, too, for a proxy may have changed the Host header.
    """
    scheme, _, place = origin.lower().partition("://")
    if scheme not in ("http", "https"):
        return False
    if place.removesuffix(_PORTS[scheme]) == host_header.lower().removesuffix(_PORTS[scheme]):
        return True
    return place in names and not _is_of_this_machine(place)


def _is_of_this_machine(place: str) -> bool:
    """Return whether a place without a port is an address: another server may listen on port 80 of it."""
    try:
        return bool(ipaddress.ip_address(place.strip("[]")))
    except ValueError:
        return place == "localhost" or place.endswith(".localhost")


def is_open(method: str, path: str) -> bool:
    """Return whether the page asks for such a thing."""
    method = "GET" if method == "HEAD" else method
    if ".." in path:
        return False
    return any(method == known and re.fullmatch(pattern, path) for known, pattern in OPEN_PATHS)


def guard_page(
    host: str, further_hosts: tuple[str, ...] = (), proxies: tuple[Network, ...] = (), *, is_public: bool = False
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return a lifespan that puts our layers around everything before the first request is taken.

    Middleware given to gradio would lie within its own, which answers questions of other sites itself.
    """
    names = allowed_hosts(host, further_hosts, is_public=is_public)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        from prompt_debugger.ui.web.memory import PageMemory  # gradio reads the environment when it is imported

        inner = app.middleware_stack
        assert inner is not None, "starlette builds it to enter the lifespan"
        blocks = app.get_blocks()  # type: ignore[attr-defined]  # gradio's own kind of app
        memory = PageMemory(blocks)
        works = {str(one.api_name): one.fn for one in blocks.fns.values() if not one.targets}
        table = read_table(blocks.config, memory.choices_of)
        events = EventGuard(inner, table, memory, PUBLIC_ADMISSION if is_public else OWN_ADMISSION, proxies)
        guarded = HostMiddleware(ScriptRoute(RuleRoute(CallList(events, works))), names)
        app.middleware_stack = HeadersMiddleware(guarded, security_headers(is_public=is_public))
        forgetting = asyncio.create_task(_forget_closed_pages(events, memory))
        yield
        forgetting.cancel()

    return lifespan


async def _forget_closed_pages(events: EventGuard, memory: KeptByServer) -> None:
    freed = MemoryRelease()
    while True:
        await asyncio.sleep(FORGET_EVERY_S)
        events.sessions.end_unheard()
        events.sessions.forget_closed()
        await freed.look((events.count, len(events.sessions)), is_busy=bool(memory.in_use()))


class HeadersMiddleware:
    """Adds our headers to every answer, and takes away what lets other sites read it."""

    def __init__(self, app: App, headers: dict[str, str]) -> None:
        self.app = app
        self.headers = headers

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on; complete the headers of its answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name in [name for name in headers if name.startswith("access-control-")]:
                    del headers[name]
                for name, value in self.headers.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class HostMiddleware:
    """Lets in who asks for this page by its name, from the page itself, for something the page has."""

    def __init__(self, app: App, names: frozenset[str]) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http":
            refusal = self._refusal_of(scope)
            await (refusal or self.app)(self._drop_naming_headers(scope), receive, send)
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":  # the page has none
            await send({"type": "websocket.close"})  # before it is accepted: a refusal, 403

    def _drop_naming_headers(self, scope: Message) -> Message:
        """Return a request without the headers by which anyone could tell gradio where this page is.

        Gradio writes that into the page, as the address which its script asks. A proxy may name one of our own.
        """
        kept = [
            (name, value)
            for name, value in scope["headers"]
            if name not in _NAMING or (name == _FORWARDED_HOST and is_named(value.decode("latin-1"), self.names))
        ]
        return {**scope, "headers": kept}

    def _refusal_of(self, scope: Message) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not is_answered(host, self.names):
            return _refusal(400, "This page does not accept that host name.")
        if origin is not None and not is_own_origin(origin, host, self.names):
            return _refusal(403, "Only the page itself may send this.")
        if not is_open(scope["method"], scope["path"]):
            return _refusal(404, "Not found")
        return None


def _refusal(status: int, text: str) -> JSONResponse:
    """Return a refusal in the form in which gradio's script looks for words to show."""
    return JSONResponse({"detail": text}, status_code=status)


_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")
# By these gradio lets anyone who asks name the page.
_FORWARDED_HOST = b"x-forwarded-host"
_NAMING = frozenset({_FORWARDED_HOST, b"x-gradio-server"})
_PORTS = {"http": ":80", "https": ":443"}
