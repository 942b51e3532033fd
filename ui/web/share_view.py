"""The Share menu as a gradio component: drawn by `assets/share.js`, it asks by events that carry what was chosen."""

from __future__ import annotations

import gradio as gr

_SCRIPT = """
const start = () => {
  if (!globalThis.PromptDebugger || !globalThis.PromptDebugger.ready) return setTimeout(start, 15);
  const root = element.querySelector(".pd");
  root.pdShare = (form) => trigger("select", { index: 0, value: form });
  root.pdOpen = (packed) => trigger("submit", { packed });
  root.pdApply = () => trigger("change");
  const view = globalThis.PromptDebugger.attach(root, "share", "share");
  const update = () => view.set(props.value || "");
  watch("value", update);
  update();
};
start();
"""


def build_share(value: str) -> gr.HTML:
    """Return the menu, drawn with what the page takes from links."""
    return gr.HTML(
        value=value,
        html_template='<div class="pd"></div>',
        js_on_load=_SCRIPT,
        elem_id="pd-share",
        elem_classes=["pd-view"],
        apply_default_css=False,
        padding=False,
        container=False,
    )
