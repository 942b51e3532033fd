"""6 · `Trace` → documents.

`write_report` turns a trace into one shareable text; the writers are in
`core.report.writers`, one file per form. `redact` is the only way out: every
writer gets a trace whose secrets are gone.
"""

from core.report.redact import redact_json, redact_text
from core.report.writers.json import (
    finding_to_json,
    parse_to_json,
    prompt_to_json,
    request_to_json,
    trace_to_json,
    verdict_to_json,
)
from core.report.writers.markdown import trace_to_markdown
from core.report.writers.terminal import parse_to_terminal, prompt_to_terminal, safe, trace_to_terminal

__all__ = [
    "finding_to_json",
    "parse_to_json",
    "parse_to_terminal",
    "prompt_to_json",
    "prompt_to_terminal",
    "redact_json",
    "redact_text",
    "request_to_json",
    "safe",
    "trace_to_json",
    "trace_to_markdown",
    "trace_to_terminal",
    "verdict_to_json",
]
