"""The row under the header that offers to install the lab: size and place first, then progress and Cancel."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.views import build_view

_TICK_S = 1.0


class InstallRow(NamedTuple):
    """Components of the row."""

    row: gr.Row
    words: gr.HTML
    start: gr.Button
    cancel: gr.Button


def build_install_row(labs: PageLabs) -> InstallRow | None:
    """Place the row; `None` where there is a lab, or visitors are not to install one."""
    if not labs.offers_install:
        return None
    with gr.Row(elem_id="pd-install") as row:
        words = build_view("words", "install_words", _words(labs))
        start = gr.Button("Install the lab", elem_id="pd-install-start", size="sm", scale=0, min_width=120)
        cancel = gr.Button("Cancel", elem_id="pd-install-cancel", size="sm", scale=0, min_width=70, interactive=False)
    return InstallRow(row, words, start, cancel)


def wire_lab(page: Page, row: InstallRow | None, *, is_waited_for: bool) -> None:
    """Wire the line about the lab, which is asked for while something is running, and the row if there is one."""
    timer = gr.Timer(_TICK_S, active=is_waited_for)
    outputs = [page.views["lab"], timer, *(() if row is None else row)]

    def tick() -> list[Any]:
        payload, goes_on = page.handlers.describe_lab()
        return [payload, gr.Timer(active=goes_on), *([] if row is None else _row_now(page.handlers.labs))]

    timer.tick(tick, None, outputs, api_name="describe_lab", queue=False, **quiet())
    if row is None:
        return
    labs = page.handlers.labs

    def start() -> list[Any]:
        labs.install(page.handlers.settings.target)
        return tick()

    def cancel() -> list[Any]:
        labs.installs.cancel()
        return tick()

    row.start.click(start, None, outputs, api_name="install_lab", queue=False, **quiet())
    row.cancel.click(cancel, None, outputs, api_name="cancel_install", queue=False, **quiet())


def _row_now(labs: PageLabs) -> list[Any]:
    is_running = labs.installs.progress is not None
    return [
        gr.Row(visible=labs.offers_install),
        _words(labs),
        gr.Button(interactive=not is_running),
        gr.Button(interactive=is_running),
    ]


def _words(labs: PageLabs) -> str:
    """Return the payload of what the row says: what would be done, or what is being done."""
    progress = labs.installs.progress
    if progress is not None:
        return pack_payload({"text": progress.sentence, "fraction": round(progress.fraction, 3)})
    failure = labs.installs.failure
    failed = "" if failure is None else f"The last attempt failed: {failure.message} "
    return pack_payload({"text": failed + labs.installs.describe(), "fraction": None})
