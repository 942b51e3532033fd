"""The verify panel: which verification to open, one next to it, and its view; a row becomes the page's run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.ui.present.verification import row_of
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.fields import build_text
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.verification import Opened, Verifications
from prompt_debugger.ui.web.verify_run import Asked
from prompt_debugger.ui.web.views import build_asking_view

OPEN_LIMIT = 2


class VerificationPanel(NamedTuple):
    """Components of the verify panel."""

    first: gr.Textbox
    second: gr.Textbox
    start: gr.Button
    view: gr.HTML
    opened: gr.State
    dataset: gr.HTML
    rows: gr.Number
    seconds: gr.Number
    stop: gr.Button


def build_verification(settings: PageSettings) -> VerificationPanel:
    """Place the panel; a public page has no way to a file, and says so."""
    shown = not settings.public
    with gr.Column(elem_id="pd-panel-verify", elem_classes=["pd-panel"]):
        with gr.Row(elem_classes=["pd-bench-row"], elem_id="pd-verify-dataset", visible=shown):
            dataset = build_asking_view("dataset")
            rows = gr.Number(20, label="Rows, at most", minimum=1, precision=0, elem_id="pd-verify-rows", min_width=90)
            seconds = gr.Number(
                300, label="Seconds, at most", minimum=1, precision=0, elem_id="pd-verify-seconds", min_width=90
            )
            stop = gr.Button(
                "Stop", interactive=False, elem_id="pd-stop-verification", size="sm", scale=0, min_width=60
            )
        with gr.Row(elem_classes=["pd-bench-row"], elem_id="pd-verify-row"):
            first = build_text(
                "Verification",
                "pd-verify-first",
                value=settings.verification,
                placeholder="results.sqlite, results.jsonl or a report's folder",
                shown=shown,
            )
            second = build_text("Compare with", "pd-verify-second", placeholder="another one, or none", shown=shown)
            start = gr.Button(
                "Open", elem_id="pd-start-verification", size="sm", scale=0, min_width=80, interactive=shown
            )
        if settings.public:
            gr.HTML(
                "<p>Files can be opened only on your own machine, so this is off on a public page.</p>",
                elem_classes=["pd-off"],
            )
        view = build_asking_view("verification")
    return VerificationPanel(first, second, start, view, gr.State(()), dataset, rows, seconds, stop)


def wire_verification(page: Page, panel: VerificationPanel, verifications: Verifications) -> None:
    """Wire the panel."""
    request = page.request
    wire_rows(page, panel.view, panel.opened, verifications, api_name="open_row")

    async def open_files(first: str, second: str) -> Changes:
        payload, opened = await verifications.open(first, second)
        return {panel.view: payload, panel.opened: opened}

    # Gradio fills in an event only after arguments that are spelled out.
    async def verify(
        rows: float | None,
        seconds: float | None,
        endpoint: str,
        model: str,
        tokenizer: str,
        tool_parser: str,
        reasoning_parser: str,
        template_name: str,
        certificates: str,
        ask: str,
        key: str | None,
        event: gr.EventData,
    ) -> AsyncGenerator[Changes, None]:
        parsers = (tool_parser, reasoning_parser, template_name)
        fields = TargetFields(endpoint, model, tokenizer, *parsers, certificates, ask)
        asked = Asked(str(event.packed), rows, seconds)
        begun: Changes = {
            panel.stop: gr.Button(interactive=True)
        }  # once: a later step may arrive after Stop was pressed
        async with aclosing(verifications.verify(asked, fields, str(key or ""))) as steps:
            async for step in steps:
                kept: Changes = {panel.opened: step.opened} if step.opened else {}
                yield {panel.view: step.payload, **begun, **kept}
                begun = {}
        yield {panel.stop: gr.Button(interactive=False)}

    inputs = [panel.rows, panel.seconds, *request.sending_fields]
    outputs = [panel.view, panel.opened, panel.stop]
    running = panel.dataset.submit(
        verify, inputs, outputs, api_name="verify_dataset", concurrency_limit=OPEN_LIMIT, **quiet()
    )
    stopped = panel.stop.click(
        lambda: gr.Button(interactive=False), None, panel.stop,
        api_name="verify_stop", queue=False, cancels=[running], **quiet(),
    )  # fmt: skip
    settle = f"() => PromptDebugger.settle({panel.view.elem_id!r})"
    stopped.then(None, None, None, js=settle, api_name="verify_settle", **quiet())
    gr.on(
        [panel.start.click, panel.first.submit, panel.second.submit],
        open_files,
        [panel.first, panel.second],
        [panel.view, panel.opened],
        api_name="open_verification",
        concurrency_limit=OPEN_LIMIT,
        **quiet(),
    )


def wire_rows(page: Page, view: gr.HTML, state: gr.State, verifications: Verifications, *, api_name: str) -> None:
    """Let a row that is pressed in a view become the page's run; `state` contains what rows are opened from."""
    request = page.request

    async def open_row(opened: Opened, event: gr.SelectData) -> Changes:
        side, index = row_of(event.value if isinstance(event.value, dict) else {})
        row = await verifications.open_row(opened, side, index)
        if row is None:
            return {request.case: gr.skip()}
        changes: Changes = {page.trace: row.trace, request.editor: row.text, request.case: None}
        return {**changes, **page.changes(row.payloads)}

    shown: list[Any] = [page.trace, request.editor, request.case, *page.views.values()]
    view.select(open_row, state, shown, api_name=api_name, concurrency_limit=OPEN_LIMIT, **quiet())
