"""Build the page and serve it."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial

from prompt_debugger.ui.web.settings import PageSettings, launch_arguments, prepare_environment
from prompt_debugger.ui.web.start_gradio import start_gradio

prepare_environment()
start_gradio()

import gradio as gr  # noqa: E402  # reads its settings from the environment at import
import httpx  # noqa: E402

from prompt_debugger.core.base.egress import know_own_name, lock, open_egress  # noqa: E402
from prompt_debugger.core.base.errors import MachineError  # noqa: E402
from prompt_debugger.core.base.listening import listen_on  # noqa: E402
from prompt_debugger.core.base.machine import fault_of  # noqa: E402
from prompt_debugger.core.render.tokenizers.hub import EGRESS as HUB_EGRESS  # noqa: E402
from prompt_debugger.core.render.worker.jobs import SANDBOX as RENDER_SANDBOX  # noqa: E402
from prompt_debugger.core.sandbox import close_sandboxes, end_jobs_for_others, sandbox_of  # noqa: E402
from prompt_debugger.core.sandbox.kernel import Kernel  # noqa: E402
from prompt_debugger.core.sandbox.lock_report import report_unlocked  # noqa: E402
from prompt_debugger.core.tools.lab import LabPool  # noqa: E402
from prompt_debugger.core.tools.lab.environment import is_supported  # noqa: E402
from prompt_debugger.ui.frozen_memory import kept_for_good  # noqa: E402
from prompt_debugger.ui.web.admission.connections import Connections, guard_connections  # noqa: E402
from prompt_debugger.ui.web.admission.visitors import read_networks  # noqa: E402
from prompt_debugger.ui.web.head import page_head  # noqa: E402
from prompt_debugger.ui.web.kept_signatures import keep_signatures  # noqa: E402
from prompt_debugger.ui.web.lab_install import LabInstall  # noqa: E402
from prompt_debugger.ui.web.labs import PageLabs  # noqa: E402
from prompt_debugger.ui.web.layout import place_panels  # noqa: E402
from prompt_debugger.ui.web.memory import keep_no_values, line_up_fairly  # noqa: E402
from prompt_debugger.ui.web.memory_release import keep_little  # noqa: E402
from prompt_debugger.ui.web.private_log import log_places_only  # noqa: E402
from prompt_debugger.ui.web.settings import RUN_LIMIT  # noqa: E402
from prompt_debugger.ui.web.stop_signals import StopSignals  # noqa: E402
from prompt_debugger.ui.web.theme import build_theme  # noqa: E402
from prompt_debugger.ui.web.unchanged_outputs import skip_cheaply  # noqa: E402
from prompt_debugger.ui.web.unpaired_text import escape_unpaired  # noqa: E402
from prompt_debugger.ui.web.weak_sandbox import refuse_weak_sandbox, unlocked_lines  # noqa: E402
from prompt_debugger.ui.web.whole_answers import answer_in_whole  # noqa: E402
from prompt_debugger.ui.web.work import check_pasted  # noqa: E402
from prompt_debugger.ui.web.work_sandbox import start_work_sandbox  # noqa: E402

_ANSWER_S = 30.0  # for the page to answer itself
_ASKED = "/gradio_api/startup-events"  # as gradio asks itself; it works nothing
_PATIENCE_S = 4.0  # from the signal to the end of the program


def labs_of(settings: PageSettings) -> PageLabs:
    """Return the labs of a page; whether one may be installed is the operator's decision, never a stranger's."""
    installs = LabInstall(
        is_offered=settings.lab and not settings.public and is_supported(), at_start=settings.installs_lab
    )
    return PageLabs(LabPool(), enabled=settings.lab, installs=installs)


def build_app(settings: PageSettings, labs: PageLabs | None = None) -> gr.Blocks:
    """Return the page; without `labs` it makes a pool of its own."""
    labs = labs or labs_of(settings)
    keep_no_values()
    keep_signatures()
    escape_unpaired()
    app = gr.Blocks(title="Prompt Debugger.", analytics_enabled=False, delete_cache=(3600, 3600), fill_width=True)
    # Admission decides what may wait, by visitor and by kind; this is a fuse. Set while the page is empty, for
    # gradio describes to itself all that is there.
    app.queue(default_concurrency_limit=RUN_LIMIT, max_size=2_000, api_open=False)
    with app:
        place_panels(settings, labs)
    skip_cheaply(app)
    answer_in_whole(app)
    return app


def launch_app(settings: PageSettings) -> None:
    """Serve the page until it is interrupted; the lab boots in the background."""
    if settings.public:
        lock(HUB_EGRESS)
    Kernel().hide()  # from other processes of this user
    keep_little()
    start_work_sandbox()
    if settings.public:
        end_jobs_for_others()
    labs = labs_of(settings)
    with kept_for_good():
        app = build_app(settings, labs)
    stop_signals = StopSignals(partial(_end_within, _PATIENCE_S))
    try:
        sandbox_of().call(check_pasted, "{}", is_public=settings.public)  # a page without its sandbox could do nothing
        report_unlocked_parts(settings)
        with kept_for_good():
            _, url, _ = serve_app(app, settings)
        _require_answer(url, settings)
        print(f"Prompt Debugger is at {url}", file=sys.stderr, flush=True)  # noqa: T201  # the address is the product of this command
        if settings.public:
            log_places_only()
        labs.warm_up(settings.target)
        if settings.installs_lab:
            labs.install(settings.target)
        if settings.public:
            sandbox_of(RENDER_SANDBOX).warm_up(is_all=True)  # no one waits for a process to start because others render
        stop_signals.wait()
    finally:
        _end_within(_PATIENCE_S)
        close_sandboxes()
        labs.close()
        with suppress(Exception):  # whatever gradio says about closing, the labs are gone
            app.close(verbose=False)


def report_unlocked_parts(settings: PageSettings) -> None:
    """Say which parts of the sandbox's lock this system lacks.

    Raises:
        SandboxError: Strangers would use the page, and the person who starts it did not accept that.
    """
    unlocked = sandbox_of().call(report_unlocked)
    for line in unlocked_lines(unlocked):
        print(line, file=sys.stderr, flush=True)  # noqa: T201  # anyone who starts the page has to know
    if settings.public and not settings.accepts_weak_sandbox:
        refuse_weak_sandbox(unlocked)


def _require_answer(url: str, settings: PageSettings) -> None:
    """Ask the page once, so that no address is announced that no one can reach.

    Raises:
        MachineError: It does not answer.
    """
    try:
        with (
            open_egress("own page", *_own_addresses(settings.host)),
            httpx.Client(trust_env=False, verify=False, timeout=_ANSWER_S) as client,  # it asks itself
        ):
            client.get(url.rstrip("/") + _ASKED)
    except (httpx.HTTPError, OSError) as error:
        fault = fault_of(error, "starting the page")
        raise fault or MachineError(
            f"The page was started but does not answer at {url}: {error}.",
            "See the lines above, and check the limits of this process: `ulimit -n`, `ulimit -v`.",
            kind="port",
        ) from None


def _end_within(seconds: float) -> None:
    """End the program even if something in it cannot be waited for; labs have a supervisor that ends them then."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def serve_app(app: gr.Blocks, settings: PageSettings) -> tuple[object, str, str]:
    """Start serving a page in the background and return gradio's app, the local URL and the shared one."""
    know_own_name(settings.host)
    with open_egress("own page", *_own_addresses(settings.host)):  # gradio asks the page whether it answers
        served = app.launch(
            **launch_arguments(settings),
            server_port=settings.port or _free_port(settings.host),
            theme=build_theme(),
            head=page_head(),
            prevent_thread_lock=True,
            inbrowser=False,
        )
    guard_connections(app.server, Connections(read_networks(settings.proxies)))
    line_up_fairly(app)
    return served


def _free_port(host: str) -> int:
    """Return a port that no one listens on: gradio's own search gives two pages that start at once the same one."""
    with listen_on(host, 0) as listener:
        return int(listener.getsockname()[1])


def _own_addresses(host: str) -> tuple[str, ...]:
    """Return the addresses at which this machine is reached by the name it listens on."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        found = []  # gradio will say so
    return (host, "127.0.0.1", "::1", *(str(entry[4][0]) for entry in found))
