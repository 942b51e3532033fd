"""Events of one stream that a person pasted as blocks of their own, with a comment above each.

// Chunk 1: the call
{"message": {…}, "done": false}
// Chunk 2: nothing more
{"message": {…}, "done": true}
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.answers.read import is_event_list, lines_of_events
from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind
from prompt_debugger.core.evidence.reports.captions import are_captions
from prompt_debugger.core.evidence.values.json_of import json_of

_MAX_EVENT = 200_000  # characters
_DONE = "data: [DONE]"


def join_events(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks with those of one stream, with nothing but comments between them, joined into one."""
    joined: list[Block] = []
    run: list[tuple[int, tuple[JSONObject, ...]]] = []  # where in `joined` the events of the open stream lie
    for block in blocks:
        is_caption = block.kind is BlockKind.PROSE and are_captions(block.text)
        events = _events_of(block)
        if not is_caption and (not events or (run and not _goes_on(run[-1][1][-1], events[0]))):
            _close(joined, run)
        if events and (run or events[0].get("done", False) is False):
            run.append((len(joined), events))
        joined.append(block)
    _close(joined, run)
    return tuple(joined)


def _close(joined: list[Block], run: list[tuple[int, tuple[JSONObject, ...]]]) -> None:
    """Put the events of a stream into one block, if they are in more than one."""
    events = [event for _, some in run for event in some]
    if len(run) > 1 and is_event_list(events):
        start, stop = run[0][0], run[-1][0] + 1
        last = joined[stop - 1].text.rstrip()
        text, kind = lines_of_events(events), BlockKind.JSON
        if last.endswith(_DONE):  # an event on each line, as the last block has them
            text, kind = "".join(f"data: {line}\n\n" for line in text.split("\n")) + _DONE, BlockKind.STREAM
        joined[start:stop] = [Block(text, kind, joined[start].lead)]
    run.clear()


def _events_of(block: Block) -> tuple[JSONObject, ...]:
    """Return the events of a block that is one event, or a stream whose last event may be cut; none of any other."""
    if len(block.text) > _MAX_EVENT:
        return ()
    if block.kind is BlockKind.STREAM:
        data = [line for line in block.text.split("\n") if line.startswith("data:") and not line.startswith(_DONE)]
        values = [json_of(line[len("data:") :]) for line in data]
        if values and values[-1] is None:
            values.pop()
        events = tuple(value for value in values if isinstance(value, dict) and value.get("id"))
        return events if len(events) == len(values) and is_event_list([*events]) else ()
    value = json_of(block.text) if block.kind in (BlockKind.JSON, BlockKind.FENCED) else None
    return (value,) if isinstance(value, dict) and is_event_list([value]) else ()


def _goes_on(before: JSONObject, event: JSONObject) -> bool:
    """Return whether an event may follow another one of the same stream."""
    ids = {one["id"] for one in map(as_object, (before, event)) if isinstance(one.get("id"), str)}
    return before.get("done", False) is False and ("done" in before) == ("done" in event) and len(ids) < 2
