"""Views that ask the program for something: drawn like the others, with events that carry what was chosen."""

from __future__ import annotations

import gradio as gr

# Gradio sends on only the events whose names occur here: "select", "submit", "change".
_SCRIPT = """
const start = () => {{
  if (!globalThis.PromptDebugger) return setTimeout(start, 15);
  const root = element.querySelector(".pd");
  root.pdAsk = (event, data) => trigger(event, data);
  const view = globalThis.PromptDebugger.attach(root, "{kind}", "{kind}");
  const update = () => view.set(props.value || "");
  watch("value", update);
  update();
}};
start();
"""


def build_share(value: str) -> gr.HTML:
    """Return the Share menu, drawn with what the page takes from links."""
    return _build("share", value)


def build_history() -> gr.HTML:
    """Return the History menu; the script fills it from what the browser keeps."""
    return _build("history", "")


def build_comparison_view() -> gr.HTML:
    """Return the comparison of two runs, to which a bundle can be given."""
    return _build("comparison", "")


def build_asking_view(kind: str) -> gr.HTML:
    """Return an empty view of a kind; what is asked or pressed in it becomes an event."""
    return _build(kind, "")


def _build(kind: str, value: str) -> gr.HTML:
    return gr.HTML(
        value=value,
        html_template='<div class="pd"></div>',
        js_on_load=_SCRIPT.format(kind=kind),
        elem_id=f"pd-{kind.replace('_', '-')}",
        elem_classes=["pd-view"],
        apply_default_css=False,
        padding=False,
        container=False,
    )
