"""A run as it may leave this machine: HTML report, Markdown, JSON bundle, secrets masked. No gradio.

`share_trace` gives every form; `mask` takes the secrets out before any is made.
The HTML report opens offline with the views of the page: `document` puts the
file together, `sections` says what only the report shows, `report.js` places
the views; the views are those of `assets/`. `verification` is the report of `verify`.
"""

from prompt_debugger.ui.report.document import trace_to_html, trace_to_notebook
from prompt_debugger.ui.report.mask import mask_trace
from prompt_debugger.ui.report.place import known_place
from prompt_debugger.ui.report.sections import again_payload
from prompt_debugger.ui.report.share import SharedRun, describe_bundle, link_state, share_trace
from prompt_debugger.ui.report.verification import apis_to_html, times_of, verification_to_html

__all__ = [
    "SharedRun",
    "again_payload",
    "apis_to_html",
    "describe_bundle",
    "known_place",
    "link_state",
    "mask_trace",
    "share_trace",
    "times_of",
    "trace_to_html",
    "trace_to_notebook",
    "verification_to_html",
]
