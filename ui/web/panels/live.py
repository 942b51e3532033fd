"""The live prompt in the Render pane: what the request in the editor becomes, while it is typed."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.web.experiments import Asked
from prompt_debugger.ui.web.live import Live, LiveRender
from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.targets import BY_REQUEST, TargetFields
from prompt_debugger.ui.web.views import build_token_view, build_view


class LivePanel(NamedTuple):
    """Components of the live prompt."""

    status: gr.HTML
    tokens: gr.HTML
    refresh: gr.Button


def build_live() -> LivePanel:
    """Place the panel; the page's script asks for the first prompt once it has loaded."""
    with gr.Column(elem_id="pd-live"):
        status = build_view("live_status", "live_status")
        tokens = build_token_view("live_tokens")
    refresh = gr.Button("Render live", elem_id="pd-live-refresh")  # pressed by the script, out of everyone's way
    return LivePanel(status, tokens, refresh)


def wire_live(page: Page, panel: LivePanel, live: LiveRender) -> None:
    """Wire the panel: the script presses its button a moment after the last key."""

    async def render(visitor: gr.Request, text: str, trace: Trace | None, *values: str) -> tuple[Any, Any, Any]:
        fields = TargetFields(*values)
        drawn = await live.render(Asked(text, fields, trace), visitor.session_hash or "")
        if drawn is None:
            return gr.skip(), gr.skip(), gr.skip()
        return drawn.status, gr.skip() if drawn.tokens is None else drawn.tokens, _chooser(drawn, fields)

    inputs = [page.request.editor, page.trace, *page.request.target_fields]
    outputs = [panel.status, panel.tokens, page.request.template_name]
    panel.refresh.click(
        render, inputs, outputs, api_name="live_render", trigger_mode="multiple", concurrency_limit=8, **quiet()
    )
    for field in page.request.target_fields:
        field.change(None, None, None, js="() => PromptDebugger.renderLive()", api_name="target_changed", **quiet())  # type: ignore[attr-defined]  # text boxes and lists have it


def _chooser(drawn: Live, fields: TargetFields) -> Any:  # noqa: ANN401  # gradio's word for a change of a component
    """Return the list of the model's templates; it is shown where there are several."""
    if drawn.template_names is None:
        return gr.skip()
    names = drawn.template_names if len(drawn.template_names) > 1 else ()
    chosen = fields.template_name if fields.template_name in names else ""
    return gr.update(choices=[BY_REQUEST, *((name, name) for name in names)], value=chosen, visible=bool(names))
