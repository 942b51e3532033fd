"""A task of a panel: its fields, its two buttons, its view, and how they are wired to what runs."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, TypeVar

import gradio as gr

from prompt_debugger.ui.web.page import quiet
from prompt_debugger.ui.web.views import build_view

Step = TypeVar("Step")


class Form(NamedTuple):
    """One task: its buttons, its view, and the fields that are next to the buttons."""

    start: gr.Button
    stop: gr.Button
    view: gr.HTML
    fields: tuple[Any, ...] = ()


def build_form(
    view: str,
    label: str,
    *fields: Any,  # noqa: ANN401  # components, not rendered yet
    is_filled_in: bool = False,
    is_on: bool = True,
    value: str | None = None,
    why_off: str = "Older releases are downloaded, so this is off on a public page.",
) -> Form:
    """Place fields and buttons, and the view below them; above them where it has fields to fill in first."""
    drawn = build_view(view, view, value) if is_filled_in else None
    with gr.Row(elem_classes=["pd-bench-row"]):
        for field in fields:
            field.render()
        start, stop = build_buttons(view.replace("_", "-"), label, is_on=is_on)
    if not is_on:
        gr.HTML(f"<p>{why_off}</p>", elem_classes=["pd-off"])
    return Form(start, stop, drawn or build_view(view, view, value), fields)


def build_buttons(name: str, label: str, *, is_on: bool = True) -> tuple[gr.Button, gr.Button]:
    """Place the button that starts a task, and its Stop."""
    start = gr.Button(
        label, variant="primary", elem_id=f"pd-start-{name}", size="sm", scale=0, min_width=120, interactive=is_on
    )
    stop = gr.Button("Stop", interactive=False, elem_id=f"pd-stop-{name}", size="sm", scale=0, min_width=60)
    return start, stop


def wire_form(
    form: Form,
    name: str,
    run: Callable[..., AsyncGenerator[Any, None]],
    inputs: list[Any],
    more_outputs: Sequence[Any] = (),
    *,
    limit: int,
    js: str | None = None,
    at_start: str | None = None,
) -> None:
    """Let the buttons start and stop a task that draws into the view, and into `more_outputs`.

    The form's own fields come after `inputs`. In the browser `at_start` runs when the button is pressed, and `js` makes
    the inputs.
    """
    buttons = [form.start, form.stop]
    if at_start is not None:
        form.start.click(None, None, None, js=at_start, **quiet())
    started = form.start.click(begin_form, None, buttons, api_name=f"{name}_begin", queue=False, **quiet())
    fields, outputs = [*inputs, *form.fields], [form.view, *more_outputs]
    running = started.then(run, fields, outputs, js=js, api_name=name, concurrency_limit=limit, **quiet())
    running.then(end_form, None, buttons, api_name=f"{name}_end", queue=False, **quiet())
    stopped = form.stop.click(
        end_form, None, buttons, api_name=f"{name}_stop", queue=False, cancels=[running], **quiet()
    )
    settle = f"() => PromptDebugger.settle({form.view.elem_id!r})"
    stopped.then(None, None, None, js=settle, api_name=f"{name}_settle", **quiet())


def _changed(payload: Any) -> Any:  # noqa: ANN401  # a payload, or gradio's word for no change
    return payload or gr.skip()


def stepwise(
    ask: Callable[..., AsyncGenerator[Step, None]], draw: Callable[[Step], Any] = _changed
) -> Callable[..., AsyncGenerator[Any, None]]:
    """Return the event that draws each step of what `ask` begins, by default a payload; Stop ends both."""

    @functools.wraps(ask)
    async def event(*values: Any) -> AsyncGenerator[Any, None]:  # noqa: ANN401  # the fields' values, in their order
        async with aclosing(ask(*values)) as steps:
            async for step in steps:
                yield draw(step)

    return event


def begin_form() -> tuple[Any, Any]:
    """Return the buttons of a task that has begun."""
    return gr.Button(interactive=False), gr.Button(interactive=True)


def end_form() -> tuple[Any, Any]:
    """Return the buttons of a task that has ended."""
    return gr.Button(interactive=True), gr.Button(interactive=False)
