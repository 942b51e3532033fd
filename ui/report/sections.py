"""What the report shows and the page does not: the request as sent, how to see the run again, what it was made with."""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger import __version__
from prompt_debugger.core.base.types import JSON, JSONObject, Server, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.report import curl_of, moment_words, template_sha256, trace_to_markdown
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.present.json_text import json_segments, segments_to_json
from prompt_debugger.ui.present.words import EVIDENCE_WORDS, count_of, joined, shortened

MAX_SHOWN_CHARS = 20_000


def sent_payload(trace: Trace) -> str:
    """Return the payload of the request: its values with their paths, and what is to be said about it."""
    request = trace.request
    segments = json_segments(request.body)
    shown = tuple(segment._replace(text=shortened(segment.text, MAX_SHOWN_CHARS)) for segment in segments)
    size = joined(
        count_of(len(request.messages), "message"),
        count_of(len(request.tools), "tool") if request.tools else None,
    )
    notes: list[JSON] = [f"`{notice.field}`: {notice.message}" for notice in request.notices]
    added = [name for name, value in trace.sent.items() if name not in request.body or request.body[name] != value]
    if added:
        notes.append("Added for this run: " + ", ".join(f"`{name}`" for name in added))
    refusal = ""
    if trace.refusal is not None:
        refusal = f"The server refused it, {trace.refusal.label}: {trace.refusal.message}"
    return pack_payload(
        {
            "segments": segments_to_json(shown),
            "figures": size,
            "copy": "".join(segment.text for segment in segments),
            "notes": notes,
            "refusal": refusal,
        }
    )


def again_payload(trace: Trace) -> str:
    """Return the payload of the last section: a curl that repeats the request, versions, notes, Markdown."""
    curl = curl_of(trace)
    return pack_payload(
        {
            "curl": shortened(curl, MAX_SHOWN_CHARS),
            "copy": curl,
            "facts": [[label, value] for label, value in _facts(trace)],
            "notes": [*trace.notes],
            "markdown": markdown_of(trace),
        }
    )


def markdown_of(trace: Trace) -> str:
    """Return the run as Markdown, with the version of this program."""
    return trace_to_markdown(trace, __version__, title_of)


def _facts(trace: Trace) -> Iterator[tuple[str, str]]:
    yield "Prompt Debugger", __version__
    if trace.started:
        yield "run at", moment_words(trace.started)
    if trace.server is not None:
        yield from _server_facts(trace.server)
    if trace.evidence is not None:
        yield "evidence", EVIDENCE_WORDS[trace.evidence]
    yield from _prompt_facts(trace)
    if trace.raw is not None:
        count = None if trace.raw.token_ids is None else count_of(len(trace.raw.token_ids), "token")
        yield "raw output", joined(count, count_of(len(trace.raw.text), "character"))
    if trace.parse is not None:
        yield "read as", trace.parse.parsed.format
    if trace.chat is not None:
        yield "finish_reason", str(trace.chat.finish_reason)


def _server_facts(server: Server) -> Iterator[tuple[str, str]]:
    yield "server", joined(title_of(server.kind), server.version or "version unknown", "lab" if server.is_lab else None)
    yield "address", server.base_url
    if server.start_command:
        yield "start command", shortened(server.start_command, 300)
    yield "model", server.model or "unknown"
    if server.model_root and server.model_root != server.model:
        yield "model root", server.model_root
    if server.max_model_len is not None:
        yield "context length", count_of(server.max_model_len, "token")
    yield "tool parser", server.tool_parser or ("none" if server.is_lab else "unknown")
    yield "reasoning parser", server.reasoning_parser or ("none" if server.is_lab else "unknown")


def _prompt_facts(trace: Trace) -> Iterator[tuple[str, str]]:
    prompt = trace.prompt or trace.local_prompt
    if prompt is None:
        return
    count = None if prompt.tokens is None else count_of(len(prompt.tokens), "token")
    origin = "local render" if prompt.source == "local" else "from the server"
    yield "prompt", joined(count, count_of(len(prompt.text), "character"), origin)
    used, local = template_sha256(trace.prompt), template_sha256(trace.local_prompt)
    if used or local:
        yield "template sha256", used or local or ""
    if used and local and used != local:
        yield "local template sha256", local
    kwargs: JSONObject = dict(prompt.effective_kwargs)
    if kwargs:
        yield "template variables", shortened(json.dumps(kwargs), 300)
