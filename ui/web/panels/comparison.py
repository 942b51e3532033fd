"""The compare panel: two runs of this browser's history, or bundles, side by side."""

from __future__ import annotations

from typing import Any

import gradio as gr

from prompt_debugger.ui.web.comparison import Comparing
from prompt_debugger.ui.web.page import quiet
from prompt_debugger.ui.web.share_view import build_comparison_view

COMPARE_LIMIT = 2


def build_comparison() -> gr.HTML:
    """Place the panel; its script fills the lists from what the browser keeps."""
    with gr.Column(elem_id="pd-panel-compare", elem_classes=["pd-panel"]):
        return build_comparison_view()


def wire_comparison(view: gr.HTML, comparing: Comparing) -> None:
    """Wire the panel: the two runs come with the event."""

    def compare(event: gr.EventData) -> str:
        return comparing.compare(str(event.packed))

    several: dict[str, Any] = {
        "trigger_mode": "multiple",
        "concurrency_limit": COMPARE_LIMIT,
    }  # the view takes the answer that it wants
    view.submit(compare, None, view, api_name="compare_runs", **several, **quiet())
