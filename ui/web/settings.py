"""What the page is started with, and gradio's launch arguments as data that tests read."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.web.admission.kinds import OWN_ADMISSION, PUBLIC_ADMISSION
from prompt_debugger.ui.web.admission.visitors import read_networks
from prompt_debugger.ui.web.limits import PUBLIC_LIMITS, Limits
from prompt_debugger.ui.web.security import guard_page

RUN_LIMIT = 4
MAX_JOBS = 400  # events that proceed at the same time, runs that wait for their turn among them
MAX_UPLOAD = "1mb"


@dataclass(frozen=True, slots=True)
class PageSettings:
    """How the page is served.

    Attributes:
        target: Where requests go unless the page says otherwise.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        lab: Whether the lab may be booted, and is when the page starts.
        installs_lab: Whether vLLM is installed when the page starts, if it is not there.
        public: Settings for a page that untrusted users use: endpoints of a list only, limits per visitor.
        endpoints: Addresses of servers that visitors of a public page may name.
        trusted_hosts: Further values of the Host header to answer to.
        verification: What the verify panel offers to open; "" for nothing.
        accepts_weak_sandbox: Whether a public page is served where the sandbox's lock is incomplete.
        proxies: Addresses and networks of proxies that are believed about whom they speak for.
    """

    target: Target = field(default_factory=Target)
    host: str = "127.0.0.1"
    port: int = 7860
    lab: bool = True
    installs_lab: bool = False
    public: bool = False
    endpoints: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    verification: str = ""
    proxies: tuple[str, ...] = ()
    accepts_weak_sandbox: bool = False

    @property
    def limits(self) -> Limits:
        """What one visitor may use."""
        return PUBLIC_LIMITS if self.public else Limits(runs_at_once=RUN_LIMIT)


# What opens in gradio by the environment alone: files, sharing, history, reloading and writing of the page's code.
_CLEARED_VARIABLES = (
    "GRADIO_ALLOWED_PATHS", "GRADIO_DEBUG", "GRADIO_HISTORY_BUCKET", "GRADIO_HOT_RELOAD", "GRADIO_LOCAL_DEV_MODE",
    "GRADIO_MCP_SERVER", "GRADIO_NUM_WORKERS", "GRADIO_PROFILING", "GRADIO_RUN_HISTORY", "GRADIO_SHARE",
    "GRADIO_SSR_MODE", "GRADIO_STATIC_WORKER_PORTS", "GRADIO_VIBE_MODE", "GRADIO_WATCH_DIRS",
)  # fmt: skip


def prepare_environment() -> None:
    """Set what gradio reads from the environment; call before gradio is imported."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    # The queue keeps a line on each of the last 10,000 events and sums them up at each end: we look at none of it.
    os.environ["GRADIO_ANALYTICS_MAX_EVENTS"] = "1"
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = "1000000000"
    # Whose word about the visitor's address counts is said by an option of ours, not by the server beneath.
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    for name in _CLEARED_VARIABLES:
        os.environ.pop(name, None)


def launch_arguments(settings: PageSettings) -> dict[str, Any]:
    """Return the arguments of `Blocks.launch`; several of gradio's defaults would leak prompts."""
    admission = PUBLIC_ADMISSION if settings.public else OWN_ADMISSION
    return {
        "server_name": settings.host,
        "share": False,
        "ssr_mode": False,  # the Node proxy hides our routes and headers
        "run_history": False,  # keeps every input in the browser's storage, in clear
        "enable_monitoring": False,
        "mcp_server": False,
        "pwa": False,
        "show_error": False,
        "strict_cors": True,
        "state_session_capacity": 2
        * admission.pages,  # ours go by visitor, ui/web/admission/sessions.py; this is a fuse
        "max_threads": MAX_JOBS,
        "max_file_size": MAX_UPLOAD,
        "allowed_paths": [],
        "footer_links": [],
        "quiet": True,
        "_frontend": False,  # else gradio 6.31 gives up where a busy machine takes 3 s for the first answer
        "app_kwargs": {
            "docs_url": None,
            "redoc_url": None,
            "openapi_url": None,
            "lifespan": guard_page(
                settings.host, settings.trusted_hosts, read_networks(settings.proxies), is_public=settings.public
            ),
        },
    }
