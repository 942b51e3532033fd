"""The Share menu in the header: files of the last run, a link, and a bundle or link opened again."""

from __future__ import annotations

import asyncio
from typing import Any

import gradio as gr
from gradio.events import Dependency

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.run_words import show_on_run
from prompt_debugger.ui.web.sharing import RESULT_VIEWS, Sharing, Wish
from prompt_debugger.ui.web.targets import TargetFields

SHARE_LIMIT = 4


def wire_share(page: Page, sharing: Sharing) -> Dependency:
    """Wire the menu and the link the page was opened with; returns the event that opens a run."""
    request, menu = page.request, page.views["share"]

    # Gradio fills in an event where it finds one annotated, and only after arguments that are spelled out.
    def share(
        trace: Trace | None,
        text: str,
        endpoint: str,
        model: str,
        tokenizer: str,
        tool_parser: str,
        reasoning_parser: str,
        _template_name: str,
        event: gr.SelectData,
    ) -> str:
        fields = TargetFields(endpoint, model, tokenizer, tool_parser, reasoning_parser)
        asked = event.value if isinstance(event.value, dict) else {}  # else nothing that the menu sends
        wish = Wish(str(asked.get("title", "")), str(asked.get("at", "")))
        return sharing.share(str(asked.get("form", "")), trace, text, fields, wish)

    async def open_bundle(visitor: gr.Request, event: gr.EventData) -> Changes:
        opened = await asyncio.to_thread(sharing.open, str(event.packed))
        if opened.trace is None:
            return {menu: opened.answer}
        await page.handlers.stops.silence(visitor.session_hash or "")  # what a run would still say belongs to another
        changes: Changes = {menu: opened.answer, page.trace: opened.trace, request.editor: opened.text}
        return {**changes, request.case: None, **page.changes(opened.payloads)}

    inputs = [page.trace, request.editor, *request.target_fields]
    outputs: list[Any] = [page.trace, request.editor, request.case, *page.views.values()]
    menu.select(share, inputs, menu, api_name="share", concurrency_limit=SHARE_LIMIT, **quiet())
    # Who opens another one before the first has come means that.
    several: dict[str, Any] = {"trigger_mode": "multiple", "concurrency_limit": SHARE_LIMIT}
    opened = menu.submit(open_bundle, None, outputs, api_name="open_bundle", **several, **quiet())
    changed = [
        request.editor, request.tool_parser, request.reasoning_parser, request.model, request.tokenizer, request.case,
        request.goes_to, page.views["notices"], *(page.views[name] for name in RESULT_VIEWS), page.views["verdict"],
    ]  # fmt: skip
    # In the browser alone: what a link holds is not sent anywhere by opening it.
    js = "(...values) => globalThis.PromptDebugger.applyLink(...values)"
    show_on_run(page, menu.change(None, changed, changed, js=js, **quiet()))
    return opened
