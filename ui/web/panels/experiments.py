"""The what-if panel: switches, turns, a token count, two setups, each with its button, its Stop and its result."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.experiments import Asked, Bench, CountStep
from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.panels.forms import Form, build_form, stepwise, wire_form
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.views import build_view

BENCH_LIMIT = 2  # experiments at once; renders of all of them share one worker
_TABS: list[JSON] = [
    ["switches", "Switches", "Try every render switch on this request: what does each change?"],
    ["turns", "Turn by turn", "Where does a prompt stop being a continuation of the previous one, and why?"],
    ["sessions", "Sessions", "Several requests of an agent: which part of each prompt is computed again, and why?"],
    ["count", "Token count", "A server counted the prompt tokens: which render explains the number?"],
    ["setups", "Two setups", "The same request with a second template or a second tokenizer"],
]


class ExperimentsPanel(NamedTuple):
    """Components of the what-if panel."""

    switches: Form
    turns: Form
    sessions: Form
    token_count: Form
    counted: gr.Textbox
    forget: gr.Button
    setups: Form
    template: gr.Code
    tokenizer: gr.Textbox
    answers: gr.State


def build_experiments(settings: PageSettings) -> ExperimentsPanel:
    """Place the panel: one form at a time is shown, all stay mounted."""
    with gr.Column(elem_id="pd-panel-what-if", elem_classes=["pd-panel"]):
        build_view("tabs", "bench_tabs", pack_payload({"label": "Experiments", "prefix": "pd-bench-", "tabs": _TABS}))
        with _place("switches"):
            switches = build_form("switches", "Try every switch")
        with _place("turns"):
            turns = build_form("turns", "Follow the turns")
        with _place("sessions"):
            sessions = build_form("sessions", "Follow the sessions")
        with _place("count"):
            counted = gr.Textbox(
                "",
                label="Prompt tokens that the server counted",
                placeholder="usage.prompt_tokens",
                elem_id="pd-counted",
            )
            token_count = build_form("token_count", "Explain the number")
            forget = gr.Button(
                "Forget earlier counts", elem_id="pd-forget", size="sm", elem_classes=["pd-bench-button"]
            )
        with _place("setups"):
            template = gr.Code(
                "",
                language="jinja2",
                label="Second template (empty: the same)",
                elem_id="pd-second-template",
                elem_classes=["pd-code-editor"],
                lines=4,
                max_lines=8,
                buttons=[],
            )
            tokenizer = gr.Textbox(
                "",
                label="Second tokenizer",
                placeholder="folder or Hub id (empty: the same)",
                elem_id="pd-second-tokenizer",
                visible=not settings.public,  # what a stranger names must reach neither disk nor network
            )
            setups = build_form("setups", "Compare")
        answers = gr.State(())
    return ExperimentsPanel(
        switches, turns, sessions, token_count, counted, forget, setups, template, tokenizer, answers
    )


def wire_experiments(page: Page, panel: ExperimentsPanel, bench: Bench, edited: gr.Code) -> None:
    """Wire the panel; `edited` is the template editor, whose text is a further switch."""
    inputs = [page.request.editor, page.trace, *page.request.target_fields]

    def try_switches(text: str, trace: Trace | None, *more: str) -> AsyncGenerator[str | None, None]:
        *fields, template = more
        return bench.try_switches(_asked(text, trace, fields), template)

    def explain_count(
        text: str,
        trace: Trace | None,
        *more: Any,  # noqa: ANN401  # texts, a number and the state
    ) -> AsyncGenerator[CountStep, None]:
        *fields, counted, answers = more
        return bench.explain_count(_asked(text, trace, fields), counted, answers)

    def draw_count(step: CountStep) -> tuple[Any, Any]:
        return step.payload or gr.skip(), gr.skip() if step.answers is None else step.answers

    def compare(text: str, trace: Trace | None, *more: str) -> AsyncGenerator[str | None, None]:
        *fields, template, tokenizer = more
        return bench.compare(_asked(text, trace, fields), template, tokenizer)

    wire_form(panel.switches, "try_switches", stepwise(try_switches), [*inputs, edited], limit=BENCH_LIMIT)
    wire_form(panel.turns, "follow_turns", _drawn(bench.follow_turns), inputs, limit=BENCH_LIMIT)
    wire_form(panel.sessions, "follow_sessions", _drawn(bench.follow_sessions), inputs, limit=BENCH_LIMIT)
    wire_form(
        panel.token_count,
        "explain_count",
        stepwise(explain_count, draw_count),
        [*inputs, panel.counted, panel.answers],
        [panel.answers],
        limit=BENCH_LIMIT,
    )
    second = [*inputs, panel.template, panel.tokenizer]
    wire_form(panel.setups, "compare_setups", stepwise(compare), second, limit=BENCH_LIMIT)
    views = [one.view for one in (panel.switches, panel.turns, panel.sessions, panel.token_count, panel.setups)]
    # Results of another case's request would be read as this one's.
    page.request.case.input(lambda: [""] * len(views), None, views, api_name="clear_bench", queue=False, **quiet())
    panel.forget.click(
        lambda: ((), ""), None, [panel.answers, panel.token_count.view], api_name="forget_counts", **quiet()
    )


def _drawn(ask: Callable[[Asked], AsyncGenerator[str | None, None]]) -> Callable[..., AsyncGenerator[Any, None]]:
    """Return the event of an experiment that takes the request and the target alone."""
    return stepwise(lambda text, trace, *fields: ask(_asked(text, trace, fields)))


def _place(name: str) -> gr.Column:
    return gr.Column(elem_id=f"pd-bench-{name}", elem_classes=["pd-bench"])


def _asked(text: str, trace: Trace | None, fields: Any) -> Asked:  # noqa: ANN401  # the page's texts, in their order
    return Asked(text, TargetFields(*fields), trace)
