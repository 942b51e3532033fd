"""The server returned a tool call that the model did not write.

What it finds:
    A tool call of the message that answers to no call of the raw output, be it
    in the body or in reasoning.

Why it matters:
    Something the model never asked for is executed: an example in prose, a
    draft in its thoughts, or a piece that a confused parser put together.

Bad:
    Raw ``The format is `{"name": "rm", …}`.``, message with a call to `rm`.

Good:
    Every returned call has its characters in the raw output.

Source:
    tracker: Gitlawb/openclaude#1076, mudler/LocalAI#9722, PrimeIntellect-ai/renderers#80.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.diagnose.fields import returned_calls
from core.diagnose.rules.base import Report, TraceRule
from core.diagnose.sight import comparison, in_message
from core.diagnose.words import counted, listed
from core.protocols import Rule
from core.types import CallOutcome, Severity, Stage, Trace


def find(trace: Trace) -> Iterator[Report]:
    """Report the calls without an origin, in one report."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None:
        return
    fields = [
        f"tool_calls[{match.message_index}]"
        for match in trace.parse.ledger.matches
        if match.outcome is CallOutcome.INVENTED
    ]
    invented = [call for call in returned_calls(trace) if call.field in fields]
    if not invented:
        return
    yield Report(
        title=f"The server returned {counted(len(invented), 'tool call')} that the model did not write.",
        detail=f"No characters of the raw output explain {listed([call.name or call.field for call in invented])}.",
        evidence=tuple(in_message(call.field, f"{call.name} {call.arguments}") for call in invented),
        fix="Do not execute it. Check which parser the server runs, and whether it reads prose or reasoning for calls.",
        certainty=certainty,
    )


RULE: Rule = TraceRule(
    code="PD403",
    name="invented-call",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    threads=("Gitlawb/openclaude#1076", "mudler/LocalAI#9722", "PrimeIntellect-ai/renderers#80"),
    explains=("PD501",),
)
