"""Serialised values: which characters of `tojson` and of a printed container belong to which leaf.

A dump is made as text at once and taken apart only when someone needs its runs.
Keys, quotes, separators and brackets are structure: of the entry they introduce or
close, or of the container for its own brackets.
"""

from __future__ import annotations

import json
import marshal
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from prompt_debugger.core.render.trace.escapes import choose_repr, escape_json, escape_json_ascii, escape_runs
from prompt_debugger.core.render.trace.runs import Encode, Field, Run, RunKind, Runs, expand, total_length, unknown_runs
from prompt_debugger.core.render.trace.strings import TracedStr, runs_of, traced
from prompt_debugger.core.render.trace.values import Origin, TracedDict, TracedFloat, TracedInt, TracedList


@dataclass(frozen=True, slots=True)
class Notation:
    """How values are written.

    Attributes:
        choose_escape: Returns what a string goes through between its quotes.
        words: Text of `None`, `True` and `False`, in this order.
        write_float: Text of a float.
        item_separator: Between entries.
        key_separator: After a key.
        indent: Text of one level, `None` for one line.
        sort_keys: Whether entries are sorted by key.
        is_json: Whether keys become strings and tuples become arrays.
    """

    choose_escape: Callable[[str], Encode]
    words: tuple[str, str, str]
    write_float: Callable[[float], str]
    item_separator: str = ", "
    key_separator: str = ": "
    indent: str | None = None
    sort_keys: bool = False
    is_json: bool = True


PYTHON = Notation(choose_repr, ("None", "True", "False"), float.__repr__, is_json=False)


def json_notation(
    *, ensure_ascii: object = False, indent: object = None, separators: object = None, sort_keys: object = False
) -> Notation:
    """Return the notation of `json.dumps` with these arguments."""
    level = " " * indent if isinstance(indent, int) else indent if isinstance(indent, str) else None
    item, key = (",", ": ") if level is not None else (", ", ": ")
    if isinstance(separators, (tuple, list)) and len(separators) == 2:
        item, key = str(separators[0]), str(separators[1])
    return Notation(
        choose_escape=_json_ascii if ensure_ascii else _json,
        words=("null", "true", "false"),
        write_float=json.dumps,
        item_separator=item,
        key_separator=key,
        indent=level,
        sort_keys=bool(sort_keys),
    )


def _json(_: str) -> Encode:
    return escape_json


def _json_ascii(_: str) -> Encode:
    return escape_json_ascii


class Dump:
    """A serialised value; its runs are worked out when first asked for."""

    __slots__ = ("_runs", "notation", "text", "value")

    def __init__(self, value: object, notation: Notation, text: str) -> None:
        self.value = value
        self.notation = notation
        self.text = text
        self._runs: Runs | None = None

    @property
    def runs(self) -> Runs:
        """Runs that tile `text`; unknown if the text is not what the notation says."""
        if self._runs is None:
            walk = _Walk(self.notation)
            walk.value(self.value, None)
            found = tuple(walk.out)
            self._runs = found if total_length(found) == len(self.text) else unknown_runs(len(self.text))
        return self._runs

    @property
    def is_of_request(self) -> bool:
        """Whether it is a container as the request has it."""
        return isinstance(self.value, TracedDict | TracedList) and self.value._origin is Origin.REQUEST

    @property
    def key(self) -> Hashable | None:
        """All that the text and its runs depend on, of a container as the request has it; `None` of anything else.

        Written out, where 1 is neither 1.0 nor true, and an object keeps the order of its keys.
        """
        value = self.value
        if not isinstance(value, TracedDict | TracedList):
            return None
        try:
            return self.notation, value._field.path, marshal.dumps(value._raw, 0)  # type: ignore[arg-type]
        except ValueError:  # nested too deep, or something that JSON has not
            return None


def dumped(value: object, notation: Notation, text: str) -> TracedStr:
    """Return `text`, which is `value` in `notation`."""
    if not text:
        return traced(text, ())
    return traced(text, (Run(len(text), RunKind.DUMP, Dump(value, notation, text), 0, len(text)),))


def plain_value(value: object) -> object:
    """Return `value` without wrappers, for serialising it fast."""
    if isinstance(value, (TracedDict, TracedList)):
        return value._raw
    if isinstance(value, dict):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    if isinstance(value, tuple):
        return tuple(plain_value(item) for item in value)
    return value


class _Walk:
    """Walks one value in writing order and notes the runs."""

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.out: list[Run] = []
        self.depth = 0
        self.inside = False

    def structure(self, length: int, field: Field | None) -> None:
        """Note characters that give a container its structure."""
        if self.out:
            last = self.out[-1]
            if last.kind is RunKind.STRUCTURE and last.source is field:
                self.out[-1] = Run(last.length + length, RunKind.STRUCTURE, field)
                return
        if length:
            self.out.append(Run(length, RunKind.STRUCTURE, field))

    def value(self, value: object, field: Field | None) -> None:
        """Note the value at `field`."""
        if isinstance(value, str):
            self.string(value, field)
        elif isinstance(value, (TracedDict, TracedList)):
            self.container(value)
        elif isinstance(value, Mapping):
            self.mapping(value, field)
        elif isinstance(value, (list, tuple)):
            self.sequence(value, field)
        else:
            self.scalar(value, field)

    def container(self, value: TracedDict | TracedList) -> None:
        """Note a container of the request; of a derived one, the values keep their own places."""
        if value._origin is Origin.REQUEST:
            self.value(value._raw, value._field)
            return
        inside, self.inside = self.inside, value._origin is Origin.INSIDE
        if isinstance(value, TracedDict):
            self.mapping({key: dict.__getitem__(value, key) for key in dict.__iter__(value)}, value._field)
        else:
            items = [list.__getitem__(value, index) for index in range(len(value))]
            self.sequence(items, value._field)
        self.inside = inside

    def string(self, value: str, field: Field | None) -> None:
        """Note a string with its quotes."""
        encode = self.notation.choose_escape(value)
        if field is None and isinstance(value, TracedStr):
            field = _only_field(value)
        self.structure(1, field)
        if isinstance(value, TracedStr) or hasattr(value, "_runs"):  # safe HTML carries runs too
            self.out.extend(escape_runs(expand(runs_of(value)), str.__str__(value), encode))
        elif value:
            owner = None if field is None else Field(field.parent, field.key, value)
            kind = RunKind.UNKNOWN if owner is None else RunKind.COPY
            self.out.extend(escape_runs((Run(len(value), kind, owner, 0, len(value)),), value, encode))
        self.structure(1, field)

    def scalar(self, value: object, field: Field | None) -> None:
        """Note a number, boolean, null, or an object that only `repr` can write."""
        if isinstance(value, (TracedInt, TracedFloat)):
            field = value._field
        kind = RunKind.COMPUTED if field is None else RunKind.SCALAR
        self.out.append(Run(len(self._word(value)), kind, field))

    def _word(self, value: object) -> str:
        none, true, false = self.notation.words
        if value is None:
            return none
        if isinstance(value, bool):
            return true if value else false
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return self.notation.write_float(float(value)) if math.isfinite(value) else self._odd_float(value)
        return repr(value)

    def _odd_float(self, value: float) -> str:
        return json.dumps(float(value)) if self.notation.is_json else float.__repr__(value)

    def mapping(self, value: Mapping[str, object], field: Field | None) -> None:
        """Note an object with its braces."""
        self.structure(1, field)
        entries = value.items()
        self.depth += 1
        for index, (key, item) in enumerate(sorted(entries, key=_first) if self.notation.sort_keys else entries):
            here = self._entry(field, _index(key))
            self._separate(index, here)
            self._key(key, here)
            self.value(item, here)
        self.depth -= 1
        self._close(bool(value), field)

    def _entry(self, field: Field | None, key: str | int) -> Field | None:
        return field if field is None or self.inside else Field(field, key)

    def _key(self, key: object, field: Field | None) -> None:
        if isinstance(key, TracedStr):
            self.string(key, field)
        elif isinstance(key, str):
            encode = self.notation.choose_escape(key)
            self.structure(len(encode(key)) + 2, field)
        else:
            word = len(self._word(key))
            self.structure(word + 2 if self.notation.is_json else word, field)
        self.structure(len(self.notation.key_separator), field)

    def sequence(self, value: list[object] | tuple[object, ...], field: Field | None) -> None:
        """Note an array with its brackets."""
        self.structure(1, field)
        self.depth += 1
        for index, item in enumerate(value):
            here = self._entry(field, index)
            self._separate(index, here)
            self.value(item, here)
        self.depth -= 1
        if isinstance(value, tuple) and len(value) == 1 and not self.notation.is_json:
            self.structure(1, field)  # the comma of a 1-tuple
        self._close(bool(value), field)

    def _separate(self, index: int, field: Field | None) -> None:
        if index:
            self.structure(len(self.notation.item_separator), field)
        if self.notation.indent is not None:
            self.structure(1 + len(self.notation.indent) * self.depth, field)

    def _close(self, filled: bool, field: Field | None) -> None:  # noqa: FBT001  # two callers, both here
        if filled and self.notation.indent is not None:
            self.structure(1 + len(self.notation.indent) * self.depth, field)
        self.structure(1, field)


def _only_field(text: TracedStr) -> Field | None:
    """Return the field that all of a text came from, if it is one."""
    sources = {run.source for run in text._runs}
    source = sources.pop() if len(sources) == 1 else None
    return source if isinstance(source, Field) else None


def _first(entry: tuple[object, object]) -> str:
    return str(entry[0])


def _index(key: object) -> str | int:
    return key if isinstance(key, (str, int)) else str(key)
