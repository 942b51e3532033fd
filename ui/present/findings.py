"""Findings as cards: worst first as they come, each with evidence that can be jumped to."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from prompt_debugger.core.base.types import Basis, Certainty, Finding, FindingEvidence, JSONObject, Severity, Trace
from prompt_debugger.ui.present.chains import grouped
from prompt_debugger.ui.present.offered_fixes import fix_views
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import SEVERITY_MARKS, STAGE_WORDS, count_of, shortened


def findings_payload(trace: Trace) -> str | None:
    """Return the payload of the findings view; `None` before the diagnosis."""
    if trace.verdict is None:
        return None
    return pack_payload(
        {
            "key": _key(trace),
            "summary": summarize(trace.findings),
            "findings": [*_cards(trace)],
            "groups": [[*group] for group in grouped(trace.findings)],
            "unchecked": [*_unchecked(trace)],
        }
    )


def summarize(findings: tuple[Finding, ...]) -> str:
    """Return how many findings there are, by severity."""
    if not findings:
        return "No problems found."
    counts = [(severity, sum(finding.severity is severity for finding in findings)) for severity in Severity]
    return ", ".join(count_of(count, severity.value) for severity, count in counts if count)


def evidence_to_json(item: FindingEvidence) -> JSONObject:
    """Return a piece of evidence as the views take it, with a label."""
    return {
        "in": item.where,
        "label": _label(item),
        "char_span": None if item.char_span is None else [*item.char_span],
        "token_span": None if item.token_span is None else [*item.token_span],
        "field": item.field,
        "quote": None if item.quote is None else shortened(item.quote, 300),
    }


def _key(trace: Trace) -> str:
    """Return what tells runs apart: how a fix's trial ended is said of one run, not of the next."""
    parts = (trace.request.text, trace.raw and trace.raw.text, trace.chat and trace.chat.message)
    return f"{zlib.crc32(repr(parts).encode('utf-8', 'surrogatepass')):08x}"


def _cards(trace: Trace) -> Iterator[JSONObject]:
    """Yield the cards; a fix that removes several findings is drawn at the first of them."""
    drawn: dict[str, str] = {}
    seen: set[str] = set()
    fixes = fix_views(trace)
    for finding in trace.findings:
        fix = fixes.get(finding.code)
        at = None if fix is None else drawn.setdefault(repr(fix), finding.code)
        is_here = at == finding.code and at not in seen
        seen.add(finding.code)
        yield {**_card(finding), "offered": fix if is_here else None, "offered_at": None if is_here else at}


def finding_head(finding: Finding) -> JSONObject:
    """Return what each view says first of a finding: its code, name, severity and title."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "mark": SEVERITY_MARKS[finding.severity],
        "title": finding.title,
    }


def _card(finding: Finding) -> JSONObject:
    meta = [f"stage: {STAGE_WORDS[finding.stage]}"]
    meta.append("observed" if finding.certainty is Certainty.OBSERVED else "concluded")
    if finding.follows:
        meta.append(f"probably caused by: {finding.follows}")
    return {
        **finding_head(finding),
        "detail": finding.detail,
        "meta": [*meta],
        "evidence": [evidence_to_json(item) for item in finding.evidence],
        "fix": finding.fix,
        "proof": None if finding.proof is None else {"worked": finding.proof.worked, "text": finding.proof.words},
        "links": [*finding.links],
    }


def _label(item: FindingEvidence) -> str:
    if item.field:
        return f"{item.where} {item.native_field or item.field}"
    if item.token_span is not None:
        first, last = item.token_span.start, item.token_span.stop - 1
        return f"{item.where}, token {first}" if last <= first else f"{item.where}, tokens {first}–{last}"
    if item.char_span is not None:
        return f"{item.where}, characters {item.char_span.start}–{item.char_span.stop}"
    return item.where


def _unchecked(trace: Trace) -> Iterator[str]:
    """Yield what this run could not look at: a green tick for it would be a lie."""
    if trace.evidence is not None and trace.evidence is not Basis.SAME_RUN:
        yield "Whether raw output and message come from the same run: the server gave no ids for it."
    if trace.prompt is None or trace.prompt.source != "server":
        yield "The server's own prompt: it was not reported."
    elif trace.local_prompt is None:
        yield "The server's prompt compared with a local render: no template or tokenizer was available."
    if trace.request.body.get("stream") is True and trace.chat is not None:
        if trace.chat_whole is None:
            yield "The answer without `stream`: none was requested for comparison."
    elif trace.chat_stream is None:
        yield "Streaming: no streamed chat was run."
    elif trace.parse is not None and trace.parse.stream_ledger is None:
        yield (
            "The streamed message compared with the raw output: its token ids are unknown, or differ from those "
            "of the other run."
        )
