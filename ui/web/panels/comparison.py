"""The compare panel: two of the last runs, or bundles, side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradio as gr
from gradio.events import Dependency

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.web.comparison import Choices, Comparing, Runs
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.share_view import build_comparison_view

COMPARE_LIMIT = 2


class ComparisonPanel(NamedTuple):
    """Components of the compare panel."""

    left: gr.Dropdown
    right: gr.Dropdown
    view: gr.HTML
    runs: gr.State


def build_comparison() -> ComparisonPanel:
    """Place the panel: the two choices, and the view below them."""
    with gr.Column(elem_id="pd-panel-compare", elem_classes=["pd-panel"]):
        with gr.Row(elem_id="pd-compare-choices"):
            left = gr.Dropdown([], value=None, label="A", elem_id="pd-compare-left", filterable=False, min_width=120)
            right = gr.Dropdown([], value=None, label="B", elem_id="pd-compare-right", filterable=False, min_width=120)
        view = build_comparison_view()
    return ComparisonPanel(left, right, view, gr.State(()))


def wire_comparison(
    page: Page, panel: ComparisonPanel, comparing: Comparing, *, ended: Dependency, opened: Dependency
) -> None:
    """Wire the panel.

    Args:
        page: Whose runs are kept.
        panel: The components.
        comparing: What the events do.
        ended: The run; at its end `page.trace` may hold another one.
        opened: The opening of a bundle; likewise.
    """

    def changes(choices: Choices | None) -> Changes:
        if choices is None:
            return {panel.runs: gr.skip()}
        names = [run.name for run in choices.runs]
        return {
            panel.runs: choices.runs,
            panel.left: gr.Dropdown(names, value=choices.left),
            panel.right: gr.Dropdown(names, value=choices.right),
        }

    def keep_run(runs: Runs, trace: Trace | None) -> Changes:
        return changes(comparing.keep(runs, trace))

    def keep_bundle(runs: Runs, trace: Trace | None) -> Changes:
        return changes(comparing.keep(runs, trace, "Bundle"))

    def add_bundle(runs: Runs, event: gr.EventData) -> Changes:
        choices, note = comparing.add_bundle(runs, str(event.packed))
        return {**changes(choices), panel.view: note}

    def compare(runs: Runs, left: str | None, right: str | None) -> Changes:
        payload = comparing.compare(runs, left, right)
        return {panel.view: gr.skip() if payload is None else payload}

    kept: list[Any] = [panel.runs, panel.left, panel.right]
    ended.then(keep_run, [panel.runs, page.trace], kept, api_name="keep_run", queue=False, **quiet())
    opened.then(keep_bundle, [panel.runs, page.trace], kept, api_name="keep_bundle", queue=False, **quiet())
    panel.view.submit(
        add_bundle, panel.runs, [*kept, panel.view], api_name="add_bundle", concurrency_limit=COMPARE_LIMIT, **quiet()
    )
    gr.on(
        [panel.left.change, panel.right.change],
        compare,
        kept,
        panel.view,
        api_name="compare_runs",
        trigger_mode="always_last",
        concurrency_limit=COMPARE_LIMIT,
        **quiet(),
    )
