"""The compare panel: two runs of this browser's history, or bundles, side by side; one request by three APIs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.fixes.apis import AllApis
from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.panels.forms import Form, build_form, stepwise, wire_form
from prompt_debugger.ui.web.panels.orders import ORDER_LIMIT, ran_of
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.sharing import Comparing
from prompt_debugger.ui.web.views import build_asking_view, build_view

COMPARE_LIMIT = 2


_TABS: list[JSON] = [
    ["runs", "Two runs", "Two runs of this browser, or bundles, side by side"],
    ["apis", "Three APIs", "The request of this run by chat completions, Responses and Messages"],
]


class ComparisonPanel(NamedTuple):
    """Components of the compare panel."""

    runs: gr.HTML
    apis: Form


def build_comparison(settings: PageSettings) -> ComparisonPanel:
    """Place the panel; its script fills the lists from what the browser keeps."""
    with gr.Column(elem_id="pd-panel-compare", elem_classes=["pd-panel"]):
        tabs = pack_payload({"label": "Compare", "prefix": "pd-compare-", "tabs": _TABS})
        build_view("tabs", "compare_tabs", tabs)
        with gr.Column(elem_id="pd-compare-runs", elem_classes=["pd-bench"]):
            runs = build_asking_view("comparison")
        with gr.Column(elem_id="pd-compare-apis", elem_classes=["pd-bench"]):
            why_off = "The limits of a public page cover only chat completions, so this is disabled here."
            apis = build_form("apis", "Ask by all three APIs", is_on=not settings.public, why_off=why_off)
    return ComparisonPanel(runs, apis)


def wire_apis(page: Page, form: Form, apis: AllApis) -> None:
    """Wire the question by every API; it is made of the last run, on the server of that run."""

    def ask(visitor: gr.Request, trace: Trace | None, *fields: Any) -> AsyncGenerator[str, None]:  # noqa: ANN401  # fields and key
        return apis.ask(ran_of(visitor, trace, fields))

    wire_form(form, "ask_apis", stepwise(ask), [page.trace, *page.request.sending_fields], limit=ORDER_LIMIT)


def wire_comparison(view: gr.HTML, comparing: Comparing) -> None:
    """Wire the panel: the two runs come with the event."""

    def compare(event: gr.EventData) -> str:
        return comparing.compare(str(event.packed))

    several: dict[str, Any] = {
        "trigger_mode": "multiple",
        "concurrency_limit": COMPARE_LIMIT,
    }  # the view takes the answer that it wants
    compared = view.submit(compare, None, view, api_name="compare_runs", **several, **quiet())
    refused = "() => PromptDebugger.comparisonRefused()"
    compared.failure(None, None, None, js=refused, **quiet())
