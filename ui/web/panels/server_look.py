"""What the Test button under Target does."""

from __future__ import annotations

from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.panels.request import LookPanel
from prompt_debugger.ui.web.server_look import look_at_server
from prompt_debugger.ui.web.targets import TargetFields


def wire_look(page: Page, panel: LookPanel) -> None:
    """Wire the button; the model of a server that was looked at is asked by the next run anyhow."""

    async def look(*values: str) -> str:
        *fields, key = values
        handlers = page.handlers
        return await look_at_server(handlers.settings, handlers.labs, TargetFields(*fields), str(key or ""))

    inputs = [*page.request.sending_fields]
    panel.button.click(look, inputs, panel.words, api_name="test_server", trigger_mode="once", **quiet())
