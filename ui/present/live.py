"""The prompt of what is in the editor, before any run: one line about it, and what can be said already."""

from __future__ import annotations

from prompt_debugger.core.base.errors import DebuggerError, RenderError, RequestError
from prompt_debugger.core.base.types import JSON, Finding, Severity, Trace, count_special
from prompt_debugger.ui.present.findings import evidence_to_json, finding_head
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence, count_of, joined

MAX_TEXT = 200_000  # characters of a prompt that is shown without tokens
MAX_FINDINGS = 6


def live_payload(trace: Trace, source: str) -> str:
    """Return the lines above the live prompt; `source` says where template and tokenizer come from, in words."""
    prompt = trace.local_prompt
    if prompt is None:
        raise ValueError("a live view needs a prompt")
    if prompt.tokens is None:
        size = count_of(len(prompt.text), "character")
    else:
        special = count_special(prompt.tokens)
        size = joined(count_of(len(prompt.tokens), "token"), f"{special:,} special")
    reported = [finding for finding in trace.findings if finding.severity is not Severity.NOTE]
    return pack_payload(
        {
            "state": "ok",
            "sentence": size,
            "hint": source,
            "place": None,
            "findings": [_line(finding) for finding in reported[:MAX_FINDINGS]],
            "more": max(0, len(reported) - MAX_FINDINGS),
            "text": None if prompt.tokens is not None else prompt.text[:MAX_TEXT],
        }
    )


def place_of_error(error: DebuggerError) -> JSON:
    """Return line and column of the template or of the pasted text where something failed; `None` if not known."""
    if isinstance(error, RenderError) and error.template_line is not None:
        return {"template_line": error.template_line, "template_column": error.template_column}
    if isinstance(error, RequestError) and error.line is not None:
        return {"line": error.line, "column": error.column or 1}
    return None


def live_error_payload(error: DebuggerError) -> str:
    """Return the lines where there is no prompt: what happened, where, what to do."""
    empty: dict[str, JSON] = {"findings": [], "more": 0, "text": None}
    sentence = as_sentence(error.message)
    return pack_payload(
        {"state": "error", "sentence": sentence, "hint": error.hint, "place": place_of_error(error), **empty}
    )


def _line(finding: Finding) -> JSON:
    return {
        **finding_head(finding),
        "evidence": evidence_to_json(finding.evidence[0]) if finding.evidence else None,
    }
