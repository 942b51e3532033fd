"""A trace as Markdown for a bug tracker: verdict, what was seen, how to see it again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from prompt_debugger.core.base.json_values import text_or_json
from prompt_debugger.core.base.types import JSON, CallMatch, ChatResult, Finding, Parse, Prompt, Server, Trace
from prompt_debugger.core.report.counts import calls_words, characters_words, moment_words
from prompt_debugger.core.report.markup import cell, code, code_cell, fence_of, fenced, prose
from prompt_debugger.core.report.names import file_stem
from prompt_debugger.core.report.redact import redact_body, redact_json
from prompt_debugger.core.report.repeat import curl_of, curl_of_bundle, parse_command, template_sha256
from prompt_debugger.core.report.unfinished import why_unfinished

_LIMIT = 6000  # of one block; a GitHub issue takes 65,536 characters
_MAX_FINDINGS = 12
_LONGEST_DETAIL = 1500
_LONGEST_TITLE = 200
_OWN_LINK = re.compile(r"https://github\.com/[\w./#-]{1,200}")  # the rules' reports; a bundle may bring any other


def trace_to_markdown(trace: Trace, program: str = "", title_of: Callable[[str], str] = str) -> str:
    """Return the run as Markdown, secrets removed, long texts cut with the number of characters left out."""
    return "\n".join(_lines(trace, program, title_of)).rstrip() + "\n"


def _lines(trace: Trace, program: str, title_of: Callable[[str], str]) -> Iterator[str]:
    verdict = trace.verdict.sentence if trace.verdict is not None else f"No verdict. {why_unfinished(trace)}"
    if trace.title:
        yield f"## {prose(trace.title, _LONGEST_TITLE)}"
        yield ""
    yield f"**{prose(verdict, _LONGEST_DETAIL)}**"
    yield ""
    yield from _facts(trace, program, title_of)
    if trace.parse is not None:
        yield from call_table(trace.parse, trace.chat)
    if trace.refusal is not None:
        message = prose(trace.refusal.message, _LONGEST_DETAIL)
        yield f"The server refused the request, HTTP {trace.refusal.status}: {message}"
        yield ""
    for finding in trace.findings[:_MAX_FINDINGS]:
        yield from _finding(finding)
    more = trace.findings[_MAX_FINDINGS:]
    if more:
        yield f"And {len(more)} more: " + prose(
            ", ".join(f"{finding.code} {finding.name}" for finding in more), _LONGEST_DETAIL
        )
        yield ""
    yield from _block("Request", _json(redact_body(trace.request.body)), "json")
    if trace.prompt is not None:
        yield from _block("Prompt the model read", trace.prompt.text)
    if trace.raw is not None:
        yield from _block("Raw output", trace.raw.text)
    if trace.chat is not None:
        yield from _block("Message the server returned", _json(redact_json(dict(trace.chat.message))), "json")
    yield from _reproduce(trace)


def _facts(trace: Trace, program: str, title_of: Callable[[str], str]) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for name, value in _fact_rows(trace, program, title_of):
        yield f"| {name} | {cell(value, _LONGEST_DETAIL)} |"
    if trace.server is not None and trace.server.start_command:
        yield f"| start command | {code_cell(trace.server.start_command, _LONGEST_DETAIL)} |"
    yield ""


def _fact_rows(trace: Trace, program: str, title_of: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    yield "Prompt Debugger", program or "from a checkout"
    if trace.started:
        yield "run at", moment_words(trace.started)
    if trace.evidence is not None:
        yield "evidence", trace.evidence.value
    if trace.server is not None:
        yield "server", _server(trace.server, title_of)
        if trace.server.model:
            yield "model", trace.server.model
        if trace.server.max_model_len is not None:
            yield "context length", f"{trace.server.max_model_len} tokens"
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


def _server(server: Server, title_of: Callable[[str], str]) -> str:
    parts = [title_of(server.kind), server.version or "version unknown"]
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
    yield f"### {prose(finding.code)} {prose(finding.name)} ({marks})"
    yield ""
    yield f"{prose(finding.title, _LONGEST_DETAIL)} {prose(finding.detail, _LONGEST_DETAIL)}"
    yield ""
    if finding.fix:
        yield f"Fix: {prose(finding.fix, _LONGEST_DETAIL)}"
        yield ""
    if finding.proof:
        yield f"**Tried:** {prose(finding.proof.words, _LONGEST_DETAIL)}"
        yield ""
    for link in finding.links:
        yield f"- {link if _OWN_LINK.fullmatch(link) else code(link)}"
    if finding.links:
        yield ""


def _block(title: str, text: str, language: str = "") -> Iterator[str]:
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from fenced(text[:_LIMIT], language)
    if len(text) > _LIMIT:
        yield f"({len(text) - _LIMIT} more characters left out)"
    yield ""
    yield "</details>"
    yield ""


def _json(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # JSON has escapes of its own for what hides in a line.
    return text if text.replace("\n", "").isprintable() else json.dumps(value, ensure_ascii=True, indent=2)


def _reproduce(trace: Trace) -> Iterator[str]:
    """Yield the commands that show it again: the parser's alone, and the request, whole or with its body in the bundle.

    A command is never cut.
    """
    parse_alone = parse_command(trace)
    if parse_alone and len(parse_alone) <= _LIMIT:
        yield from _command("Repeat the parser's reading, without a model or a server", parse_alone, "bash")
    native = None if trace.sent_native is None else redact_body(trace.sent_native)
    command = curl_of(replace(trace, sent=redact_body(trace.sent or trace.request.body), sent_native=native))
    if len(command) <= _LIMIT:
        yield from _command("Reproduce", command)
        return
    yield from _command(f"Reproduce, with the JSON bundle saved as {file_stem(trace)}.json", curl_of_bundle(trace))


def _command(title: str, command: str, shell: str = "sh") -> Iterator[str]:
    """Yield a command as it is: its parts were redacted before they were quoted."""
    yield f"<details><summary>{title}</summary>"
    yield ""
    fence = fence_of(command)
    yield from (f"{fence}{shell}", command, fence)
    yield ""
    yield "</details>"
    yield ""


_LONGEST = 400  # characters of one call's arguments
_MAX_CALLS = 20
_NONE = "–"


def call_table(parse: Parse, chat: ChatResult | None) -> Iterator[str]:
    """Yield the lines of the table; none without a message, or where neither side has a call."""
    matches = parse.ledger.matches
    if not matches or chat is None:
        return
    returned = chat.message.get("tool_calls")
    calls = returned if isinstance(returned, list) else []
    yield "| call | written by the model | returned by the server | outcome |"
    yield "|---|---|---|---|"
    for number, match in enumerate(matches[:_MAX_CALLS], start=1):
        yield f"| {number} | {_written(parse, match)} | {_returned(calls, match)} | {match.outcome.value} |"
    if len(matches) > _MAX_CALLS:
        yield f"| … | {len(matches) - _MAX_CALLS} more calls | | |"
    yield ""


def _written(parse: Parse, match: CallMatch) -> str:
    if match.raw_index is None:
        return _NONE
    call = parse.parsed.calls[match.raw_index]
    return _shown(call.name or "", call.arguments)


def _returned(calls: list[JSON], match: CallMatch) -> str:
    if match.message_index is None or match.message_index >= len(calls):
        return _NONE
    call = calls[match.message_index]
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return _shown("", json.dumps(call, ensure_ascii=False))
    arguments = function.get("arguments")
    text = text_or_json(arguments)
    return _shown(str(function.get("name") or ""), text)


def _shown(name: str, arguments: str) -> str:
    """Return name and arguments as code; arguments that are empty or blank are shown as none."""
    parts = (part for part in (name, arguments) if part.strip())
    return " ".join(code_cell(part, _LONGEST) for part in parts) or "no name, no arguments"
