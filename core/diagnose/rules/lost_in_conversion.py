"""The request was converted for another API, and part of it has no counterpart there.

What it finds:
    Each field, part or item of the request that was left out, or changed, when it was
    converted from the API that it was written for to the API that was used.

Why it matters:
    The server received a different request than the one that was pasted: a lost call may be
    due to the conversion.

Bad:
    A Messages body with a `document` block, asked as a chat completion.

Good:
    The same body, asked by `/v1/messages`.

Source:
    derived: what the conversion itself left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule

_MAX_REPORTS = 20
_READ_BY_MODEL = ("messages", "input", "tools", "system", "instructions")


def find(trace: Trace) -> Iterator[Report]:
    """Report each loss; of what no model reads, as a note."""
    for notice in trace.lost[:_MAX_REPORTS]:
        is_read = notice.field.startswith(_READ_BY_MODEL) and "cache_control" not in notice.message
        yield Report(
            title=f"`{notice.field}` was not sent to {trace.api.label} as it was written.",
            detail=notice.message,
            evidence=(FindingEvidence("request", field=notice.field, native_field=notice.field),),
            fix="Use the API that the request is written for (`--api`), or write the request for the API in use.",
            stage=Stage.REQUEST,
            severity=Severity.WARNING if is_read else Severity.NOTE,
        )


RULE: Rule = TraceRule(
    code="PD470",
    name="lost-in-conversion",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
)
