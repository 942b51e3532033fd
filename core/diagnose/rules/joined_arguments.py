r"""The arguments of one call contain several JSON objects end to end.

What it finds:
    Arguments of the answer that are two or more JSON objects one after another.
    In a stream, with the events in which each of them begins. Objects that are
    all the same were sent twice; different ones are several calls in one.

Why it matters:
    `json.loads` stops with *Extra data* after the first object. Usually several calls were
    merged because they share an index, and all but one of them are lost.

Bad:
    `"arguments": "{\"city\": \"Rome\"}{\"city\": \"Oslo\"}"`

Good:
    Two calls, each with one object.

Source:
    tracker: BerriAI/litellm#7621, apache/maka#1976.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.json_values import as_list, as_object, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of, broken_calls
from prompt_debugger.core.diagnose.fields import CallField, body_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message

_MAX_SHOWN = 4


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments that are several objects."""
    if not body_of(trace).get("tools"):  # with which a text may be meant to hold JSON
        for call in returned_calls(trace):
            yield from _report_in_one_value(call)
    for call, text, fault in broken_calls(trace, Break.JOINED):
        field = f"{call.field}.function.arguments"
        events = _events_of(trace, text, fault.parts)
        shown = "; ".join(
            f"{number}. {text[slice(*part)][:60]!r}" + (f" from event {events[number - 1]}" if events else "")
            for number, part in enumerate(fault.parts[:_MAX_SHOWN], 1)
        )
        values = [decode_json(text[slice(*part)]) for part in fault.parts]
        is_repeat = all(value == values[0] for value in values) and values[0] is not None
        apart = (
            "distinguish them by id, or ask without streaming"
            if not events or _has_ids(trace, events)
            else "ask without streaming, and report it to the server or gateway, as only the first one has an id"
        )
        yield Report(
            title=f"The arguments of the call to `{call.name}` contain {len(fault.parts)} JSON objects end to end"
            + (", all identical." if is_repeat else "."),
            detail=f"In `{field}`, {fault.words}: {shown}{'; …' if len(fault.parts) > _MAX_SHOWN else ''}.",
            evidence=tuple(in_message(field, text[slice(*part)], part) for part in fault.parts[:_MAX_SHOWN]),
            fix=(
                "Use the first object: the server or a proxy sent the arguments more than once, or the client added a "
                "piece twice. Ask without streaming to see whether they then arrive once."
            )
            if is_repeat
            else (
                "Make a separate call of each object. The client that assembled the stream joined calls that "
                f"share an index: {apart}."
            ),
        )


def _report_in_one_value(call: CallField) -> Iterator[Report]:
    """Report arguments that are one text of several objects: a client wrapped what it had joined."""
    arguments = decode_json(as_text(call.arguments) or "")
    values = [*arguments.items()] if isinstance(arguments, dict) else []
    text = values[0][1] if len(values) == 1 else None
    fault = break_of(text) if isinstance(text, str) and text.lstrip().startswith("{") else None
    if not isinstance(text, str) or fault is None or fault.kind is not Break.JOINED:
        return
    field = f"{call.field}.function.arguments"
    yield Report(
        title=f"The arguments of the call to `{call.name}` are one string that contains {len(fault.parts)} JSON "
        "objects.",
        detail=f"`{values[0][0]}` in `{field}` is {text[:160]!r}: {fault.words}. A client joined the arguments of "
        "several calls and, as the result was not JSON, wrapped it as a string.",
        evidence=(in_message(field, as_text(call.arguments)),),
        fix="Make a separate call of each object. The client that assembled the stream joined calls that share an "
        "index, or dropped their indexes: distinguish them by index and id, or ask without streaming.",
        certainty=Certainty.INFERRED,
    )


def _has_ids(trace: Trace, events: Sequence[int]) -> bool:
    """Return whether each object after the first begins in an event of the stream that brings an id with it."""
    deltas = () if trace.chat_stream is None else trace.chat_stream.deltas
    calls = [as_list(deltas[event - 1].delta.get("tool_calls")) for event in events[1:]]
    return all(any(as_text(as_object(call).get("id")) for call in of_event) for of_event in calls)


def _events_of(trace: Trace, text: str, parts: tuple[Span, ...]) -> tuple[int, ...]:
    """Return the number of the stream's event, from 1, in which each object begins; none if they are not known."""
    stream = trace.chat_stream
    if stream is None:
        return ()
    pieces: list[tuple[int, str]] = []
    for number, event in enumerate(stream.deltas, 1):
        for call in as_list(event.delta.get("tool_calls")):
            piece = as_text(as_object(as_object(call).get("function")).get("arguments"))
            pieces += [(number, piece)] if piece else []
    at = "".join(piece for _, piece in pieces).find(text)
    if at < 0:
        return ()
    found: list[int] = []
    begin = -at
    for number, piece in pieces:
        while len(found) < len(parts) and begin + len(piece) > parts[len(found)].start:
            found.append(number)
        begin += len(piece)
    return tuple(found) if len(found) == len(parts) else ()


RULE: Rule = TraceRule(
    code="PD451",
    name="joined-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    threads=("BerriAI/litellm#7621", "apache/maka#1976"),
    explains=("PD402", "PD445", "PD502"),
)
