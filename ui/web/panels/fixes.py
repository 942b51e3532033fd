"""The *Fix* panel: experiments on the last run, the smallest request that fails so, and what is handed over."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS
from prompt_debugger.core.tools.fixes.upstream_diff import DIFFED
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.fixes.bug_report import OF_DIFF, BugReports
from prompt_debugger.ui.web.fixes.try_fixes import Edited, Experiments, Kept, TrialStep
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.forms import Form, build_form, stepwise, wire_form
from prompt_debugger.ui.web.panels.loop import LoopPanel, build_loop
from prompt_debugger.ui.web.panels.orders import FILL_ORDER, ORDER_LIMIT, OrderPanel, order_button, ran_of
from prompt_debugger.ui.web.panels.template import TemplatePanel
from prompt_debugger.ui.web.views import build_view
from prompt_debugger.ui.web.work import marked_payloads

_TABS: list[JSON] = [
    ["trials", "Experiments", "Change one thing in this request at a time and run it again: what helps?"],
    [
        "loop",
        "Tool loop",
        "Answer the calls of this run and continue, with an account of every token between the turns",
    ],
    ["shrink", "Shrink", "The smallest request that still fails in the same way"],
    ["handover", "Bug report", "A parser plugin for your server, a failing test or a diff for its maintainers"],
]


class FixPanel(NamedTuple):
    """Components of the *Fix* panel."""

    variants: gr.HTML
    trials: Form
    shrink: Form
    engine: gr.Dropdown
    upstream: Form
    plugin: gr.Button
    plan: gr.Button
    open_run: gr.Button
    runs: gr.State
    loop: LoopPanel


def build_fixes() -> FixPanel:
    """Place the panel: one task at a time is shown, all stay mounted."""
    with gr.Column(elem_id="pd-panel-fix", elem_classes=["pd-panel"]):
        build_view("tabs", "fix_tabs", pack_payload({"label": "Fix", "prefix": "pd-fix-", "tabs": _TABS}))
        with _place("trials"):
            variants = build_view("variants", "variants")
            trials = build_form("trials", "Run these")
        with _place("loop"):
            loop = build_loop()
        with _place("shrink"):
            shrink = build_form("shrunk", "Shrink this request")
        with _place("handover"):
            with gr.Row(elem_classes=["pd-bench-row"]):
                plugin = gr.Button(
                    "Save a parser plugin for vLLM", elem_id="pd-plugin", size="sm", scale=0, min_width=120
                )
                gr.HTML('<p id="pd-plugin-said" role="status"></p>', elem_classes=["pd-said"], padding=False)
            engine = gr.Dropdown(
                [
                    *((f"{title_of(engine)}: a failing test", engine) for engine in PARSER_TESTS),
                    ("The template: a diff", f"{OF_DIFF}template"),
                    *((f"{title_of(engine)}: a diff of its parser", f"{OF_DIFF}{engine}") for engine in DIFFED),
                ],
                value=next(iter(PARSER_TESTS)),
                label="For the maintainers of",
                elem_id="pd-upstream-engine",
                filterable=False,
            )
            upstream = build_form("upstream", "Write it")
        with gr.Column(elem_classes=["pd-unseen"]):
            plan, open_run = order_button("plan-trials"), order_button("open-trial")
    return FixPanel(variants, trials, shrink, engine, upstream, plugin, plan, open_run, gr.State(()), loop)


def wire_fixes(
    page: Page, panel: FixPanel, orders: OrderPanel, trials: Experiments, over: BugReports, template: TemplatePanel
) -> None:
    """Wire the panel; what it runs is made of the last run, on the server of that run."""
    inputs = [page.trace, *page.request.sending_fields]
    _wire_trials(page, panel, orders, trials, template)

    def shrink(visitor: gr.Request, trace: Trace | None, *fields: Any) -> AsyncGenerator[str, None]:  # noqa: ANN401  # fields and key
        return over.shrink(ran_of(visitor, trace, fields))

    wire_form(panel.shrink, "shrink", stepwise(shrink), inputs, limit=ORDER_LIMIT)
    wire_form(panel.upstream, "upstream_test", over.upstream_test, [page.trace, panel.engine], limit=ORDER_LIMIT)
    reported = "(...values) => { PromptDebugger.answerAt('pd-plugin-said'); return values; }"
    made = panel.plugin.click(over.plugin, page.trace, orders.answers, js=reported, api_name="make_plugin", **quiet())
    made.failure(None, None, None, js="() => PromptDebugger.orderRefused()", **quiet())
    views = [panel.variants, panel.trials.view, panel.shrink.view, panel.upstream.view]
    # What was tried belongs to one run's request: another case, and it goes.
    page.request.case.input(
        lambda: ["", "", "", "", ()], None, [*views, panel.runs], api_name="clear_fixes", queue=False, **quiet()
    )


def _wire_trials(page: Page, panel: FixPanel, orders: OrderPanel, trials: Experiments, template: TemplatePanel) -> None:
    async def plan(
        visitor: gr.Request,
        edited: str,
        own: str,
        trace: Trace | None,
        *fields: Any,  # noqa: ANN401  # fields and key
    ) -> str:
        return await trials.plan(ran_of(visitor, trace, fields), Edited(edited or "", own or ""))

    def run(
        visitor: gr.Request,
        order: str,
        edited: str,
        own: str,
        trace: Trace | None,
        *fields: Any,  # noqa: ANN401  # fields and key
    ) -> AsyncGenerator[TrialStep, None]:
        return trials.run(ran_of(visitor, trace, fields), order, Edited(edited or "", own or ""))

    def draw(step: TrialStep) -> tuple[Any, Any]:
        return step.payload or gr.skip(), gr.skip() if step.runs is None else step.runs

    def open_run(order: str, runs: Kept) -> Changes:
        at, _, number = order.partition(".")
        found = [(name, made) for name, made in runs][int(at)] if at.isdecimal() and int(at) < len(runs) else None
        if found is None or not number.isdecimal() or int(number) >= len(found[1]):
            return {page.views["header"]: gr.skip()}
        name, made = found
        trace = made[int(number)]
        shown = marked_payloads(trace, "experiment", f"Run {int(number) + 1} of the experiment \u201c{name}\u201d.")
        return {page.trace: trace, **page.changes(shown)}

    inputs = [template.editor, template.own, page.trace, *page.request.sending_fields]
    panel.plan.click(plan, inputs, panel.variants, api_name="plan_trials", **quiet())
    with_choice = "(_, ...values) => [PromptDebugger.chosenTrials(), ...values]"
    asked = [orders.order, *inputs]
    wire_form(panel.trials, "run_trials", stepwise(run, draw), asked, [panel.runs], js=with_choice, limit=ORDER_LIMIT)
    panel.open_run.click(
        open_run,
        [orders.order, panel.runs],
        [page.trace, *page.views.values()],
        js=FILL_ORDER,
        api_name="open_trial",
        **quiet(),
    )


def _place(name: str) -> gr.Column:
    return gr.Column(elem_id=f"pd-fix-{name}", elem_classes=["pd-bench"])
