"""Deltas of different tool calls share an index in the stream.

What it finds:
    In the streamed events, one index with two ids or two names, one id under
    two indexes, or a tool call delta without an index, or with one that is not a
    number. Or the pieces of one call have different ids, or (a note) the later ones an
    empty id (only of what was pasted: many servers send it); or (a note) the first event has
    two pieces of one call. Or `tool_calls` is an object in place of a list.

Why it matters:
    Clients assemble arguments by index: two calls become one with `{"path": "a"}{"path":
    "b"}`, or with a name made of two. A name that arrives in pieces, before any arguments,
    is not a collision.

Bad:
    `{"index": 0, "id": "a", …}`, `{"index": 0, "id": "b", …}`

Good:
    `{"index": 0, "id": "a", …}`, `{"index": 1, "id": "b", …}`

Source:
    tracker: sgl-project/sglang#35625, apache/maka#1976, mudler/LocalAI#9722,
    spring-projects/spring-ai#6591.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prompt_debugger.core.base.json_values import NULL_TEXTS, as_count, as_list, as_object, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, StreamDelta, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, asked_server, in_message, quote
from prompt_debugger.core.diagnose.wire_events import first_at
from prompt_debugger.core.diagnose.words import counted

_KEPT_SEPARATE = (
    "A client that puts the pieces together by index merges them into one call that the model never made; here they "
    "are kept separate."
)
_PARTS_AS_NAMES = (
    "Only the first piece of a call has its name. The later ones have no id of a second call: the server's streaming "
    "parser took parts of the arguments for names, or gave two calls one index."
)
_COMPARE = (
    "Ask without streaming, and compare: a whole answer is parsed at once. If it is right there, report the stream to "
    "the authors of the server's parser."
)


def _are_joined(trace: Trace) -> bool:
    """Return whether all pieces of the stream became one call."""
    stream = trace.chat_stream
    return stream is not None and len(as_list(stream.message.get("tool_calls"))) == 1


def find(trace: Trace) -> Iterator[Report]:
    """Walk the events once and report the first collision."""
    if trace.chat_stream is None:
        return
    if (event := _event_of_object(trace.chat_stream.deltas)) is None:
        deltas = trace.chat_stream.deltas
        yield from [*_collision(trace, deltas)] or [*_two_entries(deltas)] or _empty_ids(trace, deltas)
    else:
        yield _no_list(event + 1)


def _collision(trace: Trace, deltas: tuple[StreamDelta, ...]) -> Iterator[Report]:
    ids: dict[int, str] = {}
    names: dict[int, str] = {}
    begun: set[int] = set()
    written: dict[int, list[str]] = {}
    for event, (index, call_id, name, arguments, reported) in _tool_deltas(deltas):
        problem = None
        if index is None:
            yield _report_missing_index(trace, first_at(event, deltas), reported)
            return
        is_other = bool(call_id) and ids.setdefault(index, call_id or "") != call_id
        if is_other and not name and not _is_whole(written.get(index, ())):
            yield _report_changing_id(event + 1, index, ids[index], call_id or "")
            return
        if is_other:
            problem = f"index {index} belongs to `{ids[index]}` and to `{call_id}`"
        elif call_id and any(other == call_id and at != index for at, other in ids.items()):
            problem = f"id `{call_id}` has several indexes"
        elif name and name not in NULL_TEXTS and index in begun and names.setdefault(index, name) != name:
            problem = f"index {index} is named `{names[index]}` and `{name}`"
        if problem is not None:
            yield Report(
                title=f"Stream deltas of tool calls collide: {problem}.",
                detail=first_at(event, deltas) + (_PARTS_AS_NAMES if _are_joined(trace) else _KEPT_SEPARATE),
                evidence=(in_message("tool_calls"),),
                fix=_COMPARE if _are_joined(trace) else "Put the calls together by id; or ask without streaming.",
            )
            return
        if name and name not in NULL_TEXTS:
            names.setdefault(index, name)
        if arguments:
            begun.add(index)
            written.setdefault(index, []).append(as_text(arguments) or "")


def _two_entries(deltas: tuple[StreamDelta, ...]) -> Iterator[Report]:
    """Report the first event with calls where it has two pieces of one call: some clients keep that list as it is."""
    parts = list(_tool_deltas(deltas))
    first = [part for event, part in parts if event == parts[0][0]]
    if len(first) < 2 or first[0].at is None or first[1].at != first[0].at or first[1].call_id or first[1].name:
        return
    yield Report(
        title=f"One event of the stream has two pieces of the call at index {first[0].at}.",
        detail=f"{first_at(parts[0][0], deltas)}Its name and the beginning of its arguments are two entries of one "
        "list. By index they are one call; a client that keeps the list of the first event as it is (some releases of "
        "OpenAI's Python library do) has two, one of them without a name.",
        evidence=(in_message("tool_calls"),),
        fix="Join the pieces of one event by index, too; update the client, or ask without streaming.",
        severity=Severity.NOTE,
    )


def _empty_ids(trace: Trace, deltas: tuple[StreamDelta, ...]) -> Iterator[Report]:
    """Report later pieces of calls whose id is an empty text in place of none: harmless for who goes by the index.

    Many servers send it, so it is news only where someone looks for the reason of something.
    """
    if asked_server(trace):
        return
    begun: set[int] = set()
    empty: list[int] = []
    for event, part in _tool_deltas(deltas):
        if part.at is not None and part.call_id:
            begun.add(part.at)
        if part.at in begun and part.call_id == "" and not part.name:
            empty.append(event)
    if not empty:
        return
    first, count = first_at(empty[0], deltas), len(empty)
    yield Report(
        title=f"{counted(count, 'later piece')} of tool calls in the stream {'has' if count == 1 else 'have'} an empty "
        "id.",
        detail=f"{first}OpenAI's API leaves `id` out there. A client that takes each piece with an id, though it is "
        "empty, for the beginning of a new call does not join the arguments (some releases of Spring AI do so); one "
        "that puts the pieces together by index is not affected.",
        evidence=(in_message("tool_calls"),),
        fix="If calls arrive without a name or with parts of their arguments: update the client, or ask without "
        "streaming. On your own server or gateway, leave `id` out of the later pieces.",
        severity=Severity.NOTE,
    )


def _is_whole(pieces: Iterable[str]) -> bool:
    """Return whether the arguments so far are complete: then what has another id begins another call."""
    return isinstance(decode_json("".join(pieces)), dict)


def _report_changing_id(event: int, index: int, first: str, other: str) -> Report:
    """Report the pieces of one call that have an id each: only the first has a name, and the arguments go on."""
    return Report(
        title=f"The id of one tool call changes within the stream: from `{quote(first, 60)}` to `{quote(other, 60)}`.",
        detail=f"First at event {event}: the piece is at index {index} as before, has no name, and continues "
        "arguments that are not complete. A client that goes by the id takes each piece for a call without a name.",
        evidence=(in_message("tool_calls"),),
        fix="Put the pieces together by index, and keep the first id; or ask without streaming. Report it to the "
        "authors of the server or gateway.",
    )


def _event_of_object(deltas: tuple[StreamDelta, ...]) -> int | None:
    found = (at for at, delta in enumerate(deltas) if isinstance(delta.delta.get("tool_calls"), dict))
    return next(found, None)


def _no_list(event: int) -> Report:
    return Report(
        title="`tool_calls` of the stream is an object, not a list.",
        detail=f"First at event {event}. Clients read a list and find no call; here it is read as a list of one.",
        evidence=(in_message("tool_calls"),),
        fix="Ask without streaming, or use a newer release of the server.",
    )


def _report_missing_index(trace: Trace, first: str, reported: JSON) -> Report:
    """Report a delta that says only by its place to which call it belongs.

    Harmless where there is one call, and for who asked for a whole answer.
    """
    result = trace.chat_stream
    several = result is not None and len(as_list(result.message.get("tool_calls"))) > 1
    is_ours = trace.chat is not None and not trace.chat.deltas and trace.request.body.get("stream") is not True
    defect = "no index" if reported is None else f"an index that is not a number: `{quote(json.dumps(reported), 40)}`"
    return Report(
        title=f"A tool call delta of the stream has {defect}.",
        detail=f"{first}Clients put the pieces of calls together by index: without one, some refuse the stream, and "
        "others drop the call.",
        evidence=(in_message("tool_calls"),),
        fix="Put the calls together by id; or ask without streaming. Report it to the authors of the server or "
        "gateway.",
        severity=None if several and not is_ours else Severity.WARNING,
    )


class _Part(NamedTuple):
    at: int | None
    call_id: str | None
    name: str | None
    arguments: JSON
    reported: JSON


def _tool_deltas(deltas: tuple[StreamDelta, ...]) -> Iterator[tuple[int, _Part]]:
    """Yield the event's number with what each tool call delta says."""
    for event, delta in enumerate(deltas):
        for call in as_list(delta.delta.get("tool_calls")):
            entry = as_object(call)
            if entry:
                function = as_object(entry.get("function"))
                name = as_text(function.get("name"))
                index, call_id = as_count(entry.get("index")), as_text(entry.get("id"))
                yield event, _Part(index, call_id, name, function.get("arguments"), entry.get("index"))


RULE: Rule = TraceRule(
    code="PD417",
    name="stream-index-collision",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.STREAM,
    threads=("sgl-project/sglang#35625", "apache/maka#1976", "mudler/LocalAI#9722", "spring-projects/spring-ai#6591"),
    explains=("PD411",),
    fixes=(RequestFix("asked without streaming", setting(stream=False)),),
)
