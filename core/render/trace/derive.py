"""Values that a server makes out of the request's, which still know where they came from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.trace.runs import EscapedField, Field, Run, RunKind, Runs
from prompt_debugger.core.render.trace.strings import TracedStr, plain, traced
from prompt_debugger.core.render.trace.values import (
    Origin,
    TracedDict,
    TracedFloat,
    TracedInt,
    TracedList,
    key_text,
    wrap_array,
    wrap_object,
)

_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]+")


def peek(container: object, key: str) -> object:
    """Return an entry of a request object, wrapped, without it counting as read by the template."""
    if not isinstance(container, TracedDict) or not dict.__contains__(container, key):
        return None
    was_seen = key in container._seen
    value = container._hand_out(key)
    if not was_seen and not isinstance(value, (TracedDict, TracedList)):
        container._seen.discard(key)
        dict.__setitem__(container, key, unwrap(value))
    return value


def peek_all(container: object) -> list[object]:
    """Return the elements of a request array, wrapped."""
    return [container._hand_out(i) for i in range(len(container))] if isinstance(container, TracedList) else []


def field_of(value: object) -> Field | None:
    """Return the place of a request value, if it has one of its own."""
    if isinstance(value, (TracedDict, TracedList, TracedInt, TracedFloat)):
        return value._field
    if isinstance(value, TracedStr):
        return next((run.source for run in value._runs if isinstance(run.source, Field)), None)
    return None


def derived_object(entries: Mapping[str, object], field: Field, origin: Origin = Origin.REMADE) -> TracedDict:
    """Return an object that stands for what is at `field`; its entries are wrapped already."""
    made = wrap_object({}, field)
    dict.update(made, entries)
    made._raw = {plain(key): unwrap(value) for key, value in entries.items()}
    made._origin = origin
    return made


def derived_array(items: Iterable[object], field: Field, origin: Origin = Origin.REMADE) -> TracedList:
    """Return an array that stands for what is at `field`; its elements are wrapped already."""
    made = wrap_array([], field)
    list.extend(made, items)
    made._raw = [unwrap(value) for value in list.__iter__(made)]
    made._origin = origin
    return made


def added_text(text: str, field: Field) -> TracedStr:
    """Return a text that the server put where `field` is."""
    return key_text(text, field)


def unwrap(value: object) -> JSON:
    """Return the JSON value of anything wrapped or derived."""
    if isinstance(value, TracedDict):
        return dict(value._raw)
    if isinstance(value, TracedList):
        return list(value._raw)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, int):
        return int(value)
    assert isinstance(value, float)
    return float(value)


def parse_json(text: TracedStr, field: Field) -> object | None:
    """Return the JSON value that a request string spells, each leaf with its place in the string.

    Returns:
        `None` if the text is not JSON (or is `null`).
    """
    source = plain(text)
    try:
        expected = json.loads(source)
    except (ValueError, RecursionError):
        return None
    value, _ = _Parser(source, field).value(_skip(source, 0))
    return value if unwrap(value) == expected else None


class _Parser:
    """Reads JSON that is known to be well formed."""

    def __init__(self, source: str, field: Field) -> None:
        self.source = source
        self.field = field

    def value(self, position: int) -> tuple[object, int]:
        """Return the value at `position` and the offset behind it."""
        char = self.source[position]
        if char == '"':
            return self.string(position)
        if char == "{":
            return self.object(position)
        if char == "[":
            return self.array(position)
        match = _SCALAR.match(self.source, position)
        assert match is not None
        value = json.loads(match[0])
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = TracedInt(value) if isinstance(value, int) else TracedFloat(value)
            number._field = self.field
            return number, match.end()
        return value, match.end()

    def string(self, position: int) -> tuple[TracedStr, int]:
        """Return the string whose opening quote is at `position`."""
        value, stop = scanstring(self.source, position + 1, True)  # noqa: FBT003  # strict, positional only
        return traced(value, self._runs(position + 1, stop - 1)), stop

    def _runs(self, start: int, stop: int) -> Runs:
        runs: list[Run] = []
        position = start
        for match in _ESCAPE.finditer(self.source, start, stop):
            if match.start() > position:
                runs.append(Run(match.start() - position, RunKind.COPY, self.field, position, match.start()))
            runs.append(Run(1, RunKind.ESCAPED, EscapedField(self.field, None), match.start(), match.end()))
            position = match.end()
        if stop > position:
            runs.append(Run(stop - position, RunKind.COPY, self.field, position, stop))
        return tuple(runs)

    def object(self, position: int) -> tuple[TracedDict, int]:
        """Return the object whose brace is at `position`."""
        entries: dict[str, object] = {}
        position = _skip(self.source, position + 1)
        while self.source[position] != "}":
            key, position = self.string(_skip(self.source, position))
            position = _skip(self.source, position) + 1  # the colon
            value, position = self.value(_skip(self.source, position))
            entries[plain(key)] = value
            position = self._next(position)
        return derived_object(entries, self.field, Origin.INSIDE), position + 1

    def array(self, position: int) -> tuple[TracedList, int]:
        """Return the array whose bracket is at `position`."""
        items: list[object] = []
        position = _skip(self.source, position + 1)
        while self.source[position] != "]":
            value, position = self.value(_skip(self.source, position))
            items.append(value)
            position = self._next(position)
        return derived_array(items, self.field, Origin.INSIDE), position + 1

    def _next(self, position: int) -> int:
        position = _skip(self.source, position)
        return _skip(self.source, position + 1) if self.source[position] == "," else position


def _skip(source: str, position: int) -> int:
    match = _SPACE.match(source, position)
    assert match is not None
    return match.end()
