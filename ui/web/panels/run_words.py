"""What Run and the target say: where the request goes, or that the text in the editor is read without a server."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.events import Dependency

from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.pasted import Reading
from prompt_debugger.ui.web.targets import RUN_HERE, RunOn, run_label, target_label


def where_run_goes(page: Page, endpoint: str, run_on: str, api: str, *, reads_here: bool = False) -> Changes:
    """Return what the Run button and the line of the target say."""
    aimed = (page.handlers.settings, page.handlers.labs, endpoint, RunOn(run_on))
    run = RUN_HERE if reads_here else run_label(*aimed)
    return {page.request.run: gr.Button(run), page.request.target_row: gr.Accordion(target_label(*aimed, api))}


def wire_run_words(page: Page, *opened: Dependency) -> None:
    """Wire what follows the target, and what follows a text that no one has typed.

    Args:
        page: Whose words they are.
        opened: The events that put another text into the editor. Where the script does so, it presses a button.
    """
    panel = page.request

    def by_target(endpoint: str, run_on: str, api: str, reads_here: object) -> Changes:
        return where_run_goes(page, endpoint, run_on, api, reads_here=bool(reads_here))

    def by_text(endpoint: str, run_on: str, api: str, text: str, name: str, row: float | None) -> Changes:
        reads_here = page.handlers.check_request(text, Reading(name, int(row or 1))).reads_here
        return {panel.reads_here: reads_here, **where_run_goes(page, endpoint, run_on, api, reads_here=reads_here)}

    def choose(run_on: str, endpoint: str, api: str, reads_here: object) -> Changes:
        kept = "" if RunOn(run_on) is RunOn.LAB else endpoint
        # The value is given back: the script takes a saved server for the target, once its address is under Target.
        return {
            panel.run_on: run_on,
            panel.endpoint: gr.skip() if kept == endpoint else kept,
            **by_target(kept, run_on, api, reads_here),
        }

    words = [panel.run, panel.target_row]
    target = [panel.endpoint, panel.run_on, panel.api]
    live: dict[str, Any] = {"trigger_mode": "always_last", **quiet()}
    panel.endpoint.change(by_target, [*target, panel.reads_here], words, api_name="name_target", **live)
    panel.api.change(by_target, [*target, panel.reads_here], words, api_name="name_api", **live)
    text = [*target, panel.editor, panel.read_as, panel.row]
    panel.name_run.click(by_text, text, [*words, panel.reads_here], api_name="name_text", **live)
    for event, name in zip(opened, ("name_after_case", "name_after_opening"), strict=True):
        event.success(by_text, text, [*words, panel.reads_here], api_name=name, **live)
    panel.run_on.input(
        choose,
        [panel.run_on, panel.endpoint, panel.api, panel.reads_here],
        [panel.run_on, panel.endpoint, *words],
        js="(chosen, ...rest) => PromptDebugger.chooseRun(chosen, ...rest)",
        api_name="run_on",
        **quiet(),
    )
