"""Two JSON values → the fields that differ, each by its path; items of lists are aligned, not just counted off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from prompt_debugger.core.base.text import remove_whitespace
from prompt_debugger.core.base.types import JSON

_MAX_ITEMS = 2_000  # of lists that are aligned; alignment costs the square


@dataclass(frozen=True, slots=True)
class JsonChange:
    """One field that differs.

    Attributes:
        path: Where it is, such as `messages[2].content`; of a removed one in the first value, else in the second.
        kind: `removed` and `added` fields are in one value only.
        left: The first value there; `None` if added.
        right: The second; `None` if removed.
    """

    path: str
    kind: Literal["changed", "removed", "added"]
    left: JSON = None
    right: JSON = None

    @property
    def is_soft(self) -> bool:
        """Whether two texts differ in whitespace alone."""
        left, right = self.left, self.right
        return isinstance(left, str) and isinstance(right, str) and remove_whitespace(left) == remove_whitespace(right)


def json_changes(left: JSON, right: JSON) -> tuple[JsonChange, ...]:
    """Return the fields in which two JSON values differ, in the order of the first; none if they are equal.

    `1` and `true` differ, `1` and `1.0` do not; the order of keys does not count.
    """
    return tuple(_changes(left, right, ""))


def _changes(left: JSON, right: JSON, path: str) -> Iterator[JsonChange]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            below = f"{path}.{key}" if path else key
            if key not in right:
                yield JsonChange(below, "removed", left=left[key])
            elif key not in left:
                yield JsonChange(below, "added", right=right[key])
            else:
                yield from _changes(left[key], right[key], below)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _list_changes(left, right, path)
    elif _key(left) != _key(right):
        yield JsonChange(path, "changed", left, right)


def _list_changes(left: list[JSON], right: list[JSON], path: str) -> Iterator[JsonChange]:
    for a0, a1, b0, b1 in _stretches([*map(_key, left)], [*map(_key, right)]):
        paired = min(a1 - a0, b1 - b0)
        for a, b in zip(range(a0, a0 + paired), range(b0, b0 + paired), strict=True):
            yield from _changes(left[a], right[b], f"{path}[{b}]")
        for a in range(a0 + paired, a1):
            yield JsonChange(f"{path}[{a}]", "removed", left=left[a])
        for b in range(b0 + paired, b1):
            yield JsonChange(f"{path}[{b}]", "added", right=right[b])


def _stretches(left: list[str], right: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the stretches of two lists that are not equal, as index ranges of both."""
    if max(len(left), len(right)) > _MAX_ITEMS:
        yield 0, len(left), 0, len(right)
        return
    for tag, *ends in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            a0, a1, b0, b1 = ends
            yield a0, a1, b0, b1


def _key(value: JSON) -> str:
    """Return a text that is equal for equal values and for no others."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_key, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_key(value[key])}" for key in sorted(value)) + "}"
    return json.dumps(value)
