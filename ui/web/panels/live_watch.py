"""The live panel: watch the target as clients ask it; what passes is counted, and each exchange opens as a run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

import gradio as gr

from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.fields import build_choice
from prompt_debugger.ui.web.panels.verification import OPEN_LIMIT, wire_rows
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.verification import Verifications
from prompt_debugger.ui.web.views import build_asking_view

# Without ids calls that were dropped stay unknown.
_IDS = [("requested, and removed from what clients receive", ""), ("not requested: dropped calls stay unknown", "none")]


class LivePanel(NamedTuple):
    """Components of the live panel."""

    start: gr.Button
    stop: gr.Button
    ids: gr.Dropdown
    view: gr.HTML
    opened: gr.State


def build_live_watch(settings: PageSettings) -> LivePanel:
    """Place the panel; a public page starts no proxy, and says so."""
    shown = not settings.public
    with gr.Column(elem_id="pd-panel-live", elem_classes=["pd-panel"]):
        with gr.Row(elem_classes=["pd-bench-row"], elem_id="pd-live-row", visible=shown):
            ids = build_choice("Token ids", "pd-live-ids", _IDS, width=330)
            start = gr.Button(
                "Watch the target", variant="primary", elem_id="pd-start-live", size="sm", scale=0, min_width=140
            )
            stop = gr.Button("Stop", interactive=False, elem_id="pd-stop-live", size="sm", scale=0, min_width=60)
        if settings.public:
            gr.HTML(
                "<p>A proxy can be started only on your own machine, so this is off on a public page.</p>",
                elem_classes=["pd-off"],
            )
        view = build_asking_view("live_watch")
    return LivePanel(start, stop, ids, view, gr.State(()))


def wire_live_watch(page: Page, panel: LivePanel, verifications: Verifications) -> None:
    """Wire the panel."""
    request = page.request

    def buttons(*, runs: bool) -> Changes:
        return {panel.start: gr.Button(interactive=not runs), panel.stop: gr.Button(interactive=runs)}

    async def watch(visitor: gr.Request, ids: str, *fields: str) -> AsyncGenerator[Changes, None]:
        *aimed, key = fields
        yield buttons(runs=True)
        asked = (TargetFields(*aimed), str(key or ""), visitor.session_hash or "")
        async with aclosing(verifications.watch(*asked, asks_for_ids=not ids)) as steps:
            async for step in steps:
                kept: Changes = {panel.opened: step.opened} if step is not None and step.opened else {}
                yield {panel.view: gr.skip() if step is None else step.payload, **kept}
        yield buttons(runs=False)

    def stop(visitor: gr.Request) -> None:
        verifications.stop_watching(visitor.session_hash or "")

    inputs = [panel.ids, *request.sending_fields]
    outputs = [panel.view, panel.opened, panel.start, panel.stop]
    panel.start.click(watch, inputs, outputs, api_name="live_watch", concurrency_limit=OPEN_LIMIT, **quiet())
    panel.stop.click(stop, None, None, api_name="live_stop", queue=False, **quiet())
    wire_rows(page, panel.view, panel.opened, verifications, api_name="open_live_row")
