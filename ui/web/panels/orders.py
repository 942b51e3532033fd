"""What buttons inside the views ask for: each presses a button of gradio's that no one sees; one view has the answers.

A view cannot name its own event; `PromptDebugger.order` says what is asked for, and the event's script puts it
into the first input.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.web.experiments import Asked
from prompt_debugger.ui.web.fixes.offered import OfferedFixes
from prompt_debugger.ui.web.fixes.runs import Ran
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.forms import stepwise
from prompt_debugger.ui.web.panels.template import TemplatePanel
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.views import build_view

ORDER_LIMIT = 2
FILL_ORDER = "(...values) => PromptDebugger.fillOrder(...values)"
_REFUSED = "() => PromptDebugger.orderRefused()"


class OrderPanel(NamedTuple):
    """The buttons that views press, what they ask for, and where the answers come in."""

    order: gr.Textbox
    answers: gr.HTML
    try_fix: gr.Button
    stop_fix: gr.Button
    apply_fix: gr.Button
    copy_fix: gr.Button
    ask_margin: gr.Button
    ask_again: gr.Button
    add_proof: gr.Button
    apply_switch: gr.Button
    apply_template: gr.Button
    ask_kept: gr.Button


def build_orders() -> OrderPanel:
    """Place them where no one sees them."""
    with gr.Column(elem_id="pd-orders-place", elem_classes=["pd-unseen"]):
        order = gr.Textbox("", show_label=False, elem_id="pd-order")
        answers = build_view("orders", "orders")
        edits = ("apply-switch", "apply-template")
        names = (
            "try-fix",
            "stop-fix",
            "apply-fix",
            "copy-fix",
            "ask-margin",
            "ask-again",
            "add-proof",
            *edits,
            "ask-kept",
        )
        buttons = [order_button(name) for name in names]
    return OrderPanel(order, answers, *buttons)


def order_button(name: str) -> gr.Button:
    """Return a button that views press."""
    return gr.Button(name, elem_id=f"pd-{name}")


def wire_offered(page: Page, panel: OrderPanel, fixes: OfferedFixes) -> None:
    """Wire what the buttons next to a finding ask for."""

    def try_fix(
        visitor: gr.Request,
        code: str,
        trace: Trace | None,
        *fields: Any,  # noqa: ANN401  # the fields of the target, and the key
    ) -> AsyncGenerator[str, None]:
        return fixes.try_fix(ran_of(visitor, trace, fields), code)

    inputs = [panel.order, page.trace, *page.request.sending_fields]
    trying = panel.try_fix.click(
        stepwise(try_fix),
        inputs,
        panel.answers,
        js=FILL_ORDER,
        api_name="try_fix",
        concurrency_limit=ORDER_LIMIT,
        **quiet(),
    )
    trying.failure(None, None, None, js=_REFUSED, **quiet())
    panel.stop_fix.click(None, None, None, cancels=[trying], api_name="stop_fix", queue=False, **quiet())
    run = [panel.order, page.trace]
    for button, ask, name in (
        (panel.apply_fix, lambda order, trace: fixes.apply(trace, order), "apply_fix"),
        (panel.copy_fix, lambda order, trace: fixes.copy(trace, order), "copy_fix"),
        (panel.ask_margin, lambda _, trace: fixes.ask_margin(trace), "ask_margin"),
        (panel.ask_again, lambda _, trace: fixes.ask_again(trace), "ask_again"),
    ):
        asked = button.click(ask, run, panel.answers, js=FILL_ORDER, api_name=name, **quiet())
        asked.failure(None, None, None, js=_REFUSED, **quiet())

    async def wait_for_questions(visitor: gr.Request, order: str) -> str:
        await page.handlers.stops.wait_for_questions(visitor.session_hash or "")
        return order

    def add_proof(order: str, trace: Trace | None) -> Changes:
        proved, findings, answer = fixes.add_proof(trace, order)
        if proved is None:
            return {panel.answers: answer}
        return {page.trace: proved, page.views["findings"]: findings, panel.answers: answer}

    outputs = [page.trace, page.views["findings"], panel.answers]
    # An event has the run as it was when the button was pressed: what the parsers said since is seen by the next one.
    waited = panel.add_proof.click(
        wait_for_questions,
        panel.order,
        panel.order,
        js=FILL_ORDER,
        api_name="wait_for_questions",
        concurrency_limit=None,
        **quiet(),
    )
    added = waited.success(add_proof, run, outputs, api_name="add_proof", **quiet())
    for step in (waited, added):
        step.failure(None, None, None, js=_REFUSED, **quiet())


def wire_edits(page: Page, panel: OrderPanel, fixes: OfferedFixes, template: TemplatePanel) -> None:
    """Wire what puts a switch, or the edited template, into the request in the editor."""
    request = page.request

    async def apply_switch(name: str, text: str, trace: Trace | None, *more: str) -> str:
        *fields, edited = more
        return await fixes.apply_switch(Asked(text, TargetFields(*fields), trace), edited, name)

    async def apply_template(_: str, text: str, trace: Trace | None, *more: str) -> str:
        *fields, edited, own = more
        return await fixes.apply_template(Asked(text, TargetFields(*fields), trace), edited, own)

    inputs = [panel.order, request.editor, page.trace, *request.target_fields, template.editor]
    for button, ask, more, name in (
        (panel.apply_switch, apply_switch, [], "apply_switch"),
        (panel.apply_template, apply_template, [template.own], "apply_template"),
    ):
        asked = button.click(ask, [*inputs, *more], panel.answers, js=FILL_ORDER, api_name=name, **quiet())
        asked.failure(None, None, None, js=_REFUSED, **quiet())


def ran_of(visitor: gr.Request, trace: Trace | None, fields: Any) -> Ran:  # noqa: ANN401  # the page's texts, in their order
    """Return the last run and the page as it is now, from an event's values."""
    *names, key = fields
    return Ran(trace, TargetFields(*names), visitor.session_hash or "", str(key or ""))
