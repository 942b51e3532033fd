"""The events of a pasted stream: server-sent events, one JSON object a line, or one list of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.sse import SseEvent, SseParser
from prompt_debugger.core.evidence.values.json_of import json_of

_INDENTED = re.compile(r"(?m)^[ \t>]+(?=(?:data|event|id|retry):)")
_DONE = "[DONE]"
_BEGINNINGS = ("message_start", "response.created")  # the first events of Messages and of Responses
_ENDS = ("message_stop", "response.completed", "response.incomplete", "response.failed")


class Events(NamedTuple):
    """What was read of a text that is a stream.

    Attributes:
        events: In order, as they came over the wire; those of a list or of lines are made such.
        objects: Those of them that are JSON objects.
        notes: What was repaired, a sentence each.
    """

    events: tuple[SseEvent, ...]
    objects: tuple[JSONObject, ...]
    notes: tuple[str, ...] = ()


def events_of_sse(text: str) -> Events:
    """Read server-sent events; events without the empty lines between them are distinguished by their lines."""
    parser = SseParser()
    found = (*parser.feed(_INDENTED.sub("", text).encode("utf-8", "replace")), *parser.finish())
    events: list[SseEvent] = []
    notes: list[str] = []
    for event in found:
        lines = event.data.split("\n")
        whole = lines[:-1] if lines[-1].startswith("{") and len(lines) > 2 else lines  # the last may be cut
        if len(lines) > 1 and not isinstance(json_of(event.data), dict) and all(map(_is_event, whole)):
            events += [SseEvent(line, event.event) for line in whole]
            events += [SseEvent(line, event.event, is_complete=_is_event(line)) for line in lines[len(whole) :]]
            notes = ["The empty lines between events were not copied; each `data:` line was read as an event."]
        else:
            events.append(event)
    streams = _streams_of([(event, json_of(event.data)) for event in events])
    notes += _say_how_many(len(streams))
    left_out, by_id = _of_other_answers([as_object(value) for _, value in streams[-1]])
    read = [pair for number, pair in enumerate(streams[-1]) if number not in left_out]
    objects = [value for _, value in read if isinstance(value, dict)]
    return Events(tuple(event for event, _ in read), tuple(objects), (*notes, *by_id))


def _streams_of(events: Sequence[tuple[SseEvent, JSON]]) -> list[list[tuple[SseEvent, JSON]]]:
    """Return the streams that were copied one after the other: each ends with `[DONE]`, or the next one begins."""
    streams: list[list[tuple[SseEvent, JSON]]] = [[]]
    is_begun = is_done = is_broken = False
    for event, value in events:
        fields = as_object(value)
        begins = fields.get("type") in _BEGINNINGS or (is_done and bool(fields.get("choices")))
        begins = begins or (is_broken and _begins_answer(fields))
        if begins and is_begun:
            streams.append([])
            is_done = False
        is_begun = is_begun or value is not None
        is_done = is_done or event.data.strip() == _DONE
        is_broken = value is None and event.data.lstrip().startswith("{")
        streams[-1].append((event, value))
    return streams


def _begins_answer(fields: JSONObject) -> bool:
    """Return whether an event has the role, which only the first one of a chat completion's stream has."""
    choices = fields.get("choices")
    first = as_object(choices[0]) if isinstance(choices, list) and choices else {}
    return "role" in as_object(first.get("delta"))


def _is_event(line: str) -> bool:
    return line.strip() == _DONE or isinstance(json_of(line), dict)


def events_of_objects(objects: Sequence[JSONObject]) -> Events:
    """Take JSON objects for the events of a stream; where several streams follow one another, the last one is read."""
    starts, has_ended = [0], False
    for number, value in enumerate(objects):
        if has_ended and value.get("type") in _BEGINNINGS:
            starts.append(number)
        has_ended = (has_ended and number != starts[-1]) or value.get("type") in _ENDS
    last = objects[starts[-1] :]
    left_out, by_id = _of_other_answers(last)
    last = [value for number, value in enumerate(last) if number not in left_out]
    events = tuple(SseEvent(json.dumps(value, ensure_ascii=False)) for value in last)
    return Events(events, tuple(last), (*_say_how_many(len(starts)), *by_id))


def _of_other_answers(events: Sequence[JSONObject]) -> tuple[set[int], list[str]]:
    """Return which events belong to another answer than the last one to begin, and what is to be said of that.

    Answers of chat completions that came at once are told apart by the ids of their events. A gateway that makes an id
    for each event, or another one after the first, streams one answer: an answer has the role once, and several events.
    """
    ids = [text if isinstance(text := event.get("id"), str) and _is_chunk(event) else "" for event in events]
    counts = Counter(filter(None, ids))
    begun = dict.fromkeys(one for one, event in zip(ids, events, strict=True) if one and _begins_answer(event))
    answers = [one for one in begun if counts[one] > 1]
    if len(answers) < 2:
        return set(), []
    earlier = {*answers[:-1]}
    others = {number for number, one in enumerate(ids) if one in earlier}
    note = f"The ids of the events are of {len(answers)} answers; the last one to begin was read."
    return others, [note]


def _is_chunk(event: JSONObject) -> bool:
    return isinstance(event.get("choices"), list)


def _say_how_many(streams: int) -> list[str]:
    return [f"The text contains {streams} streams; the last one was read."] if streams > 1 else []
