"""The Test button under Target: whether a server answers, what it is, what a run will ask. Nothing is generated."""

from __future__ import annotations

from prompt_debugger.core.pipeline import client_of
from prompt_debugger.ui.present.server_look import look_failed_payload, no_server_payload, server_look_payload
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.panels.request import LookPanel
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields, choose_target

WANTS_KEY = (
    "✕ A server answers there with 401: it requires a key, or another one. Enter it under Target, in the field Key."
)


def wire_look(page: Page, panel: LookPanel) -> None:
    """Wire the button; the model of a server that was looked at is asked by the next run anyhow."""

    async def look(*values: str) -> str:
        *fields, key = values
        handlers = page.handlers
        return await look_at_server(handlers.settings, handlers.labs, TargetFields(*fields), str(key or ""))

    inputs = [*page.request.sending_fields]
    panel.button.click(look, inputs, panel.words, api_name="test_server", trigger_mode="once", **quiet())


@shown_as(look_failed_payload)
async def look_at_server(settings: PageSettings, labs: PageLabs, fields: TargetFields, key: str) -> str:
    """Return the payload of the lines below the button."""
    if not fields.endpoint.strip():
        return no_server_payload(
            "No endpoint is given: a run starts the lab. Enter your server's address above to test it."
        )
    target = choose_target(settings, labs, fields, key)
    assert target.base_url is not None, "an endpoint was named"
    async with client_of(target) as client:
        server = await client.probe(target.model)
        if client.wants_key and not settings.public:
            return no_server_payload(WANTS_KEY)
        return server_look_payload(server, client.notes, target.model, fields.endpoint.strip())
