"""What Run and the target say: where the request goes, or that the text in the editor is read without a server."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
from gradio.events import Dependency

from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.pasted import Reading
from prompt_debugger.ui.web.targets import RUN_HERE, RunOn, run_label, target_label

# In the browser, of the newest answers about the text and about the target, whichever came last.
_LABEL = f"(readsHere, goesTo) => readsHere ? {json.dumps(RUN_HERE)} : goesTo"


def where_run_goes(page: Page, endpoint: str, run_on: str, api: str) -> Changes:
    """Return where a request goes, as the Run button and the line of the target say it."""
    aimed = (page.handlers.settings, page.handlers.labs, endpoint, RunOn(run_on))
    return {page.request.goes_to: run_label(*aimed), page.request.target_row: gr.Accordion(target_label(*aimed, api))}


def show_on_run(page: Page, *answered: Dependency) -> None:
    """Put on the Run button what is known of the text and of the target, whenever one of them was `answered`."""
    panel = page.request
    for event in answered:
        event.success(None, [panel.reads_here, panel.goes_to], panel.run, js=_LABEL, **quiet())


def wire_run_words(page: Page, *opened: Dependency) -> None:
    """Wire what follows the target, and what follows a text that no one has typed.

    Args:
        page: Whose words they are.
        opened: The events that put another text into the editor. Where the script does so, it presses a button.
    """
    panel = page.request

    def by_target(endpoint: str, run_on: str, api: str) -> Changes:
        return where_run_goes(page, endpoint, run_on, api)

    def by_text(text: str, name: str, row: float | None) -> bool:
        return page.handlers.check_request(text, Reading(name, int(row or 1))).reads_here

    def choose(run_on: str, endpoint: str, api: str) -> Changes:
        kept = "" if RunOn(run_on) is RunOn.LAB else endpoint
        # The value is given back: the script takes a saved server for the target, once its address is under Target.
        return {
            panel.run_on: run_on,
            panel.endpoint: gr.skip() if kept == endpoint else kept,
            **by_target(kept, run_on, api),
        }

    goes = [panel.goes_to, panel.target_row]
    target = [panel.endpoint, panel.run_on, panel.api]
    text = [panel.editor, panel.read_as, panel.row]
    live: dict[str, Any] = {"trigger_mode": "always_last", **quiet()}
    named = [
        panel.endpoint.change(by_target, target, goes, api_name="name_target", **live),
        panel.api.change(by_target, target, goes, api_name="name_api", **live),
        panel.name_run.click(by_text, text, panel.reads_here, api_name="name_text", **live),
    ]
    for event, name in zip(opened, ("name_after_case", "name_after_opening"), strict=True):
        named.append(event.success(by_text, text, panel.reads_here, api_name=name, **live))
    chosen = panel.run_on.input(
        choose,
        [panel.run_on, panel.endpoint, panel.api],
        [panel.run_on, panel.endpoint, *goes],
        js="(chosen, ...rest) => PromptDebugger.chooseRun(chosen, ...rest)",
        api_name="run_on",
        **quiet(),
    )
    show_on_run(page, *named, chosen)
