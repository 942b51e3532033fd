"""What the page's server refuses, and the headers it sends: routes closed, hosts checked, bodies bounded.

Gradio answers to any Host, takes bodies of any size, keeps an upload route even
for an app without files, and writes every value of the page to disk on its
deep-link route. None of these is used here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

MAX_BODY_BYTES = 12_000_000  # 2 M characters of request, each up to 4 bytes and escaped

CLOSED_PATHS = (
    "/gradio_api/deep_link",
    "/gradio_api/upload",
    "/gradio_api/upload_progress",
    "/gradio_api/info",
    "/gradio_api/openapi.json",
    "/gradio_api/component_server",
    "/gradio_api/vibe-edit",
    "/gradio_api/file={path:path}",
    "/gradio_api/proxy={path:path}",
    "/monitoring",
)

# Gradio's own scripts need inline code and eval; nothing may come from, or go to, anywhere else.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self' https://huggingface.co https://*.hf.space",
    )
)

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def closed_routes() -> list[Route]:
    """Return routes that come before gradio's and answer 404."""
    methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]
    return [Route(path, _closed, methods=methods) for path in CLOSED_PATHS]


def allowed_hosts(host: str, further: tuple[str, ...] = ()) -> list[str]:
    """Return the Host values that are answered: against pages that point their own name at this machine."""
    own = [] if host in ("0.0.0.0", "::") else [host]
    return sorted({"127.0.0.1", "localhost", "[::1]", "*.hf.space", *own, *further})


def build_middleware(host: str, further_hosts: tuple[str, ...] = ()) -> list[Middleware]:
    """Return the layers around gradio's app, outermost first."""
    return [
        Middleware(HeadersMiddleware),
        Middleware(TrustedHostMiddleware, allowed_hosts=allowed_hosts(host, further_hosts)),
        Middleware(BodyLimitMiddleware, max_bytes=MAX_BODY_BYTES),
    ]


class HeadersMiddleware:
    """Adds our headers to every answer."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on; complete the headers of its answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class BodyLimitMiddleware:
    """Refuses a body that is too long, by its announced length or while it comes in."""

    def __init__(self, app: App, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, counting what comes in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > self.max_bytes:
            await self._refuse(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                return {"type": "http.disconnect"}
            return message

        await self.app(scope, counted, send)

    async def _refuse(self, scope: Message, receive: Receive, send: Send) -> None:
        text = f"The request is longer than {self.max_bytes:,} bytes."
        await PlainTextResponse(text, status_code=413)(scope, receive, send)


async def _closed(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("Not found", status_code=404)
