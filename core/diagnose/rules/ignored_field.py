"""The server does not know a field of the request.

What it finds:
    Fields that were sent and that vLLM accepts without using, as noted while the request
    was read; not if the server is known to be different software.

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
    tracker: vllm-project/vllm#54616, ggml-org/llama.cpp#27129.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.removed_fields import SUCCESSORS
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_AS_VLLM = (None, "", "vllm", "unknown")  # the notices are about vLLM's fields
_ID = re.compile(r"messages\[\d{1,6}\]\.id")
_IGNORED = re.compile(r"\b(?:ignores|drops)\b")


def find(trace: Trace) -> Iterator[Report]:
    """Report every notice of the request that speaks of an unused field."""
    server = trace.server
    if server is not None and server.kind not in _AS_VLLM:
        return
    server_name = "The server" if server is not None and server.kind == "vllm" else "vLLM"
    for notice in trace.request.notices:
        if _ID.fullmatch(notice.field) is not None and "model" not in trace.request.body:
            continue  # messages of a record, which keeps each with its id
        if notice.field and notice.field not in SUCCESSORS and _IGNORED.search(notice.message):
            yield Report(
                title=f"{server_name} ignores `{notice.field}`.",
                detail=notice.message,
                evidence=(in_request(notice.field),),
                fix=f"Leave `{notice.field}` out, or send what this server reads instead.",
            )


RULE: Rule = TraceRule(
    code="PD105",
    name="ignored-field",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#54616", "ggml-org/llama.cpp#27129"),
    asks_request_alone=True,
)
