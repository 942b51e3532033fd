"""Saved servers under Target: the browser keeps them, and fills the fields; nothing is sent, and never a key."""

from __future__ import annotations

import gradio as gr

from prompt_debugger.ui.web.page import Page, quiet


def wire_servers(page: Page, view: gr.HTML | None) -> None:
    """Wire the list to the fields; a public page, whose visitors name no server of their own, has none."""
    if view is None:
        return
    fields = page.request.target_fields
    use = "(...fields) => PromptDebugger.applyServer(...fields)"
    view.change(None, fields, [*fields, page.request.key], js=use, api_name="use_server", **quiet())
