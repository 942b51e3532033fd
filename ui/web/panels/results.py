"""The result side: header, verdict, stage cards, and one panel per stage."""

from __future__ import annotations

from typing import NamedTuple

import gradio as gr

from prompt_debugger.ui.web.panels.live import LivePanel, build_live
from prompt_debugger.ui.web.panels.parse_tools import ParseToolsPanel, build_parse_tools
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.views import (
    Views,
    build_asking_view,
    build_findings_view,
    build_ledger_view,
    build_token_view,
    build_view,
)


class Results(NamedTuple):
    """The views of the stages, by name, the live prompt, and the tools below the ledger."""

    views: Views
    live: LivePanel
    parse_tools: ParseToolsPanel


def build_header(payloads: dict[str, str | None], lab: str, share: str) -> tuple[Views, gr.HTML]:
    """Place title, target, menus and lab line, and the verdict below them; returns the History menu apart."""
    with gr.Row(elem_id="pd-top"):
        header = build_view("header", "header", payloads["header"])
        history = build_asking_view("history")
        share_menu = build_asking_view("share", share)
        lab_line = build_view("lab", "lab", lab)
    verdict = build_view("verdict", "verdict", payloads["verdict"])
    return {"header": header, "lab": lab_line, "share": share_menu, "verdict": verdict}, history


def build_results(payloads: dict[str, str | None], settings: PageSettings) -> Results:
    """Place the stage cards and the panels they open; all panels stay mounted, one is shown."""
    views = {"stages": build_view("stages", "stages", payloads["stages"])}
    with gr.Column(elem_id="pd-panel-render", elem_classes=["pd-panel"]):
        live = build_live()
        views["difference"] = build_view("difference", "difference", payloads["difference"])
        with gr.Row(elem_id="pd-render-row"):
            views["prompt_tokens"] = build_token_view("prompt_tokens", payloads["prompt_tokens"])
            views["template"] = build_view("template", "template", payloads["template"])
    with gr.Column(elem_id="pd-panel-complete", elem_classes=["pd-panel"]):
        views["completion"] = build_view("completion", "completion", payloads["completion"])
        views["raw_tokens"] = build_token_view("raw_tokens", payloads["raw_tokens"])
        views["network"] = build_view("network", "network")
    with gr.Column(elem_id="pd-panel-parse", elem_classes=["pd-panel"]):
        views["ledger"] = build_ledger_view(payloads["ledger"])
        parse_tools = build_parse_tools(settings, payloads["parser_matrix"])
        views["parser_matrix"] = parse_tools.matrix.view
    with gr.Column(elem_id="pd-panel-findings", elem_classes=["pd-panel"]):
        views["findings"] = build_findings_view(payloads["findings"])
    return Results(views, live, parse_tools)
