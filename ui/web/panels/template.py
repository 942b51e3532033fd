"""The template panel: an editor with live render, and what the template supports."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.experiments import Asked
from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.panels.forms import stepwise
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.template_lab import AS_ASKED, ENDINGS, TemplateLab
from prompt_debugger.ui.web.views import build_token_view, build_view

RENDER_LIMIT = 4
_TABS: list[JSON] = [
    ["prompt", "Prompt", "What the request becomes with this template, token by token"],
    ["supports", "What it supports", "Probes: system role, tools, calls, reasoning, endings and more, by rendering"],
]


class TemplatePanel(NamedTuple):
    """Components of the template panel."""

    editor: gr.Code
    ending: gr.Radio
    kwargs: gr.Textbox
    reset: gr.Button
    run: gr.Button
    refresh: gr.Button
    status: gr.HTML
    tokens: gr.HTML
    probe: gr.Button
    probes: gr.HTML
    own: gr.State


def build_template(settings: PageSettings) -> TemplatePanel:
    """Place the panel; the editor is filled when it is opened. A public page runs no template of a visitor's."""
    with gr.Column(elem_id="pd-panel-template", elem_classes=["pd-panel"]), gr.Row(elem_id="pd-template-row"):
        with gr.Column(elem_id="pd-template-left", min_width=260):
            editor = gr.Code(
                "",
                language="jinja2",
                label="Chat template",
                elem_id="pd-template-source",
                elem_classes=["pd-code-editor"],
                wrap_lines=True,
                buttons=[],
            )
            with gr.Row(elem_classes=["pd-bench-row"]):
                reset = gr.Button(
                    "Reset to the model's own", elem_id="pd-template-reset", size="sm", scale=0, min_width=120
                )
                run = gr.Button(
                    "Apply and run",
                    elem_id="pd-template-run",
                    size="sm",
                    scale=0,
                    min_width=110,
                    visible=not settings.public,
                )
                refresh = gr.Button("Render", elem_id="pd-template-refresh", size="sm", scale=0, min_width=70)
            gr.HTML('<p id="pd-template-said" role="status"></p>', elem_classes=["pd-said"], padding=False)
            ending = gr.Radio([*ENDINGS], value=AS_ASKED, label="Generation prompt", elem_id="pd-template-ending")
            kwargs = gr.Textbox(
                "",
                label="Template kwargs (JSON)",
                placeholder='{"enable_thinking": false}',
                elem_id="pd-template-kwargs",
            )
        with gr.Column(elem_id="pd-template-right", min_width=260):
            tabs: dict[str, JSON] = {"label": "Template", "prefix": "pd-template-of-", "tabs": _TABS}
            build_view("tabs", "template_tabs", pack_payload(tabs))
            with gr.Column(elem_id="pd-template-of-prompt", elem_classes=["pd-bench"]):
                status = build_view("edited_status", "edited_status")
                tokens = build_token_view("edited_tokens")
            with gr.Column(elem_id="pd-template-of-supports", elem_classes=["pd-bench"]):
                with gr.Row(elem_classes=["pd-bench-row"]):
                    probe = gr.Button(
                        "Probe this template", variant="primary", elem_id="pd-probe", size="sm", scale=0, min_width=120
                    )
                probes = build_view("probes", "probes")
        state = gr.State("")
    return TemplatePanel(editor, ending, kwargs, reset, run, refresh, status, tokens, probe, probes, state)


def wire_template(page: Page, panel: TemplatePanel, lab: TemplateLab) -> None:
    """Wire the panel: every change renders, the newest wins."""
    target = [page.trace, *page.request.target_fields]

    def open_panel(template: str, own: str, trace: Trace | None, *fields: str) -> tuple[Any, str]:
        opened = lab.open(TargetFields(*fields), trace, template, own)
        return gr.skip() if opened.template is None else opened.template, opened.own

    def render(template: str, ending: str, kwargs: str, own: str, text: str, trace: Trace | None, *fields: str) -> Any:  # noqa: ANN401  # payloads, or gradio's word for no change
        drawn = lab.render(Asked(text, TargetFields(*fields), trace), template, ending, kwargs, own)
        return drawn.status, gr.skip() if drawn.tokens is None else drawn.tokens

    def probe(template: str, own: str, trace: Trace | None, *fields: str) -> AsyncGenerator[str | None, None]:
        return lab.probe(TargetFields(*fields), trace, template, own)

    panel.probe.click(
        stepwise(probe),
        [panel.editor, panel.own, *target],
        panel.probes,
        api_name="probe_template",
        concurrency_limit=RENDER_LIMIT,
        trigger_mode="once",
        **quiet(),
    )
    inputs = [panel.editor, panel.ending, panel.kwargs, panel.own, page.request.editor, *target]
    outputs = [panel.status, panel.tokens]
    live = {"trigger_mode": "always_last", "concurrency_limit": RENDER_LIMIT, **quiet()}
    panel.editor.input(render, inputs, outputs, api_name="render_template", **live)
    panel.ending.input(render, inputs, outputs, api_name="render_ending", **live)
    panel.kwargs.change(render, inputs, outputs, api_name="render_kwargs", **live)
    opening = panel.refresh.click(
        open_panel, [panel.editor, panel.own, *target], [panel.editor, panel.own], api_name="open_template", **quiet()
    )
    opening.then(render, inputs, outputs, api_name="render_opened", **quiet())
    reported = "() => { PromptDebugger.requestEdited(); PromptDebugger.renderLive(); }"
    page.request.editor.change(None, None, None, js=reported, api_name="request_edited", **quiet())
    asking = "() => PromptDebugger.order('pd-apply-template', '', document.getElementById('pd-template-said'))"
    panel.run.click(None, None, None, js=asking, api_name="run_template", **quiet())
    resetting = panel.reset.click(
        lambda own: own, panel.own, panel.editor, api_name="reset_template", queue=False, **quiet()
    )
    resetting.then(render, inputs, outputs, api_name="render_reset", **quiet())
