"""Where a JavaScript snippet gives names their values, and where it changes those: read once for all names."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

_GIVEN = re.compile(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]{1,200})?=(?!=)\s*")
_CHANGED = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]*+)\s*+(?:\.(?:push|unshift|splice|concat)\(|\+?=(?!=|>))")


class Names:
    """The names of a snippet.

    >>> names = Names("let a = 1; a += 1; f(a)")
    >>> names.given("a", 20), names.changed("a", 8, 20), names.given("b", 20)
    (8, 11, None)
    """

    def __init__(self, text: str) -> None:
        self._given: dict[str, list[int]] = {}
        self._changed: dict[str, list[int]] = {}
        for found in _GIVEN.finditer(text):
            self._given.setdefault(found[1], []).append(found.end())
        for found in _CHANGED.finditer(text):
            self._changed.setdefault(found[1], []).append(found.start())

    def given(self, name: str, at: int) -> int | None:
        """Return where the value begins that a name was given last, above a place; `None` if it has none there."""
        places = self._given.get(name, [])
        index = bisect_right(places, at)
        return places[index - 1] if index else None

    def changed(self, name: str, start: int, stop: int) -> int | None:
        """Return where a name's value is changed first between two places; `None` if it is not."""
        places = self._changed.get(name, [])
        index = bisect_left(places, start)
        return places[index] if index < len(places) and places[index] < stop else None
