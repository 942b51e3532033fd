"""Views of ours as gradio components: each a `gr.HTML` fed by one payload string.

Factories, never subclasses: gradio writes a stub file next to the source of any
subclass. The markup is static and the value never enters a template, where
gradio would run it as code; the scripts of `assets/` draw it as text.
"""

from __future__ import annotations

import gradio as gr

Views = dict[str, gr.HTML]

_SCRIPT = """
const start = () => {{
  if (!globalThis.PromptDebugger) return setTimeout(start, 15);
  const root = element.querySelector(".pd");{ask}
  const view = globalThis.PromptDebugger.attach(root, "{kind}", "{name}");
  const update = () => view.set(props.value || "");
  watch("value", update);
  update();
}};
start();
"""
# Gradio sends on only the events whose names occur here: "select", "submit", "change".
_ASK = "\n  root.pdAsk = (event, data) => trigger(event, data);"


def build_view(kind: str, name: str, value: str | None = None, *, asks: bool = False) -> gr.HTML:
    """Return a view.

    Args:
        kind: Which script draws it: a name in `builders` of `assets/js/lib/builders.js`.
        name: Its own name on the page; other views and findings jump to it by that.
        value: Its first payload.
        asks: Whether it asks the program for something: what is chosen in it becomes an event.
    """
    return gr.HTML(
        value=value or "",
        html_template='<div class="pd"></div>',
        js_on_load=_SCRIPT.format(kind=kind, name=name, ask=_ASK if asks else ""),
        elem_id=f"pd-{name.replace('_', '-')}",
        elem_classes=["pd-view"],
        apply_default_css=False,
        padding=False,
        container=False,
    )


def build_asking_view(kind: str, value: str = "") -> gr.HTML:
    """Return a view that is the only one of its kind and asks the program for something."""
    return build_view(kind, kind, value, asks=True)


def build_token_view(name: str, value: str | None = None) -> gr.HTML:
    """Return a token view: `prompt_tokens` or `raw_tokens`."""
    return build_view("token_view", name, value)


def build_ledger_view(value: str | None = None) -> gr.HTML:
    """Return the ledger picture."""
    return build_view("ledger", "ledger", value)


def build_findings_view(value: str | None = None) -> gr.HTML:
    """Return the findings."""
    return build_view("findings", "findings", value)
