"""Open the page in the browser (the command when none is given)."""

from __future__ import annotations

import argparse
import ipaddress
import os

from prompt_debugger.core.base.descriptors import require_descriptors
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.keys import take_keys
from prompt_debugger.core.base.listening import listen_on
from prompt_debugger.core.complete import guard_of
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.target_options import add_run_time, add_target_arguments, target_from_options
from prompt_debugger.ui.frozen_memory import kept_for_good

ENDPOINTS_VARIABLE = "PROMPT_DEBUGGER_ENDPOINTS"
INSTALL_VARIABLE = "PROMPT_DEBUGGER_INSTALL_LAB"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_target_arguments(parser)
    add_run_time(parser)
    on_space = is_on_space()
    host = "0.0.0.0" if on_space else "127.0.0.1"
    parser.add_argument("--host", default=host, help=f"address to listen on (default: {host})")
    parser.add_argument("--port", type=int, default=7860, help="port to listen on (default: 7860)")
    parser.add_argument(
        "--public",
        action="store_true",
        default=on_space,
        help="settings for a page with untrusted visitors; always on in a Hugging Face Space (docs/public-mode.md)",
    )
    parser.add_argument(
        "--allow-endpoint",
        action="append",
        metavar="URL",
        help=f"a server that visitors of a public page may use, repeatable (default: those in {ENDPOINTS_VARIABLE})",
    )
    parser.add_argument(
        "--host-name", action="append", default=[], metavar="NAME", help="a host name of the page, repeatable"
    )
    parser.add_argument(
        "--trusted-proxy",
        action="append",
        metavar="ADDRESS",
        help=(
            "a proxy, or network of proxies, trusted to report client addresses, repeatable (default: none; in "
            "a Space the Hub's)"
        ),
    )
    parser.add_argument(
        "--install-lab",
        action=argparse.BooleanOptionalAction,
        default=_installs_by_itself(),
        help="install vLLM in the background if there is none (docs/lab.md); visitors of a public page never can "
        f"(default: in a Space, and where {INSTALL_VARIABLE} is 1)",
    )
    parser.add_argument(
        "--accept-weak-sandbox",
        action="store_true",
        default=on_space,
        help=(
            "serve a public page even if the system cannot lock the sandbox completely; what is missing is "
            "printed at the start (docs/security.md; default: in a Space)"
        ),
    )
    parser.add_argument(
        "--verification", default="", metavar="FILE", help="journal or results of `verify` that the page opens"
    )
    parser.set_defaults(run=_run)


def _installs_by_itself() -> bool:
    return os.environ.get(INSTALL_VARIABLE, "1" if is_on_space() else "0") == "1"


def is_on_space() -> bool:
    """Return whether this runs in a Hugging Face Space."""
    return bool(os.environ.get("SPACE_ID"))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _run(options: argparse.Namespace) -> int:
    from prompt_debugger.ui.web.admission.visitors import SPACE_PROXIES, read_networks

    proxies = tuple(options.trusted_proxy or (SPACE_PROXIES if is_on_space() else ()))
    try:
        read_networks(proxies)
    except ValueError as error:
        raise RequestError(
            f"A trusted proxy is not an address: {error}", "Give an address or network such as `10.0.0.0/8`."
        ) from None
    endpoints = options.allow_endpoint or os.environ.get(ENDPOINTS_VARIABLE, "").split()
    host_names = [*options.host_name, *filter(None, [os.environ.get("SPACE_HOST")])]
    lab = options.lab and not options.endpoint
    if not options.public and not _is_loopback(options.host):
        log(
            f"Warning: the page listens on {options.host}, so others on the network can use it with your "
            "rights: add --public if untrusted users can reach it (docs/public-mode.md)."
        )
    require_descriptors()
    with listen_on(options.host, options.port):
        pass  # said now, before seconds of imports
    options.lab = True  # a page goes without any server and says so; `lab` above says whether it may boot one
    target = target_from_options(options)
    take_keys([options.api_key_env] if options.api_key_env else [])
    with kept_for_good():
        from prompt_debugger.ui.web.work_sandbox import start_work_sandbox

        start_work_sandbox()  # its imports run alongside those of gradio, which take longer
        from prompt_debugger.ui.web.launch import launch_app  # seconds: only this command pays
        from prompt_debugger.ui.web.settings import PageSettings

    launch_app(
        PageSettings(
            target=target,
            host=options.host,
            port=options.port,
            public=options.public,
            endpoints=guard_of(endpoints).base_urls,
            trusted_hosts=tuple(host_names),
            proxies=proxies,
            lab=lab,
            installs_lab=lab and options.install_lab,
            verification=options.verification,
            accepts_weak_sandbox=options.accept_weak_sandbox,
        )
    )
    return 0
