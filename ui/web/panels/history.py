"""The History menu: the browser keeps the runs; the program packs one at its end, and draws one that comes back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import gradio as gr
from gradio.events import Dependency

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.orders import FILL_ORDER, OrderPanel
from prompt_debugger.ui.web.parse_tools import ParseTools
from prompt_debugger.ui.web.sharing import Sharing
from prompt_debugger.ui.web.work import as_it_ended

HISTORY_LIMIT = 4
_NUMBER = re.compile(r"[0-9]{1,12}")


def wire_history(page: Page, view: gr.HTML, sharing: Sharing, *, ended: Dependency) -> Dependency:
    """Wire the menu; returns the event that opens a run. When a run `ended`, the script asks for its file."""

    def pack(trace: Trace | None, event: gr.SelectData) -> str:
        return sharing.pack_run(trace) or sharing.nothing_packed()

    async def reopen(visitor: gr.Request, event: gr.EventData) -> Changes:
        opened = await asyncio.to_thread(sharing.open, str(event.packed), is_kept=True)
        if opened.trace is None:
            return {page.views["header"]: gr.skip()}
        await page.handlers.stops.silence(visitor.session_hash or "")  # what a run would still say belongs to another
        payloads = as_it_ended(opened.payloads, opened.trace, getattr(event, "ended", None))
        if getattr(event, "is_edited", False):  # what is in the editor is another request
            payloads = {name: payload for name, payload in payloads.items() if name != "notices"}
        changes: Changes = {page.trace: opened.trace, **page.changes(payloads)}
        return {**changes, page.request.case: None} if getattr(event, "is_chosen", False) else changes

    fields = page.request.kept_fields
    tell = "(...fields) => PromptDebugger.runEnded(...fields)"
    ended.then(None, fields, None, js=tell, api_name="run_ended", **quiet())
    # A run may end while the one before it is still packed: neither waits, and none is left out.
    several: dict[str, Any] = {"trigger_mode": "multiple", "concurrency_limit": HISTORY_LIMIT}
    packed = view.select(pack, page.trace, view, api_name="pack_run", **several, **quiet())
    packed.failure(None, None, None, js="() => PromptDebugger.runRefused()", **quiet())
    outputs = [page.trace, page.request.case, *page.views.values()]
    # Who opens another one before the first has come means that.
    return view.submit(reopen, None, outputs, api_name="reopen_run", **several, **quiet())


def wire_kept_question(view: gr.HTML, orders: OrderPanel, sharing: Sharing, tools: ParseTools) -> None:
    """Wire the question about a lost call of a run that is kept, and shown no longer: the next one did not wait for it.

    The script puts into `orders` the run's number in the browser, a line break, and its file as packed there.
    """

    async def ask(order: str) -> str:
        number, _, packed = order.partition("\n")
        nothing: str = gr.skip()
        if not _NUMBER.fullmatch(number):
            return nothing  # no script of this page sends it
        opened = await asyncio.to_thread(sharing.open, packed, is_kept=True)
        judged = None if opened.trace is None else await tools.ask_silently(opened.trace)
        return await asyncio.to_thread(sharing.pack_run, judged, int(number)) or nothing

    orders.ask_kept.click(ask, orders.order, view, js=FILL_ORDER, api_name="ask_kept_call", **quiet())
