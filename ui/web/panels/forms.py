"""A task of a panel: its two buttons, its view, and how they are wired to what runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.ui.web.page import quiet
from prompt_debugger.ui.web.views import build_view


class Form(NamedTuple):
    """One task: its buttons and its view."""

    start: gr.Button
    stop: gr.Button
    view: gr.HTML


def build_form(view: str, label: str, *, is_filled_in: bool = False) -> Form:
    """Place the buttons, and the view below them; above them where the view has fields to fill in first."""
    name = view.replace("_", "-")
    drawn = build_view(view, view) if is_filled_in else None
    with gr.Row(elem_classes=["pd-bench-row"]):
        start = gr.Button(label, variant="primary", elem_id=f"pd-start-{name}", size="sm", scale=0, min_width=120)
        stop = gr.Button("Stop", interactive=False, elem_id=f"pd-stop-{name}", size="sm", scale=0, min_width=60)
    return Form(start, stop, drawn or build_view(view, view))


def wire_form(
    form: Form,
    name: str,
    run: Callable[..., AsyncGenerator[Any, None]],
    inputs: list[Any],
    more_outputs: list[Any] | None = None,
    *,
    limit: int,
    js: str | None = None,
) -> None:
    """Let the buttons start and stop a task that draws into the view.

    Args:
        form: The task's components.
        name: Of the event.
        run: What runs.
        inputs: Components whose values it gets.
        more_outputs: Components that it changes besides the view.
        limit: How many of it go on at once.
        js: What the browser does with the inputs first.
    """
    buttons = [form.start, form.stop]
    started = form.start.click(begin, None, buttons, api_name=f"{name}_begin", queue=False, **quiet())
    outputs = [form.view, *(more_outputs or [])]
    running = started.then(run, inputs, outputs, js=js, api_name=name, concurrency_limit=limit, **quiet())
    running.then(end, None, buttons, api_name=f"{name}_end", queue=False, **quiet())
    stopped = form.stop.click(end, None, buttons, api_name=f"{name}_stop", queue=False, cancels=[running], **quiet())
    settle = f"() => PromptDebugger.settle({form.view.elem_id!r})"
    stopped.then(None, None, None, js=settle, api_name=f"{name}_settle", **quiet())


def begin() -> tuple[Any, Any]:
    """Let the task be stopped, and not be started again."""
    return gr.Button(interactive=False), gr.Button(interactive=True)


def end() -> tuple[Any, Any]:
    """Let the task be started again."""
    return gr.Button(interactive=True), gr.Button(interactive=False)
