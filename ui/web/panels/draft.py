"""What was typed survives a reload: kept by the browser, and brought back when the page is drawn.

It is sent to no one but this page's own program, which reads it to say what Run would do.
"""

from __future__ import annotations

from prompt_debugger.ui.web.page import Page, quiet
from prompt_debugger.ui.web.views import build_asking_view


def wire_draft(page: Page) -> None:
    """Place the view that brings a draft back, and tell the script of what is typed and named. Never of the key."""
    request = page.request
    draft = build_asking_view("draft")
    # One event for all that follows a key: for each one Gradio copies the whole text, which may have megabytes.
    typed = "() => PromptDebugger.typed()"
    request.editor.input(None, None, request.case, js=typed, api_name="typed", **quiet())
    keep = "(...fields) => PromptDebugger.keepTarget(...fields)"
    request.run.click(None, request.kept_fields, None, js=keep, api_name="keep_run_target", **quiet())
    # A paste that names a server fills it in; no one has typed then.
    request.endpoint.change(None, request.kept_fields, None, js=keep, api_name="keep_pasted_target", **quiet())
    for field in request.target_fields:
        field.input(None, request.kept_fields, None, js=keep, api_name="keep_target", **quiet())  # type: ignore[attr-defined]  # text boxes and lists have it
    kept = [request.notices, request.case, *request.kept_fields]
    restore = "(...values) => PromptDebugger.restoreDraft(...values)"
    draft.change(None, kept, kept, js=restore, api_name="restore_draft", **quiet())
