"""What the panels of one page share: the request column, the views, and the trace of the last run."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradio as gr
from gradio.blocks import Block

from prompt_debugger.ui.web.handlers import Handlers, Payloads
from prompt_debugger.ui.web.panels.request import RequestPanel
from prompt_debugger.ui.web.views import Views

Changes = dict[Block, Any]


class Page(NamedTuple):
    """Handed to every panel's `wire_…()`.

    Attributes:
        handlers: What the events do.
        request: The request column: editor, Run and Stop, the fields of the target.
        views: The views by name; their values are payloads.
        trace: The `core.base.types.Trace` of this visitor's last run; `None` before it and once another case is chosen.
        asks: Number of the last run, where it lost a call about which vLLM's parsers are to be asked; else `None`.
        servers: Base URLs that this visitor ran against from this page: a shared run names what its author likes.
    """

    handlers: Handlers
    request: RequestPanel
    views: Views
    trace: gr.State
    asks: gr.State
    servers: gr.State

    def changes(self, payloads: Payloads) -> Changes:
        """Return an event's answer that gives the named views new payloads."""
        if not payloads:  # a tick without news: gradio wants one output at least
            return {self.views["header"]: gr.skip()}
        return {self.views[name]: payload or "" for name, payload in payloads.items()}


def quiet() -> dict[str, Any]:
    """Return what every event of the page has: not part of any API, no sign of progress on any output.

    Gradio's script tells every output of an event at each step how that stands, and copies all it has for it.
    """
    hidden = {"show_progress": "hidden", "show_progress_on": []}
    return {"api_visibility": "private", **hidden}
