"""What leaves this program as JSON and comes back: one format for `--json`, bundles, links and recorded runs.

documents   what the outside contract promises, as dataclasses; records of `core.base.types` stand in them as they are
traces      a value → its document, and back
form        a document → JSON, and back, by pydantic; checks what it reads
dense       the whole run as journals keep it
damage      the one error that a wrong document gives, with the place

A field that is added to a value of `core.base.types` is in the documents at once; what a bundle alone
needs is left out of `--json` (`whole=False`).
"""

from prompt_debugger.core.report.wire.damage import DamageError
from prompt_debugger.core.report.wire.dense import open_dense, trace_to_dense_line
from prompt_debugger.core.report.wire.documents import ErrorDocument, ParseDocument, RenderDocument, RunDocument
from prompt_debugger.core.report.wire.form import dump_document, load_document, write_json, write_line
from prompt_debugger.core.report.wire.traces import (
    parse_to_json,
    parse_to_line,
    prompt_to_json,
    trace_from_json,
    trace_to_json,
    trace_to_line,
)

__all__ = [
    "DamageError",
    "ErrorDocument",
    "ParseDocument",
    "RenderDocument",
    "RunDocument",
    "dump_document",
    "load_document",
    "open_dense",
    "parse_to_json",
    "parse_to_line",
    "prompt_to_json",
    "trace_from_json",
    "trace_to_dense_line",
    "trace_to_json",
    "trace_to_line",
    "write_json",
    "write_line",
]
