"""A trace as Markdown for a bug tracker: verdict, what was seen, how to see it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from core.report.counts import calls_words, characters_words
from core.report.redact import redact_json, redact_text
from core.report.repeat import BUNDLE_NAME, curl_of, curl_of_bundle, template_sha256
from core.types import JSON, Finding, Prompt, Server, Trace

_LIMIT = 6000  # of one block; a GitHub issue takes 65,536 characters
_MOST_FINDINGS = 12
_LONGEST_DETAIL = 1500


def trace_to_markdown(trace: Trace, program: str = "") -> str:
    """Return the run as Markdown, secrets removed, long texts cut with the number of characters left out.

    Args:
        trace: Stages that have not run are left out.
        program: Version of this program.
    """
    return redact_text("\n".join(_lines(trace, program)).rstrip() + "\n")


def _lines(trace: Trace, program: str) -> Iterator[str]:
    verdict = trace.verdict.sentence if trace.verdict is not None else "No verdict: the run did not finish."
    yield f"**{_inline(verdict)}**"
    yield ""
    yield from _facts(trace, program)
    if trace.refusal is not None:
        yield f"The server refused the request, HTTP {trace.refusal.status}: {_inline(trace.refusal.message)}"
        yield ""
    for finding in trace.findings[:_MOST_FINDINGS]:
        yield from _finding(finding)
    more = trace.findings[_MOST_FINDINGS:]
    if more:
        yield f"And {len(more)} more: " + ", ".join(f"{finding.code} {finding.name}" for finding in more)
        yield ""
    yield from _block("Request", _json(dict(trace.request.body)), "json")
    if trace.prompt is not None:
        yield from _block("Prompt the model read", trace.prompt.text)
    if trace.raw is not None:
        yield from _block("Raw output", trace.raw.text)
    if trace.chat is not None:
        yield from _block("Message the server returned", _json(dict(trace.chat.message)), "json")
    yield from _reproduce(trace)


def _facts(trace: Trace, program: str) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for name, value in _fact_rows(trace, program):
        yield f"| {name} | {_inline(value)} |"
    yield ""


def _fact_rows(trace: Trace, program: str) -> Iterator[tuple[str, str]]:
    yield "Prompt Debugger", program or "from a checkout"
    if trace.evidence is not None:
        yield "evidence", trace.evidence.value
    if trace.server is not None:
        yield "server", _server(trace.server)
        if trace.server.model:
            yield "model", trace.server.model
    if trace.prompt is not None:
        yield "prompt", _prompt(trace.prompt)
    yield from _templates(trace)
    if trace.raw is not None:
        count = "" if trace.raw.token_ids is None else f"{len(trace.raw.token_ids)} tokens, "
        yield "completion", f"{count}{len(trace.raw.text)} characters, finish_reason {trace.raw.finish_reason}"
    if trace.parse is not None:
        yield "calls", calls_words(trace.parse.ledger)
        yield "characters", characters_words(trace.parse, trace.parse.ledger)
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
    return f"{count}, {'from the server' if prompt.source == 'server' else 'local render'}"


def _templates(trace: Trace) -> Iterator[tuple[str, str]]:
    used, local = template_sha256(trace.prompt), template_sha256(trace.local_prompt)
    if used or local:
        yield "template sha256", used or local or ""
    if used and local and used != local:
        yield "local template sha256", local


def _finding(finding: Finding) -> Iterator[str]:
    marks = ", ".join((finding.severity.value, finding.stage.value, finding.certainty.value))
    yield f"### {finding.code} {finding.name} ({marks})"
    yield ""
    detail = finding.detail
    if len(detail) > _LONGEST_DETAIL:
        detail = f"{detail[:_LONGEST_DETAIL]}… ({len(detail) - _LONGEST_DETAIL} more characters)"
    yield f"{_inline(finding.title)} {_inline(detail)}"
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


def _reproduce(trace: Trace) -> Iterator[str]:
    """Yield the command that sends the request again: whole, or with the body from the bundle, never cut."""
    body = redact_json(dict(trace.sent or trace.request.body))
    assert isinstance(body, dict)
    command = redact_text(curl_of(replace(trace, sent=body)))
    if len(command) <= _LIMIT:
        yield from _block("Reproduce", command, "sh")
        return
    yield from _block(f"Reproduce, with the JSON bundle saved as {BUNDLE_NAME}", curl_of_bundle(trace), "sh")
