"""The check panel: what to check, its button and Stop, the matrix, and the cell that was opened."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import CHECKED
from prompt_debugger.core.tools.check import Check
from prompt_debugger.ui.present.model_check import names_of
from prompt_debugger.ui.web.model_check import CheckChange, CheckFields, ModelChecks
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.fields import build_choice, build_text
from prompt_debugger.ui.web.panels.forms import Form, build_buttons, stepwise, wire_form
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.views import build_asking_view, build_view

CHECK_LIMIT = 1  # each starts two helpers of half a gigabyte
CELL_LIMIT = 4


class CheckPanel(NamedTuple):
    """Components of the check panel."""

    model: gr.Textbox
    depth: gr.Dropdown
    template: gr.Dropdown
    engine: gr.Dropdown
    form: Form
    cell: gr.HTML
    check: gr.State


def build_check(settings: PageSettings) -> CheckPanel:
    """Place the panel; on a public page there is nothing to choose."""
    shown = not settings.public
    with gr.Column(elem_id="pd-panel-check", elem_classes=["pd-panel"]):
        with gr.Row(elem_classes=["pd-bench-row"], elem_id="pd-check-row"):
            model = build_text("Model", "pd-check-model", placeholder="folder, Hub id or server", shown=shown)
            templates = [("the model's own", ""), ("as edited under Template", "edited")]
            template = build_choice("Template", "pd-check-template", templates, width=150, shown=shown)
            depths = [("normal", ""), ("thorough", "thorough")]
            depth = build_choice("Test depth", "pd-check-depth", depths, width=110, shown=shown)
            engines = [("vLLM", ""), *((title_of(one), one) for one in CHECKED), ("every engine here", "all")]
            engine = build_choice("Parsers of", "pd-check-engine", engines, width=120, shown=shown)
            start, stop = build_buttons("model-check", "Check the model")
        view = build_asking_view("model_check")
        cell = build_view("check_cell", "check_cell")
    return CheckPanel(model, depth, template, engine, Form(start, stop, view), cell, gr.State(None))


def wire_check(page: Page, panel: CheckPanel, checks: ModelChecks, edited: gr.Code) -> None:
    """Wire the panel; `edited` is the template editor."""
    request = page.request

    def check(model: str, depth: str, template: str, engine: str, *more: str) -> AsyncGenerator[CheckChange, None]:
        text, key, *target = more
        fields = CheckFields(model, depth or "", template or "", text, engine or "", key)
        return checks.check(fields, TargetFields(*target))

    def draw(change: CheckChange) -> Changes:
        found: Changes = {} if change.check is None else {panel.check: change.check, panel.cell: ""}
        return {panel.form.view: gr.skip() if change.payload is None else change.payload, **found}

    async def open_cell(found: Check | None, event: gr.SelectData) -> Changes:
        act, parser, answer = names_of(event.value if isinstance(event.value, dict) else {})
        if act != "take":
            return {panel.cell: await checks.open_cell(found, parser, answer)}
        taken = await checks.take_cell(found, parser, answer)
        if taken is None:
            return {panel.cell: gr.skip()}
        changes: Changes = {page.trace: taken.trace, request.editor: taken.text, request.case: None}
        return {**changes, **page.changes(taken.payloads)}

    inputs = [panel.model, panel.depth, panel.template, panel.engine, edited, request.key, *request.target_fields]
    wire_form(panel.form, "check_model", stepwise(check, draw), inputs, [panel.check, panel.cell], limit=CHECK_LIMIT)
    outputs: list[Any] = [panel.cell, page.trace, request.editor, request.case, *page.views.values()]
    panel.form.view.select(
        open_cell, panel.check, outputs, api_name="open_cell", concurrency_limit=CELL_LIMIT, **quiet()
    )
