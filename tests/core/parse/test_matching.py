"""Which written call is which returned one: each step of the pairing alone, and what it must not take for a pair."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import (
    JSON,
    CallMatch,
    CallOutcome,
    CallStatus,
    JSONObject,
    Place,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.parse.json_scan import decode_json
from prompt_debugger.core.parse.matching import match_calls, message_calls, unmatched_calls


def written(
    name: str | None,
    arguments: str = "{}",
    call_id: str | None = None,
    *,
    place: Place = Place.BODY,
    status: CallStatus = CallStatus.COMPLETE,
) -> ToolCallAttempt:
    try:
        value: JSON = decode_json(arguments)
    except ValueError:
        value = None
    decoded = value if isinstance(value, dict) else None
    return ToolCallAttempt(name, arguments, decoded, call_id, status, place, char_span=Span(0, 0))


def draft(name: str | None, arguments: str = "{}") -> ToolCallAttempt:
    return written(name, arguments, place=Place.REASONING)


def returned(name: str, arguments: str = "{}", call_id: str | None = None) -> JSONObject:
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


def match(calls: list[ToolCallAttempt], entries: list[JSONObject]) -> tuple[CallMatch, ...]:
    return match_calls(calls, message_calls({"tool_calls": [*entries]}))


def pairs(calls: list[ToolCallAttempt], entries: list[JSONObject]) -> list[tuple[int | None, int | None]]:
    return [(one.raw_index, one.message_index) for one in match(calls, entries)]


LONG = '{"city": "Oslo", "days": 3}'
PAIRINGS: dict[str, tuple[list[ToolCallAttempt], list[JSONObject], list[tuple[int | None, int | None]]]] = {
    "name and arguments before order": (
        [written("f", '{"a": 1}'), written("f", '{"a": 2}')],
        [returned("f", '{"a": 2}'), returned("f", '{"a": 1}')],
        [(0, 1), (1, 0)],
    ),
    "arguments with their keys in another order": (
        [written("f", '{"a": 1, "b": 2}'), written("f", '{"c": 3}')],
        [returned("f", '{"c": 4}'), returned("f", '{"b": 2, "a": 1}')],
        [(0, 1), (1, 0)],
    ),
    "arguments that are no JSON, but for whitespace around them": (
        [written("f", " {x "), written("f", "{y")],
        [returned("f", "{y"), returned("f", "{x")],
        [(0, 1), (1, 0)],
    ),
    "the name before the id": (
        [written("f", '{"a": 1}', "one"), written("g", '{"a": 2}', "two")],
        [returned("g", '{"a": 9}', "one"), returned("f", '{"a": 8}', "two")],
        [(0, 1), (1, 0)],
    ),
    "the order within one name": (
        [written("f", '{"a": 1}'), written("f", '{"a": 2}')],
        [returned("f", '{"b": 1}'), returned("f", '{"b": 2}')],
        [(0, 0), (1, 1)],
    ),
    "the id before the arguments": (
        [written("f", '{"a": 1}', "one"), written("g", '{"a": 2}', "two")],
        [returned("x", '{"a": 1}', "two"), returned("y", '{"a": 2}', "one")],
        [(0, 1), (1, 0)],
    ),
    "an id that another call has is none": (
        [written("f", '{"a": 1}', "one")],
        [returned("x", '{"b": 1}', "two")],
        [(0, None), (None, 0)],
    ),
    "no ids are not the same id": (
        [written("f", '{"a": 1}')],
        [returned("x", '{"b": 1}')],
        [(0, None), (None, 0)],
    ),
    "no names are not the same name": (
        [written(None, '{"a": 1}'), written("f", '{"b": 2}')],
        [returned("", '{"c": 3}'), returned("f", '{"b": 2}')],
        [(0, None), (1, 1), (None, 0)],
    ),
    "arguments alone": (
        [written("f", '{"a": 1}'), written("g", '{"b": 2}')],
        [returned("y", '{"b": 2}'), returned("x", '{"a": 1}')],
        [(0, 1), (1, 0)],
    ),
    "empty arguments tell nothing": (
        [written("f", "{}")],
        [returned("x", "{}")],
        [(0, None), (None, 0)],
    ),
    "a name that the other begins with": (
        [written("get_weather", '{"a": 1}')],
        [returned("get_weather:0", '{"b": 1}')],
        [(0, 0)],
    ),
    "a name that is part of the other": (
        [written("functions.get_weather", '{"a": 1}')],
        [returned("get_weather", '{"b": 1}')],
        [(0, 0)],
    ),
    "an empty name is part of none": (
        [written("f", '{"a": 1}')],
        [returned("", '{"b": 1}')],
        [(0, None), (None, 0)],
    ),
    "a missing name is part of none": (
        [written(None, '{"a": 1}')],
        [returned("f", '{"b": 1}')],
        [(0, None), (None, 0)],
    ),
    "arguments that begin alike, eight characters of them": (
        [written("f", f" {LONG}")],
        [returned("x", '  {"city": "Bergen"}')],
        [(0, 0)],
    ),
    "seven characters may be alike by accident": (
        [written("f", '{"a": 1')],
        [returned("x", '{"a": 1}')],
        [(0, None), (None, 0)],
    ),
    "exactly eight": (
        [written("f", '{"aa": 1')],
        [returned("x", '{"aa": 1}')],
        [(0, 0)],
    ),
    "likeness goes by order": (
        [written("f", '{"a": 1}'), written("get", '{"b": 1}')],
        [returned("get_it", '{"c": 1}'), returned("x", '{"d": 1}')],
        [(0, None), (1, None), (None, 0), (None, 1)],
    ),
    "likeness is for what nothing better pairs": (
        [written("g", '{"a": 1}'), written("get", '{"b": 1}')],
        [returned("g", '{"a": 1}'), returned("get_it", '{"c": 1}')],
        [(0, 0), (1, 1)],
    ),
    "the body before drafts": (
        [draft("f", '{"a": 1}'), written("f", '{"a": 1}')],
        [returned("f", '{"a": 1}')],
        [(0, None), (1, 0)],
    ),
    "a draft, where the body has no such call": (
        [draft("f", '{"a": 1}'), written("g", '{"b": 1}')],
        [returned("f", '{"a": 2}'), returned("g", '{"b": 1}')],
        [(0, 0), (1, 1)],
    ),
    "a draft is not paired by arguments alone": (
        [draft("f", '{"a": 1}')],
        [returned("x", '{"a": 1}')],
        [(0, None), (None, 0)],
    ),
    "a draft is not paired by likeness": (
        [draft("get", '{"a": 1}')],
        [returned("get_it", '{"b": 1}')],
        [(0, None), (None, 0)],
    ),
    "each call once": (
        [written("f", '{"a": 1}')],
        [returned("f", '{"a": 1}'), returned("f", '{"a": 1}')],
        [(0, 0), (None, 1)],
    ),
    "each returned call once": (
        [written("f", '{"a": 1}'), written("f", '{"a": 1}')],
        [returned("f", '{"a": 1}')],
        [(0, 0), (1, None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("calls", "entries", "expected"), PAIRINGS.values(), ids=PAIRINGS.keys())
def test_calls_are_paired(
    calls: list[ToolCallAttempt], entries: list[JSONObject], expected: list[tuple[int | None, int | None]]
) -> None:
    assert pairs(calls, entries) == expected


CUT = CallStatus.TRUNCATED
FATES: list[tuple[ToolCallAttempt, JSONObject | None, CallOutcome, tuple[str, ...]]] = [
    (written("f", LONG), returned("f", LONG), CallOutcome.KEPT, ()),
    (written("f", LONG), returned("f", '{"days": 3, "city": "Oslo"}'), CallOutcome.KEPT, ()),
    (written("f", f" {LONG}\n"), returned("f", LONG), CallOutcome.KEPT, ()),
    (written("f", LONG, "a"), returned("f", LONG, "b"), CallOutcome.KEPT, ("id",)),
    (written("f", LONG, "a"), returned("f", LONG), CallOutcome.KEPT, ("id",)),
    (written("f", LONG), returned("f", LONG, "b"), CallOutcome.KEPT, ()),
    (written("f", LONG), returned("g", LONG), CallOutcome.ALTERED, ("name",)),
    (written("f", LONG), returned("f", '{"city": "Oslo", "days": 4}'), CallOutcome.ALTERED, ("arguments",)),
    (written("f", LONG, "a"), returned("g", '{"city": 1}', "a"), CallOutcome.ALTERED, ("name", "arguments")),
    (written("f", "{x"), returned("f", "{x "), CallOutcome.KEPT, ()),
    (written("f", "{x"), returned("f", "{y"), CallOutcome.ALTERED, ("arguments",)),
    (written("f", LONG), None, CallOutcome.DROPPED, ()),
    (draft("f", LONG), None, CallOutcome.DRAFT, ()),
    (draft("f", LONG), returned("f", LONG), CallOutcome.KEPT, ()),
    (written("f", LONG, status=CUT), returned("f", LONG), CallOutcome.CUT, ()),
    (written("f", LONG, status=CUT), None, CallOutcome.CUT, ()),
]


@pytest.mark.parametrize(("call", "entry", "outcome", "altered"), FATES)
def test_each_call_has_one_outcome(
    call: ToolCallAttempt, entry: JSONObject | None, outcome: CallOutcome, altered: tuple[str, ...]
) -> None:
    first = match([call], [] if entry is None else [entry])[0]

    assert (first.outcome, first.altered) == (outcome, altered)


def test_what_no_one_wrote_is_invented() -> None:
    assert match([], [returned("f")]) == (CallMatch(None, 0, outcome=CallOutcome.INVENTED),)


def test_where_nothing_may_be_compared_all_stand_alone() -> None:
    both = unmatched_calls([written("f")], message_calls({"tool_calls": [returned("f"), returned("g")]}))

    assert both == (CallMatch(0, None), CallMatch(None, 0), CallMatch(None, 1))
