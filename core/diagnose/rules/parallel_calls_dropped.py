"""`parallel_tool_calls: false` was applied only after generation, or not at all.

What it finds:
    With `parallel_tool_calls: false`: several calls in the raw output of which
    one was returned (a warning: the others were written, paid for and dropped),
    or several returned (an error: the promise is broken).

Why it matters:
    Dropped calls are not in any history: the model believes that it made them. Two
    calls where one was promised break clients that take the first.

Bad:
    Raw two calls, message one.

Good:
    A model that writes one call, because the output was constrained to one.

Source:
    tracker: vllm-project/vllm#9451, vllm-project/vllm#26233, sgl-project/sglang#9696.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    body_calls,
    comparison,
    dropped_calls,
    in_message,
    in_raw,
    in_request,
)
from prompt_debugger.core.diagnose.words import counted, listed


def find(trace: Trace) -> Iterator[Report]:
    """Report the calls beyond the one that was allowed."""
    if body_of(trace).get("parallel_tool_calls") is not False or trace.chat is None:
        return
    asked = in_request("parallel_tool_calls", "false")
    returned = returned_calls(trace)
    certainty = comparison(trace)
    dropped = dropped_calls(trace)
    if len(returned) > 1:
        yield _report(
            f"One tool call was allowed, but {len(returned)} were returned.",
            f"Returned: {listed([call.name or call.field for call in returned])}.",
            (*(in_message(call.field, call.name) for call in returned), asked),
            severity=Severity.ERROR,
        )
    elif len(returned) == 1 and dropped and certainty is not None:
        yield _report(
            f"The model wrote {counted(len(body_calls(trace)), 'tool call')}; the server kept one, as requested.",
            f"Written and dropped: {listed([call.name or 'a call' for _, call in dropped])}.",
            (*(in_raw(trace, call.char_span) for _, call in dropped), asked),
            certainty=certainty,
        )


def _report(
    title: str,
    detail: str,
    evidence: tuple[FindingEvidence, ...],
    *,
    certainty: Certainty = Certainty.OBSERVED,
    severity: Severity | None = None,
) -> Report:
    return Report(
        title=title,
        detail=detail,
        evidence=evidence,
        fix=(
            "Instruct the model in the system message to call one tool at a time, or constrain the output to one call."
        ),
        certainty=certainty,
        severity=severity,
    )


RULE: Rule = TraceRule(
    code="PD503",
    name="parallel-calls-dropped",
    severity=Severity.WARNING,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#9451", "vllm-project/vllm#26233", "sgl-project/sglang#9696"),
)
