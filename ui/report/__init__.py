"""One run as one HTML file: opens offline, with the views of the page, secrets masked. No gradio.

`trace_to_html` is all there is; `mask` takes the secrets out before anything
is drawn, `document` puts the file together, `sections` says what only the
report shows. `report.js` places the views; the views are those of `assets/`.
"""

from ui.report.document import trace_to_html
from ui.report.mask import mask_trace

__all__ = ["mask_trace", "trace_to_html"]
