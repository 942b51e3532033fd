"""The server refused the request.

What it finds:
    An answer of status 400 or 422 to the request as it was pasted, or of
    another bad status with words about the request: an unknown model, a schema
    that the server cannot use, a context that is too short. The server's own
    words decide whose fault it is: a flag that the server was started without
    is its setting, and a failure that names nothing of the request is its own.

Why it matters:
    Nothing ran: no model read anything. The server's own words usually name
    the field; the template's objections (roles out of order) come this way too.

Bad:
    `"stop_token_ids": [151645]` for a vocabulary of 600 entries.

Good:
    A request of fields that this server takes.

Source:
    derived: the status and message of the server.
    tracker: vllm-project/vllm#41114, vllm-project/vllm#44505.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, FindingEvidence, Refusal, Severity, Stage, Trace
from prompt_debugger.core.diagnose.refusals import RefusalCause, cause_of_refusal, flag_of_refusal
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import Sight, in_request, quote

# vLLM repeats field and value behind its sentence.
_PARAMETER = re.compile(r"\s*\(parameter=[^)]*\)$")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_TITLE_CHARS = 300
_STAGE_BY_CAUSE = {RefusalCause.SETTING: Stage.COMPLETE, RefusalCause.SERVER: Stage.COMPLETE}


def find(trace: Trace) -> Iterator[Report]:
    """Report the refusal in the server's words."""
    refusal = trace.refusal
    if refusal is None:
        return
    cause = cause_of_refusal(refusal)
    message = _PARAMETER.sub("", " ".join(refusal.message.split())).rstrip(".")
    evidence = [FindingEvidence("server", quote=quote(f"{refusal.status} {message}"))]
    if field := _field_in(trace, refusal, cause):
        evidence.insert(0, in_request(field))
    yield Report(
        title=f"{_subject(cause)}: {quote(message, _TITLE_CHARS)}.",
        detail=f"HTTP {refusal.status}" + (f", field `{refusal.field}`" if refusal.field else "") + f": {message}.",
        evidence=tuple(evidence),
        fix=_fix(trace, refusal, cause),
        stage=_STAGE_BY_CAUSE.get(cause),
    )


def _subject(cause: RefusalCause) -> str:
    match cause:
        case RefusalCause.SETTING:
            return "The server's settings do not allow this request"
        case RefusalCause.CONTEXT:
            return "The request does not fit the server's context"
        case RefusalCause.MODEL_NAME:
            return "The server does not serve the model that the request names"
        case RefusalCause.SERVER:
            return "The server failed at the request"
        case RefusalCause.REQUEST:
            return "The server refused the request"


def _field_in(trace: Trace, refusal: Refusal, cause: RefusalCause) -> str | None:
    """Return the field to point at: what the server named, as far as the request has it."""
    if cause is RefusalCause.MODEL_NAME:
        return "model"
    if cause is not RefusalCause.REQUEST or refusal.field is None:
        return None
    return _held_path(trace.request.body, refusal.field) or None


def _held_path(body: JSON, field: str) -> str:
    """Return as much of a path as the request holds; "" if it holds nothing of it."""
    value = body
    path = ""
    for step in _STEP.finditer(field):
        index, name = step[1], step[2]
        if index is not None and isinstance(value, list) and int(index) < len(value):
            value, path = value[int(index)], f"{path}[{index}]"
        elif name is not None and isinstance(value, dict) and name in value:
            value, path = value[name], f"{path}.{name}" if path else name
        else:
            break
    return path


def _fix(trace: Trace, refusal: Refusal, cause: RefusalCause) -> str:
    match cause:
        case RefusalCause.SETTING:
            flag = flag_of_refusal(refusal)
            if flag is None:
                return "Serve a model whose template takes tools, or send the request without `tools`."
            return f"Start the server with `{flag}`{_companions(flag)}; the request itself needs no change."
        case RefusalCause.CONTEXT:
            return (
                "Shorten the messages or the tools, or lower `max_tokens` if prompt and answer together are too long; "
                "or start the server with a longer context (`--max-model-len` of vLLM, `-c` of llama.cpp)."
            )
        case RefusalCause.MODEL_NAME:
            known = () if trace.server is None else trace.server.served_models
            names = ", ".join(f"`{name}`" for name in known[:8])
            return (
                f"Set `model` to one that the server serves{f': {names}' if names else ' (`/v1/models` lists them)'}."
            )
        case RefusalCause.SERVER:
            return "Read the server's log at this request: its answer names nothing that the request could change."
        case RefusalCause.REQUEST:
            if refusal.field is None:
                return "Change what the server names."
            if held := _held_path(trace.request.body, refusal.field):
                return f"Change `{held}` as the server asks."
            if _held_path(trace.sent, refusal.field):
                return f"This program added `{refusal.field}` for the run; the request itself needs no change."
            return f"The request holds no `{refusal.field}`: send it as the server asks, or leave out what needs it."


def _companions(flag: str) -> str:
    return " and `--tool-call-parser NAME`" if flag == "--enable-auto-tool-choice" else ""


RULE: Rule = TraceRule(
    code="PD100",
    name="refused-request",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    needs=Sight.REFUSAL,
    threads=("vllm-project/vllm#41114", "vllm-project/vllm#44505"),
)
