"""The panels placed and wired: the only place that knows two of them. No logic."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import gradio as gr

from ui.present import lab_payload
from ui.web.handlers import Handlers, Payloads, TargetFields, check_request
from ui.web.labs import PageLabs
from ui.web.panels.request import RequestPanel, build_request_panel
from ui.web.panels.results import Views, build_header, build_results
from ui.web.settings import RUN_LIMIT, PageSettings

Changes = dict[gr.components.Component, Any]


def place_panels(settings: PageSettings, labs: PageLabs) -> None:
    """Place everything into the open `gr.Blocks`, then wire it."""
    handlers = Handlers(settings, labs)
    examples = tuple(handlers.examples.values())
    first = handlers.load_case(examples[0].name)
    line = labs.describe(settings.target.lab)
    views = build_header(first.payloads, lab_payload(*line))
    with gr.Row(elem_id="pd-main"):
        with gr.Column(elem_id="pd-left", scale=0, min_width=260):
            panel = build_request_panel(settings, examples, first.payloads["notices"])
        with gr.Column(elem_id="pd-right", scale=1, min_width=280):
            views.update(build_results(first.payloads))
    gr.HTML('<div id="pd-inspector" role="status" aria-label="Inspector"></div>', elem_id="pd-foot", padding=False)
    views["notices"] = panel.notices
    _wire_cases(handlers, panel, views)
    _wire_run(handlers, panel, views)
    _wire_lab(handlers, views, is_waited_for=labs.enabled and settings.target.base_url is None)


def _changes(views: Views, payloads: Payloads) -> Changes:
    if not payloads:  # a tick without news: gradio wants one output at least
        return {views["header"]: gr.skip()}
    return {views[name]: payload or "" for name, payload in payloads.items()}


def _wire_cases(handlers: Handlers, panel: RequestPanel, views: Views) -> None:
    def load_case(name: str) -> Changes:
        case = handlers.load_case(name)
        fields: Changes = {
            panel.editor: case.text,
            panel.tool_parser: case.tool_parser,
            panel.reasoning_parser: case.reasoning_parser,
        }
        return {**fields, **_changes(views, case.payloads)}

    outputs = [panel.editor, panel.tool_parser, panel.reasoning_parser, *views.values()]
    panel.case.input(load_case, panel.case, outputs, api_name="load_case", **_quiet())
    panel.editor.input(
        check_request,
        panel.editor,
        panel.notices,
        api_name="check_request",
        trigger_mode="always_last",
        **_quiet(),
    )


def _wire_run(handlers: Handlers, panel: RequestPanel, views: Views) -> None:
    def begin() -> tuple[Any, Any]:
        return gr.Button(interactive=False), gr.Button(interactive=True)

    def end() -> tuple[Any, Any]:
        return gr.Button(interactive=True), gr.Button(interactive=False)

    async def run(text: str, *fields: str) -> AsyncGenerator[Changes, None]:
        async with aclosing(handlers.run(text, TargetFields(*fields))) as updates:
            async for payloads in updates:
                yield _changes(views, payloads)

    buttons = [panel.run, panel.stop]
    inputs = [panel.editor, *panel.target_fields]
    started = panel.run.click(begin, None, buttons, api_name="begin", queue=False, **_quiet())
    running = started.then(run, inputs, list(views.values()), api_name="run", concurrency_limit=RUN_LIMIT, **_quiet())
    running.then(end, None, buttons, api_name="end", queue=False, **_quiet())
    stopped = panel.stop.click(
        handlers.stopped, None, views["verdict"], api_name="stop", queue=False, cancels=[running], **_quiet()
    )
    stopped.then(end, None, buttons, api_name="end_stopped", queue=False, **_quiet())
    # Another case ends the run: what it would still say belongs to another request.
    panel.case.input(end, None, buttons, api_name="end_switched", queue=False, cancels=[running], **_quiet())


def _wire_lab(handlers: Handlers, views: Views, *, is_waited_for: bool) -> None:
    timer = gr.Timer(1.0, active=is_waited_for)

    def tick() -> tuple[str, Any]:
        payload, goes_on = handlers.describe_lab()
        return payload, gr.Timer(active=goes_on)

    timer.tick(tick, None, [views["lab"], timer], api_name="describe_lab", queue=False, **_quiet())


def _quiet() -> dict[str, Any]:
    """Return what every event of the page has: not part of any API, no overlay."""
    return {"api_visibility": "private", "show_progress": "hidden"}
