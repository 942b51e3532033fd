"""The server refused the request.

What it finds:
    An answer of status 400 or 422 to the request as it was pasted.

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

from core.diagnose.rules.base import Report, TraceRule
from core.diagnose.sight import in_request, quote
from core.protocols import Rule
from core.types import FindingEvidence, Severity, Stage, Trace

# vLLM repeats field and value behind its sentence.
_PARAMETER = re.compile(r"\s*\(parameter=[^)]*\)$")


def find(trace: Trace) -> Iterator[Report]:
    """Report the refusal in the server's words."""
    refusal = trace.refusal
    if refusal is None:
        return
    message = _PARAMETER.sub("", " ".join(refusal.message.split())).rstrip(".")
    evidence = [FindingEvidence("server", quote=quote(f"{refusal.status} {message}"))]
    if refusal.field:
        evidence.insert(0, in_request(refusal.field))
    yield Report(
        title=f"The server refused the request: {quote(message, 160)}.",
        detail=f"HTTP {refusal.status}" + (f", field `{refusal.field}`" if refusal.field else "") + f": {message}.",
        evidence=tuple(evidence),
        fix=f"Change `{refusal.field}` as the server asks." if refusal.field else "Change what the server names.",
    )


RULE: Rule = TraceRule(
    code="PD100",
    name="refused-request",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#41114", "vllm-project/vllm#44505"),
)
