"""The answer broke off after it had begun.

What it finds:
    An error that the server or the connection gave after the first part of the
    answer, streamed or whole.

Why it matters:
    What was received is a beginning, and must not be judged as an answer.

Bad:
    A stream without its last event.

Good:
    A stream that ends with `[DONE]`.

Source:
    derived: the server closed the connection, or sent an error in the stream.
    tracker: ggml-org/llama.cpp#20260.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.diagnose.rules.base import Report, TraceRule
from core.protocols import Rule
from core.types import FindingEvidence, Severity, Stage, Trace


def find(trace: Trace) -> Iterator[Report]:
    """Report the error of the whole answer, else that of the stream."""
    for result, name in ((trace.chat, "answer"), (trace.chat_stream, "streamed answer")):
        if result is not None and result.error:
            yield Report(
                title=f"The {name} broke off.",
                detail=result.error,
                evidence=(FindingEvidence("server", quote=result.body[-120:] or None),),
                fix="Run again; if it breaks at the same place, read the server's log there.",
            )
            return


RULE: Rule = TraceRule(
    code="PD310",
    name="broken-answer",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    threads=("ggml-org/llama.cpp#20260",),
    explains=("PD401", "PD411", "PD412", "PD413"),
)
