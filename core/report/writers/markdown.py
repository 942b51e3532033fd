"""A trace as Markdown for a bug tracker: verdict, what was seen, how to see it again."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator

from core.report.redact import redact_json, redact_text
from core.types import JSON, Finding, Prompt, Server, Trace

_LIMIT = 6000


def trace_to_markdown(trace: Trace) -> str:
    """Return the run as Markdown, secrets removed, long texts cut with the number of characters left out."""
    return redact_text("\n".join(_lines(trace)).rstrip() + "\n")


def _lines(trace: Trace) -> Iterator[str]:
    verdict = trace.verdict.sentence if trace.verdict is not None else "No verdict: the run did not finish."
    yield f"**{_inline(verdict)}**"
    yield ""
    yield from _facts(trace)
    for finding in trace.findings:
        yield from _finding(finding)
    yield from _block("Request", _json(dict(trace.request.body)), "json")
    if trace.prompt is not None:
        yield from _block("Prompt the model read", trace.prompt.text)
    if trace.raw is not None:
        yield from _block("Raw output", trace.raw.text)
    if trace.chat is not None:
        yield from _block("Message the server returned", _json(dict(trace.chat.message)), "json")
    yield from _block("Reproduce", _curl(trace), "sh")


def _facts(trace: Trace) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for name, value in _fact_rows(trace):
        yield f"| {name} | {_inline(value)} |"
    yield ""


def _fact_rows(trace: Trace) -> Iterator[tuple[str, str]]:
    if trace.evidence is not None:
        yield "evidence", trace.evidence.value
    if trace.server is not None:
        yield "server", _server(trace.server)
        if trace.server.model:
            yield "model", trace.server.model
    if trace.prompt is not None:
        yield "prompt", _prompt(trace.prompt)
    if trace.raw is not None:
        count = "" if trace.raw.token_ids is None else f"{len(trace.raw.token_ids)} tokens, "
        yield "completion", f"{count}{len(trace.raw.text)} characters, finish_reason {trace.raw.finish_reason}"
    if trace.chat is not None:
        yield "chat", f"finish_reason {trace.chat.finish_reason}"


def _server(server: Server) -> str:
    parts = [server.kind, server.version or "version unknown"]
    if server.tool_parser:
        parts.append(f"tool parser {server.tool_parser}")
    if server.reasoning_parser:
        parts.append(f"reasoning parser {server.reasoning_parser}")
    return ", ".join(parts)


def _prompt(prompt: Prompt) -> str:
    count = "tokens unknown" if prompt.tokens is None else f"{len(prompt.tokens)} tokens"
    if prompt.template is None:
        return count
    return (
        f"{count}, template sha256 {hashlib.sha256(prompt.template.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    )


def _finding(finding: Finding) -> Iterator[str]:
    marks = ", ".join((finding.severity.value, finding.stage.value, finding.certainty.value))
    yield f"### {finding.code} {finding.name} ({marks})"
    yield ""
    yield f"{_inline(finding.title)} {_inline(finding.detail)}"
    yield ""
    if finding.fix:
        yield f"Fix: {_inline(finding.fix)}"
        yield ""
    for link in finding.links:
        yield f"- {link}"
    if finding.links:
        yield ""


def _block(title: str, text: str, language: str = "") -> Iterator[str]:
    cut = text[:_LIMIT]
    longest = run = 0
    for char in cut:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield fence + language
    yield cut
    yield fence
    if len(text) > _LIMIT:
        yield f"({len(text) - _LIMIT} more characters left out)"
    yield ""
    yield "</details>"
    yield ""


def _inline(text: str) -> str:
    """Return `text` on one line, with what Markdown tables and HTML would take as markup escaped."""
    flat = " ".join(text.split())
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("`", "\\`")


def _json(value: JSON) -> str:
    return json.dumps(redact_json(value), ensure_ascii=False, indent=2)


def _curl(trace: Trace) -> str:
    body = trace.sent or trace.request.body
    base_url = trace.server.base_url if trace.server is not None else "http://localhost:8000/v1"
    text = json.dumps(redact_json(dict(body)), ensure_ascii=False)
    return f"curl {base_url}/chat/completions -H 'Content-Type: application/json' -d {shlex.quote(text)}"
