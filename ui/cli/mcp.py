"""Serve the commands as tools of the Model Context Protocol, over standard input and output or HTTP."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.keys import take_keys
from prompt_debugger.core.complete import guard_of
from prompt_debugger.ui.cli.front import until_stopped
from prompt_debugger.ui.cli.output import OK
from prompt_debugger.ui.cli.page import ENDPOINTS_VARIABLE
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.target_options import add_run_time, add_target_arguments, target_from_options

if TYPE_CHECKING:
    from prompt_debugger.ui.web.settings import PageSettings

_PATH = "/mcp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_target_arguments(parser)
    add_run_time(parser)
    parser.add_argument("--http", action="store_true", help="streamable HTTP instead of standard input and output")
    parser.add_argument("--host", default="127.0.0.1", help="with --http: address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=7870, help="with --http: port, 0 for any free one (default: 7870)")
    parser.add_argument(
        "--public", action="store_true", help="for untrusted clients: what the public page offers (docs/public-mode.md)"
    )
    parser.add_argument(
        "--allow-endpoint",
        action="append",
        metavar="URL",
        help=f"with --public: a server that clients may use, repeatable (default: those in {ENDPOINTS_VARIABLE})",
    )
    parser.add_argument(
        "--host-name", action="append", default=[], metavar="NAME", help="a host name that clients reach it by"
    )
    parser.add_argument(
        "--trusted-proxy", action="append", default=[], metavar="ADDRESS", help="a proxy trusted to report addresses"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp_types") is None:
        raise DebuggerError(
            "The MCP SDK, version 2, is not installed.", 'Install it: `pip install "prompt-debugger[mcp]"`.'
        )
    lab = options.lab and not options.endpoint
    options.lab = True  # without any server the tools that need one say so
    target = target_from_options(options)
    take_keys([options.api_key_env] if options.api_key_env else [])
    from prompt_debugger.ui.web.settings import PageSettings

    endpoints = options.allow_endpoint or os.environ.get(ENDPOINTS_VARIABLE, "").split()
    settings = PageSettings(
        target=target,
        host=options.host,
        port=options.port,
        public=options.public,
        endpoints=guard_of(endpoints).base_urls,
        trusted_hosts=tuple(options.host_name),
        proxies=tuple(options.trusted_proxy),
        lab=lab,
    )
    return _serve(settings, over_http=options.http)


def _serve(settings: PageSettings, *, over_http: bool) -> int:
    from prompt_debugger.core.sandbox import close_sandboxes, sandbox_of
    from prompt_debugger.core.sandbox.lock_report import report_unlocked
    from prompt_debugger.core.tools.lab import LabPool
    from prompt_debugger.ui.mcp.http import serve_http
    from prompt_debugger.ui.mcp.server import build_server
    from prompt_debugger.ui.mcp.tools import Tools
    from prompt_debugger.ui.web.admission.visitors import read_networks
    from prompt_debugger.ui.web.labs import PageLabs
    from prompt_debugger.ui.web.weak_sandbox import refuse_weak_sandbox

    if settings.public:
        unlocked = sandbox_of().call(report_unlocked)
        refuse_weak_sandbox(unlocked)
    pool = LabPool()
    with closing(Tools(settings, PageLabs(pool, enabled=settings.lab))) as tools:
        try:
            server = build_server(tools, read_networks(settings.proxies))
            if over_http:
                asyncio.run(_until_stopped(partial(serve_http, server, settings, _report_address)))
            else:
                asyncio.run(server.run_stdio_async())
        finally:
            pool.stop_all()
            close_sandboxes()
    return OK


def _report_address(url: str) -> None:
    log(f"MCP server at {url}{_PATH}")


async def _until_stopped(serve: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    with until_stopped() as ending:
        await serve(ending)
