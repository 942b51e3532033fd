"""Saved servers under Target and in Run's menu: the browser keeps them and fills the fields; never with a key."""

from __future__ import annotations

import json

import gradio as gr

from prompt_debugger.ui.web.page import Page, quiet


def wire_servers(page: Page, view: gr.HTML | None) -> None:
    """Wire the list to the fields; a public page, whose visitors name no server of their own, has none."""
    if view is None:
        return
    request = page.request
    fields, choices = request.target_fields, json.dumps([*request.run_on.choices])
    use = f"(...fields) => PromptDebugger.applyServer({choices}, ...fields)"
    outputs = [*fields, request.key, request.run_on]
    view.change(None, fields, outputs, js=use, api_name="use_server", **quiet())
