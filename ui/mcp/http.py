"""The server over streamable HTTP: listens, answers to its own names alone, takes bodies as long as the page's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from prompt_debugger.core.base.egress import know_own_name
from prompt_debugger.core.base.listening import listen_on
from prompt_debugger.ui.web.security import MAX_BODY_BYTES, MAX_PUBLIC_BODY_BYTES
from prompt_debugger.ui.web.settings import PageSettings

_MAX_CONNECTIONS = 256


class _Server(uvicorn.Server):
    """One that leaves signals to its caller: uvicorn's own handling ends the process before labs are ended."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


async def serve_http(
    server: MCPServer[Any], settings: PageSettings, on_ready: Callable[[str], None], ending: asyncio.Event
) -> None:
    """Serve until `ending` is set.

    Raises:
        DebuggerError: The port is taken.
    """
    know_own_name(settings.host)
    app = server.streamable_http_app(
        max_request_body_size=MAX_PUBLIC_BODY_BYTES if settings.public else MAX_BODY_BYTES,
        transport_security=own_names(settings),
        host=settings.host,
    )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    with closing(listen_on(settings.host, settings.port)) as listener:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        on_ready(f"http://{host}:{listener.getsockname()[1]}")
        serving = _Server(config)
        ended = asyncio.create_task(_end_when(ending, serving))
        try:
            await serving.serve(sockets=[listener])
        finally:
            ended.cancel()


async def _end_when(ending: asyncio.Event, serving: uvicorn.Server) -> None:
    await ending.wait()
    serving.should_exit = True


def own_names(settings: PageSettings) -> TransportSecuritySettings:
    """Return which Host and Origin headers are answered: against pages that point their own name at this machine."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    names = ("127.0.0.1", "localhost", "[::1]", host, *settings.trusted_hosts)
    hosts = [spelling for name in names for spelling in (name, f"{name}:*")]
    origins = [f"{scheme}://{name}" for name in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
