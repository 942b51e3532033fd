"""The views on a page of their own, without gradio: as an exported report uses them."""

from __future__ import annotations

import json

from prompt_debugger.core.base.types import Trace
from prompt_debugger.ui.present import RunView
from prompt_debugger.ui.scripts import one_script
from prompt_debugger.ui.web.head import STYLES, read_assets

_VIEWS = {
    "header": "header",
    "verdict": "verdict",
    "stages": "stages",
    "difference": "difference",
    "prompt_tokens": "token_view",
    "template": "template",
    "completion": "completion",
    "raw_tokens": "token_view",
    "ledger": "ledger",
    "findings": "findings",
}
_PANELS = {
    "render": ("difference", "prompt_tokens", "template"),
    "complete": ("completion", "raw_tokens"),
    "parse": ("ledger",),
    "findings": ("findings",),
}
_CSP = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def build_static_page(trace: Trace, *, dark: bool = False) -> str:
    """Return a page with every view of a finished run."""
    payloads = {**RunView().finish(trace)}
    data = json.dumps(payloads).replace("<", "\\u003c")
    top = "".join(_place(name) for name in ("header", "verdict", "stages"))
    panels = "".join(
        f'<div id="pd-panel-{panel}">{"".join(_place(name) for name in names)}</div>'
        for panel, names in _PANELS.items()
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Views</title>
<meta http-equiv="Content-Security-Policy" content="{_CSP}">
<style>{read_assets(STYLES)}
body {{ margin: 0; padding: 12px; background: var(--pd-ground); }}
#pd-prompt-tokens, #pd-raw-tokens, #pd-template {{ height: 300px; }} .pd-closed {{ display: none; }}</style></head>
<body class="{"dark" if dark else ""}"><main>{top}{panels}<div id="pd-inspector" role="status"></div></main>
<script>
const PromptDebugger = Object.assign({{}}, ...Object.values({one_script("views/views.js")}));
const payloads = {data}, kinds = {json.dumps(_VIEWS)};
Promise.all(Object.entries(kinds).map(([name, kind]) =>
  PromptDebugger.attach(document.getElementById("pd-" + name.replace("_", "-")), kind, name).set(payloads[name] || "")
)).then(() => {{ PromptDebugger.inspect([]); document.documentElement.dataset.ready = "true"; }});
</script></body></html>"""


def _place(name: str) -> str:
    return f'<div id="pd-{name.replace("_", "-")}" class="pd"></div>'
