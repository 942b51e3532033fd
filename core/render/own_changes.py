"""What a server's record says it does to a request before its template sees it, tried as an explanation of its prompt.

The changes are functions of a plain request. Each text that they are given knows its place, so a text that they pass on
or move keeps it; what they make anew belongs to no field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.base.types import JSON, JSONObject, PromptSpan, SpanKind
from prompt_debugger.core.render.trace.runs import join_path

_MANY = 6  # changes up to which every choice of them is tried, 63 at most; beyond that one, two, or all


@dataclass(frozen=True, slots=True)
class ChangedRequest:
    """What a server may have made of a request.

    Attributes:
        body: The request as changed.
        changes: By which changes.
        field_by_field: Fields of the pasted request by those of the changed one, for texts that were passed on.
        untouched: Top-level fields that are as they were.
    """

    body: JSONObject
    changes: tuple[RequestChange, ...]
    field_by_field: Mapping[str, str]
    untouched: frozenset[str]

    def as_pasted(self, spans: Sequence[PromptSpan]) -> tuple[PromptSpan, ...]:
        """Return spans with the fields of the pasted request; unknown is what is of none of them."""
        return tuple(map(self._as_pasted, spans))

    def _as_pasted(self, span: PromptSpan) -> PromptSpan:
        if span.field is None or span.field.partition(".")[0].partition("[")[0] in self.untouched:
            return span
        if (field := self.field_by_field.get(span.field)) is not None:
            return replace(span, field=field)
        return PromptSpan(span.char_span, SpanKind.UNKNOWN, None, None, span.template_line, span.template_column)


def changed_requests(body: JSONObject, changes: Sequence[RequestChange]) -> Iterator[ChangedRequest]:
    """Yield what a server may have made of a request, by the fewest changes first."""
    counts = range(1, len(changes) + 1) if len(changes) <= _MANY else (1, 2, len(changes))
    for count in counts:
        for chosen in combinations(changes, count):
            if (made := _changed(body, chosen)) is not None:
                yield made


class _Placed(str):
    """A text of the request that knows its place in it."""

    __slots__ = ("field",)
    field: str


def _changed(body: JSONObject, changes: tuple[RequestChange, ...]) -> ChangedRequest | None:
    """Return a request as changes make it; `None` if one of them does nothing to it: fewer were tried already."""
    text, now = json.dumps(body), _placed(body, "")
    for change in changes:
        try:
            now = change.apply(now)  # type: ignore[arg-type]  # an object, as `body` is
            before, text = text, json.dumps(now)
        except Exception:  # noqa: BLE001  # pasted requests have any shape, and what raises for one explains nothing
            return None
        if text == before or not isinstance(now, dict):  # as text, in which the order of keys counts
            return None
    made: JSONObject = json.loads(text)
    assert isinstance(now, dict)
    untouched = frozenset(key for key in made if key in body and json.dumps(made[key]) == json.dumps(body[key]))
    return ChangedRequest(made, changes, dict(_moved(now, "")), untouched)


def _placed(value: JSON, field: str) -> JSON:
    """Return a copy whose texts know their fields."""
    if isinstance(value, str):
        placed = _Placed(value)
        placed.field = field
        return placed
    if isinstance(value, list):
        return [_placed(item, join_path(field, index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _placed(item, join_path(field, key)) for key, item in value.items()}
    return value


def _moved(value: object, field: str) -> Iterator[tuple[str, str]]:
    """Yield for each text where it is now and where it was."""
    if isinstance(value, _Placed):
        yield field, value.field
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _moved(item, join_path(field, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _moved(item, join_path(field, str(key)))
