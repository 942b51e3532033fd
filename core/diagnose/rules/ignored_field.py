"""The server does not know a field of the request.

What it finds:
    Fields that were sent and that vLLM accepts without using, as noted while the request
    was read; not if the server is known to be different software, and as a possibility if it is
    not known at all. And fields of which the
    server's log says that it ignored them. A field that a vendor's own reference documents is reported
    only if the server is known to be vLLM: its request may well go to that vendor.

Why it matters:
    Most servers take unknown fields with status 200 and do nothing: a setting that was
    meant to change the run changes nothing, and no one notices.

Bad:
    `{"guided_json": {…}}` (removed from vLLM), `{"enable_thinking": false}` at
    the top level.

Good:
    `{"structured_outputs": {"json": {…}}}`,
    `{"chat_template_kwargs": {"enable_thinking": false}}`

Source:
    derived: vLLM 0.32 accepts any extra field; the known ones are listed in the request reader.
    tracker: vllm-project/vllm#54616, ggml-org/llama.cpp#27129, cubist38/mlx-openai-server#279.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.base.vendor_fields import vendor_field_at
from prompt_debugger.core.diagnose.fields import columns_of_row
from prompt_debugger.core.diagnose.refusals.removed_fields import SUCCESSORS
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thought_switches import is_ollamas_own
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.known_errors import recognise_error

_AS_VLLM = (None, "", "vllm", "unknown")  # the notices are about vLLM's fields
_ID = re.compile(r"messages\[\d{1,6}\]\.id")
_IGNORED = re.compile(r"\b(?:ignores|drops)\b")
_IN_LOG = re.compile(r"fields were present in the request but ignored: \{([^}\n]{1,300})\}")
# Models that their vendors serve alone: what vLLM does with a field says nothing of a request for one.
_OF_VENDOR = re.compile(r"(?:^|[./:_-])(?:claude|sonnet|opus|haiku|gemini)(?:[._-]|$)", re.IGNORECASE)
_OTHER_SERVER = "Which server this request is for is not known; another one may read it."
_LIMITS = ("max_tokens", "max_completion_tokens")
_MAX_IN_LOG = 12  # fields
_KWARGS = (
    "Send the request to `/v1/chat/completions`, where servers read that field (mlx-openai-server does not on "
    "`/v1/responses`), or set the template's switches at the server's start."
)
_SCHEMA = "Put the schema where this server reads it: `response_format`, as `json_schema` with a `name` and a `schema`."
# Arguments of the client's method, which adds what they hold to the body and does not send them.
_OF_CLIENT = (
    "`{0}` is an argument of the `openai` package for Python, which puts its members into {1}. In a body that is sent "
    "by other means there is no such field: {2}."
)
_EXTRA_BODY = _OF_CLIENT.format("extra_body", "the body itself", "write its members at the top level of the body")
_EXTRA_HEADERS = _OF_CLIENT.format("extra_headers", "the HTTP headers", "send them as headers")
_FIX_IN_LOG = {
    "chat_template_kwargs": _KWARGS,
    "schema": _SCHEMA,
    "json_schema": _SCHEMA,
    "extra_body": _EXTRA_BODY,
    "extra_headers": _EXTRA_HEADERS,
}
# Source: `ChatCompletionRequest` of Ollama's `openai/openai.go`, which has none of these.
_AT_OLLAMA = {
    "think": "Send `reasoning_effort` (`none` switches thinking off), or post the request to `/api/chat`.",
    "format": "Send the schema in `response_format`, or post the request to `/api/chat`.",
    "options": "Write its members at the top level of the body; `num_ctx` can only be set for the model (`PARAMETER "
    "num_ctx`) or the server (`OLLAMA_CONTEXT_LENGTH`). Or post the request to `/api/chat`.",
    "keep_alive": "Set `OLLAMA_KEEP_ALIVE` where the server starts, or post the request to `/api/chat`.",
}
_OF_BODY = {"extra_body": _EXTRA_BODY, "extra_headers": _EXTRA_HEADERS}


def find(trace: Trace) -> Iterator[Report]:
    """Report every notice of the request that speaks of an unused field."""
    yield from _in_log(trace)
    yield from _of_ollama(trace)
    server = trace.server
    if server is not None and server.kind not in _AS_VLLM:
        return
    is_vllm = server is not None and server.kind == "vllm"
    if not is_vllm and _OF_VENDOR.search(str(trace.request.body.get("model", ""))):
        return
    columns = columns_of_row(trace.request)
    for notice in trace.request.notices:
        if columns and "." not in notice.field:
            continue  # PD124 says what it is
        if _ID.fullmatch(notice.field) is not None and "model" not in trace.request.body:
            continue  # messages of a record, which keeps each with its id
        if not is_vllm and vendor_field_at(trace.request.body, notice.field) is not None:
            continue  # right at that vendor's API, and nothing says that the request is for another
        if not is_vllm and _is_read(trace, notice.field):
            continue
        if notice.field and notice.field not in (*SUCCESSORS, *_AT_OLLAMA) and _IGNORED.search(notice.message):
            yield Report(
                title=f"The server ignores `{notice.field}`." if is_vllm else f"`{notice.field}` may be ignored.",
                detail=notice.message if is_vllm else f"{notice.message} {_OTHER_SERVER}",
                evidence=(in_request(notice.field),),
                fix=_OF_BODY.get(notice.field, f"Leave `{notice.field}` out, or send what this server reads instead."),
            )


def _is_read(trace: Trace, field: str) -> bool:
    """Return whether the server's refusal is known to be about what that field says, so that it reads it."""
    known = None if trace.refusal is None else recognise_error(trace.refusal.message)
    return known is not None and any(f"`{field}{end}" in known.error.remedy for end in "`:")


def _of_ollama(trace: Trace) -> Iterator[Report]:
    """Report fields of Ollama's own API in a request that goes to `/v1/chat/completions`."""
    if is_ollamas_own(trace.chat) or is_ollamas_own(trace.chat_stream):
        return
    for notice in trace.request.notices:
        if notice.field in _AT_OLLAMA and _IGNORED.search(notice.message):
            yield Report(
                title=f"`{notice.field}` is a field of Ollama's own API, and the request goes to "
                "`/v1/chat/completions`.",
                detail="Ollama does not read it there, nor do most other servers: the answer comes as if it had not "
                "been sent.",
                evidence=(in_request(notice.field),),
                fix=_AT_OLLAMA[notice.field],
                severity=Severity.WARNING,
            )


def _in_log(trace: Trace) -> Iterator[Report]:
    """Report the fields that the server itself says it ignored."""
    lines = trace.server_warnings
    said = {
        name.strip(" '\""): line
        for line in lines
        if (found := _IN_LOG.search(line)) is not None
        for name in found[1].split(",")
    }
    is_cut = trace.chat is not None and trace.chat.finish_reason == "length"
    for name, line in [*said.items()][:_MAX_IN_LOG]:
        if is_cut and name in _LIMITS and name in trace.request.body:
            continue  # of this request it was read
        successor = f"Send {SUCCESSORS[name]} in its place." if name in SUCCESSORS else None
        effect = "What the template should read from it did not arrive." if name == "chat_template_kwargs" else ""
        yield Report(
            title=f"The server ignored `{name}`.",
            detail=f"Its log says so: the request was answered as if the field had not been sent. {effect}".rstrip(),
            evidence=(FindingEvidence("server", quote=line),),
            fix=successor or _FIX_IN_LOG.get(name, f"Leave `{name}` out, or send what this server reads instead."),
            severity=Severity.WARNING,
        )


RULE: Rule = TraceRule(
    code="PD105",
    name="ignored-field",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#54616", "ggml-org/llama.cpp#27129", "cubist38/mlx-openai-server#279"),
)
