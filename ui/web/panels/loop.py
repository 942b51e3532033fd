"""The tool loop in the *Fix* panel: the turns, fields for the answers, and what a turn can be asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.tools.conversation import Conversation
from prompt_debugger.ui.web.fixes.loop import LoopStep, ToolLoop
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.forms import Form, build_form, stepwise, wire_form
from prompt_debugger.ui.web.panels.orders import FILL_ORDER, ORDER_LIMIT, OrderPanel, order_button, ran_of
from prompt_debugger.ui.web.work import marked_payloads


class LoopPanel(NamedTuple):
    """Components of the tool loop."""

    form: Form
    conversation: gr.State


def build_loop() -> LoopPanel:
    """Place the turns with the fields to fill in, and the buttons below them."""
    return LoopPanel(build_form("loop", "Go on", is_filled_in=True), gr.State(None))


def wire_loop(page: Page, panel: LoopPanel, orders: OrderPanel, loop: ToolLoop) -> None:
    """Wire the tool loop; it continues from the last turn, on the server of that run."""

    async def show(trace: Trace | None, known: Conversation | None) -> tuple[Any, Any]:
        return _changes(await loop.show(trace, known))

    def run_turns(
        visitor: gr.Request,
        order: str,
        known: Conversation | None,
        trace: Trace | None,
        *fields: Any,  # noqa: ANN401  # fields and key
    ) -> AsyncGenerator[LoopStep, None]:
        return loop.run_turns(ran_of(visitor, trace, fields), order, known)

    def open_turn(order: str, known: Conversation | None) -> Changes:
        found = loop.open(order, known)
        if found is None:
            return {page.views["header"]: gr.skip()}
        title, trace = found
        return {page.trace: trace, **page.changes(marked_payloads(trace, f"turn {order}", title))}

    state, answers = panel.conversation, orders.answers
    asked = "(_, ...values) => [PromptDebugger.loopOrder(), ...values]"
    inputs = [orders.order, state, page.trace, *page.request.sending_fields]
    wire_form(panel.form, "run_turns", stepwise(run_turns, _changes), inputs, [state], js=asked, limit=ORDER_LIMIT)
    # Pressed by the script where the panel is opened, and inside a turn.
    with gr.Column(elem_classes=["pd-unseen"]):
        names = ("show-loop", "open-turn", "turn-request", "save-loop")
        show_button, open_button, request_button, save_button = [order_button(name) for name in names]
    show_button.click(show, [page.trace, state], [panel.form.view, state], api_name="show_loop", **quiet())
    turn = [orders.order, state]
    shown = [page.trace, *page.views.values()]
    open_button.click(open_turn, turn, shown, js=FILL_ORDER, api_name="open_turn", **quiet())
    reported = [
        request_button.click(loop.request_of, turn, answers, js=FILL_ORDER, api_name="turn_request", **quiet()),
        save_button.click(loop.save, state, answers, api_name="save_loop", **quiet()),
    ]
    for event in reported:
        event.failure(None, None, None, js="() => PromptDebugger.orderRefused()", **quiet())
    cleared = [panel.form.view, state]
    page.request.load.click(lambda: ["", None], None, cleared, api_name="clear_loop", queue=False, **quiet())


def _changes(step: LoopStep) -> tuple[Any, Any]:
    return (
        gr.skip() if step.payload is None else step.payload,
        gr.skip() if step.conversation is None else step.conversation,
    )
