r"""A call of the history has no name: a broken call of an earlier answer that was kept.

What it finds:
    A call of an assistant message in the request whose `function.name` is empty; its id
    is often empty, too. The first one is reported.

Why it matters:
    Such a call is what is left of one that was not parsed, or the rest of another one in
    a stream. Servers refuse a request with it, or its template prints a call to nothing,
    which the model repeats.

Bad:
    `{"id": "", "type": "function", "function": {"name": "", "arguments": ""}}`

Good:
    the message without this call, and without a result for it

Source:
    tracker: lmstudio-ai/lmstudio-bug-tracker#830.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import CallField, history_calls, numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.diagnose.words import counted


def find(trace: Trace) -> Iterator[Report]:
    """Report the first call of the history that names no tool."""
    nameless = [call for call in history_calls(trace.request) if not call.name]
    if not nameless:
        return
    first = nameless[0]
    lacks = "no name" if first.id else "neither a name nor an id"
    more = f" In all, {counted(len(nameless), 'call')} of the history have no name." if len(nameless) > 1 else ""
    yield Report(
        title=f"The call `{first.field}` of the history has {lacks}.",
        detail="An earlier answer had this entry among its calls, and the client kept it: a call that the server "
        "could not read, or a piece of a stream that was taken for a separate call. Servers refuse a request with "
        f"it.{more}",
        evidence=(in_request(f"{first.field}.function.name", ""),),
        fix=f"Take the entry out of the history{_result_of(trace, first)}, and do not keep calls without a name. What "
        "the model wrote is in the raw output of that answer: look at it there.",
    )


def _result_of(trace: Trace, call: CallField) -> str:
    """Name the result that belongs to a call, where there is one."""
    results = (
        index
        for index, message in numbered_messages(trace.request)
        if message.get("role") == "tool" and (message.get("tool_call_id") or "") == (call.id or "")
    )
    index = next(results, None)
    return "" if index is None else f" with its result, messages[{index}]"


RULE: Rule = TraceRule(
    code="PD142",
    name="nameless-history-call",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    stands_in_part=True,
    threads=("lmstudio-ai/lmstudio-bug-tracker#830",),
    explains=("PD106", "PD105"),
)
