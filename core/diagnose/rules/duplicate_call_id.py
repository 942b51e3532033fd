"""Two tool calls of the answer share one id.

What it finds:
    A tool call id that the message uses for more than one call, or that a call of the
    request's history already has.

Why it matters:
    A tool result names the call it answers by this id. If two calls share an id, results go
    to the wrong call or are refused.

Bad:
    `functions.get_weather:0` twice in one message.

Good:
    `functions.get_weather:0`, `functions.get_weather:1`

Source:
    derived: vLLM 0.32 keeps the id that the model wrote, even when it occurs twice.
    tracker: mudler/LocalAI#9722.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import history_calls, returned_calls
from prompt_debugger.core.diagnose.fixes import ClientFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report each repeated id once."""
    calls = [call for call in returned_calls(trace) if call.id]
    earlier = {call.id for call in history_calls(trace.request) if call.id}
    for call_id, times in Counter(call.id for call in calls).items():
        if times < 2 and call_id not in earlier:
            continue
        fields = [call.field for call in calls if call.id == call_id]
        yield Report(
            title=f"The tool call id `{call_id}` is not unique.",
            detail=f"{', '.join(fields)} {'share it' if times > 1 else 'has it'}"
            + (", and a call in the history uses it, too." if call_id in earlier else "."),
            evidence=tuple(in_message(f"{field}.id", call_id) for field in fields),
            fix="Assign your own ids to the calls before sending results back, in both the call and the result.",
            # An id from an earlier turn is answered already; servers pair results by turn.
            severity=None if times > 1 else Severity.NOTE,
        )


OWN_IDS = ClientFix(
    "the client's own ids",
    '''\
import uuid


def fix(message):
    """Give each call a unique id."""
    for call in message.get("tool_calls") or ():
        call["id"] = f"call_{uuid.uuid4().hex}"
    return message
''',
)


RULE: Rule = TraceRule(
    code="PD414",
    name="duplicate-call-id",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("mudler/LocalAI#9722",),
    fixes=(OWN_IDS,),
)
