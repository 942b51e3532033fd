"""6 · `Trace` → documents.

`write_report` turns a trace into one shareable text; the writers are in
`core.report.writers`, one file per form; `wire` is the JSON of the outside
contract, `bundle` the form of it that can be opened again. `redact` is the only
way out: every writer gets a trace whose secrets are gone.
"""

from prompt_debugger.core.report.bundle import Bundle, is_bundle, read_bundle, write_bundle
from prompt_debugger.core.report.counts import calls_words, characters_words, moment_words
from prompt_debugger.core.report.embedded import find_bundle, html_block, markdown_fold, pack_bundle, unpack_bundle
from prompt_debugger.core.report.names import file_stem
from prompt_debugger.core.report.readers import by_engine, engines_sentence, parsers_sentence, reading_words
from prompt_debugger.core.report.redact import redact_body, redact_json, redact_text
from prompt_debugger.core.report.repeat import curl_of, template_sha256
from prompt_debugger.core.report.unfinished import add_error, add_stop_note, ending_name, error_of_end, why_unfinished
from prompt_debugger.core.report.wire import parse_to_json, parse_to_line, prompt_to_json, trace_to_json
from prompt_debugger.core.report.writers.markdown import trace_to_markdown
from prompt_debugger.core.report.writers.terminal import parse_to_terminal, prompt_to_terminal, trace_to_terminal

__all__ = [
    "Bundle",
    "add_error",
    "add_stop_note",
    "by_engine",
    "calls_words",
    "characters_words",
    "curl_of",
    "ending_name",
    "engines_sentence",
    "error_of_end",
    "file_stem",
    "find_bundle",
    "html_block",
    "is_bundle",
    "markdown_fold",
    "moment_words",
    "pack_bundle",
    "parse_to_json",
    "parse_to_line",
    "parse_to_terminal",
    "parsers_sentence",
    "prompt_to_json",
    "prompt_to_terminal",
    "read_bundle",
    "reading_words",
    "redact_body",
    "redact_json",
    "redact_text",
    "template_sha256",
    "trace_to_json",
    "trace_to_markdown",
    "trace_to_terminal",
    "unpack_bundle",
    "why_unfinished",
    "write_bundle",
]
