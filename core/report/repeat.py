"""What another person needs to see a run again: the shell command, and what the prompt was made with."""

from __future__ import annotations

import hashlib
import json
import shlex

from prompt_debugger.core.base.types import JSONObject, Prompt, Trace
from prompt_debugger.core.base.wire import wire_of
from prompt_debugger.core.report.names import file_stem
from prompt_debugger.core.report.redact import redact_text


def curl_of(trace: Trace) -> str:
    """Return the shell command that sends the request of this run once more, on one line.

    Text that would hide in a terminal is written as JSON escapes. The key of a
    server other than the lab is taken from the environment.
    """
    body = _body_of(trace)
    text = json.dumps(body, ensure_ascii=False)
    if not text.isprintable():
        text = json.dumps(body, ensure_ascii=True)
    return " ".join((*_head(trace), f"-d {shlex.quote(text)}"))


def curl_of_bundle(trace: Trace) -> str:
    """Return the same command for a request that is too long to be shown: it takes the body from a bundle."""
    field = ".sent" if trace.sent_native is None else ".sent_native"
    return f"jq -c {field} {file_stem(trace)}.json | " + " ".join((*_head(trace), "-d @-"))


def parse_command(trace: Trace) -> str:
    """Return the shell command by which vLLM's own parser reads this raw output again, offline; "" if there is none.

    An output with a secret, or with text that a terminal obeys, has none.
    """
    server, raw = trace.server, trace.raw
    if server is None or raw is None or server.kind != "vllm" or not server.tool_parser or not raw.text:
        return ""
    parser = server.tool_parser + (f"+{server.reasoning_parser}" if server.reasoning_parser else "")
    tools = trace.request.body.get("tools")
    head = f"printf %s {shlex.quote(raw.text)} | prompt-debugger parse - --parser {shlex.quote(f'vllm:{parser}')}"
    command = head + (f" --tools <(printf %s {shlex.quote(json.dumps(tools))})" if tools else "")
    is_plain = all(character.isprintable() or character in "\n\t" for character in command)
    return command if is_plain and redact_text(command) == command else ""


def template_sha256(prompt: Prompt | None) -> str | None:
    """Return the SHA-256 of a prompt's template, in hex; `None` if it is not known."""
    if prompt is None or prompt.template is None:
        return None
    return hashlib.sha256(prompt.template.encode("utf-8", "surrogatepass")).hexdigest()


def _body_of(trace: Trace) -> JSONObject:
    return trace.sent_native or trace.sent or trace.request.body


def _head(trace: Trace) -> tuple[str, ...]:
    server = trace.server
    base_url = (server.base_url if server is not None else "") or "http://localhost:8000/v1"  # pasted flags have none
    head = (f"curl {shlex.quote(_url(trace, base_url))}", "-H 'Content-Type: application/json'")
    return head if server is None or server.is_lab else (*head, '-H "Authorization: Bearer $OPENAI_API_KEY"')


def _url(trace: Trace, base_url: str) -> str:
    body = trace.sent or trace.request.body
    path = wire_of(trace.api, {"model": body.get("model")}, is_streamed=body.get("stream") is True).path
    return base_url + path.removeprefix("/v1") if path.startswith("/v1/") else base_url.removesuffix("/v1") + path
