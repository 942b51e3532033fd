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


def join_events(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks with those of one stream, with nothing but comments between them, joined into one."""
    joined: list[Block] = []
    run: list[tuple[int, JSONObject]] = []  # where in `joined` each event of the open stream lies
    for block in blocks:
        is_caption = block.kind is BlockKind.PROSE and are_captions(block.text)
        event = _event_of(block)
        if not is_caption and (event is None or (run and not _goes_on(run[-1][1], event))):
            _close(joined, run)
        if event is not None and (run or event.get("done", False) is False):
            run.append((len(joined), event))
        joined.append(block)
    _close(joined, run)
    return tuple(joined)


def _close(joined: list[Block], run: list[tuple[int, JSONObject]]) -> None:
    """Put the events of a stream into one block, if they are more than one."""
    events = [event for _, event in run]
    if len(run) > 1 and is_event_list(events):
        start, stop = run[0][0], run[-1][0] + 1
        joined[start:stop] = [Block(lines_of_events(events), BlockKind.JSON, joined[start].lead)]
    run.clear()


def _event_of(block: Block) -> JSONObject | None:
    if block.kind not in (BlockKind.JSON, BlockKind.FENCED) or len(block.text) > _MAX_EVENT:
        return None
    value = json_of(block.text)
    return value if isinstance(value, dict) and is_event_list([value]) else None


def _goes_on(before: JSONObject, event: JSONObject) -> bool:
    """Return whether an event may follow another one of the same stream."""
    ids = {one["id"] for one in map(as_object, (before, event)) if isinstance(one.get("id"), str)}
    return before.get("done", False) is False and ("done" in before) == ("done" in event) and len(ids) < 2
