"""The what-if and the template panel as a person uses them: what their tests click and read."""

from __future__ import annotations

from tests.browser.page import DebuggerPage
from tests.patience import PATIENCE_MS

# Gradio's editor scrolls without a tab stop of its own.
GRADIO_RULES = frozenset({"scrollable-region-focusable"})


def open_bench(page: DebuggerPage, name: str) -> None:
    """Open `switches`, `turns`, `count` or `setups` of the what-if panel."""
    page.page.click("#pd-tab-what-if")
    page.page.click(f"#pd-tab-of-pd-bench-{name}")


def run_bench(page: DebuggerPage, view: str) -> None:
    """Press the start button of `switches`, `turns`, `token-count` or `setups` and wait for the end."""
    # The end of an earlier start is still there until the first word of this one.
    page.page.locator(f"#pd-{view} .pd").evaluate_all("all => all.forEach((one) => { one.dataset.state = ''; })")
    page.page.click(f"#pd-start-{view}")
    page.page.wait_for_selector(
        f"#pd-{view} .pd[data-state=done], #pd-{view} .pd[data-state=error]", timeout=PATIENCE_MS
    )
    page.page.wait_for_selector(f"#pd-start-{view}:not([disabled])", timeout=PATIENCE_MS)


def open_template(page: DebuggerPage) -> None:
    """Open the template panel and wait until its request is rendered."""
    page.page.click("#pd-tab-template")
    wait_for_edit(page, "ok")


def wait_for_edit(page: DebuggerPage, state: str) -> None:
    """Wait until the line above the prompt says that the render went well (`ok`) or not (`error`)."""
    page.page.wait_for_selector(f"#pd-edited-status .pd[data-state={state}]", timeout=PATIENCE_MS)


def type_template(page: DebuggerPage, text: str, element: str = "pd-template-source") -> None:
    """Replace what is in the template editor."""
    page.page.click(f"#{element} .cm-content")
    page.page.keyboard.press("ControlOrMeta+a")
    page.page.keyboard.insert_text(text)


def template_state(page: DebuggerPage, expression: str) -> str:
    """Return something of the template editor's state, as a script expression on `state`."""
    return str(
        page.page.evaluate(
            f"""() => {{
                const state = document.querySelector("#pd-template-source .cm-content").cmTile.view.state;
                return {expression};
            }}"""
        )
    )
