r"""The id of a call is one id several times, one after the other.

What it finds:
    An id of a call or of a tool's result, in the history or in the answer, that is a
    whole id two or more times without anything between: the same prefix and number
    each time. Ids of a few characters, or of one character repeated, are left alone.

Why it matters:
    A client joined the id of every piece of a stream as it joins arguments. The id
    grows with the number of pieces, so call and result no longer pair up, and the
    next request is refused.

Bad:
    `"tool_call_id": "call_ab12call_ab12call_ab12"`

Good:
    `"tool_call_id": "call_ab12"`

Source:
    tracker: SillyTavern/SillyTavern#5948.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import calls_of_message, numbered_messages, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_message, in_request

_MIN_UNIT = 6  # characters of an id whose repetition is no accident
_MIN_KINDS = 4  # different characters in it
_MAX_CHARS = 20_000


def find(trace: Trace) -> Iterator[Report]:
    """Report the first such id."""
    for field, call_id, shown in _ids(trace):
        unit = unit_of(call_id)
        if unit:
            yield _report(field, unit, len(call_id) // len(unit), shown)
            return


def unit_of(call_id: str) -> str:
    """Return the id that a text is made of several times; "" of any other.

    >>> unit_of("call_ab12call_ab12"), unit_of("call_ab12"), unit_of("abababababab")
    ('call_ab12', '', '')
    """
    if len(call_id) > _MAX_CHARS:
        return ""
    unit = call_id[: (call_id + call_id).find(call_id, 1)]
    is_id = any(map(str.isalpha, unit)) and len(set(unit)) >= _MIN_KINDS
    return unit if _MIN_UNIT <= len(unit) < len(call_id) and is_id else ""


def _ids(trace: Trace) -> Iterator[tuple[str, str, FindingEvidence]]:
    for index, message in numbered_messages(trace.request):
        found = [(f"messages[{index}].{call.field}.id", call.id) for call in calls_of_message(message)]
        for field, call_id in (*found, (f"messages[{index}].tool_call_id", as_text(message.get("tool_call_id")))):
            if call_id:
                yield field, call_id, in_request(field, call_id[:200])
    for call in returned_calls(trace):
        if call.id:
            yield f"{call.field}.id", call.id, in_message(f"{call.field}.id", call.id[:200])


def _report(field: str, unit: str, count: int, shown: FindingEvidence) -> Report:
    return Report(
        title=f"The id in `{field}` is `{unit}`, {count} times.",
        detail="The server sent the id with each piece of the stream, and the client put the pieces together as it "
        "does with arguments. Call and result no longer have the id that the server gave.",
        evidence=(shown,),
        fix="In the client, take the id of a streamed call from the first piece that has one, and ignore it in later "
        "ones; update the client, or ask without streaming. In this history, write the id once.",
    )


RULE: Rule = TraceRule(
    code="PD141",
    name="joined-call-id",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    stands_in_part=True,
    threads=("SillyTavern/SillyTavern#5948",),
    explains=("PD106",),
)
