"""Look for many texts at once: which of them occur, in one pass, however many there are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable


class ManyTexts:
    """Some texts, compiled into one expression that reads a text once.

    The expression steps from one first character of theirs to the next and walks from there
    along a tree of what may follow, so occurrences that overlap are all found.

    >>> sorted(ManyTexts(["<a", "<a>", "a>b"]).found_in("x <a>b"))
    ['<a', '<a>', 'a>b']
    """

    def __init__(self, texts: Iterable[str]) -> None:
        every = sorted({*texts} - {""})
        self._begun = {text: [one for one in every if text.startswith(one)] for text in every}
        by_first: dict[str, list[str]] = defaultdict(list)
        for text in every:
            by_first[text[0]].append(text[1:])
        branches = (f"{re.escape(first)}(?=({_tree(rests)}))" for first, rests in by_first.items())
        self._pattern = re.compile("|".join(branches)) if every else None

    def found_in(self, text: str) -> set[str]:
        """Return those of the texts that occur in `text`."""
        found: set[str] = set()
        for match in () if self._pattern is None else self._pattern.finditer(text):
            # The longest one that begins here; what it begins with is there as well.
            found.update(self._begun[text[match.start() : match.end(match.lastindex or 0)]])
        return found


def _tree(rests: Iterable[str]) -> str:
    """Return an expression for the longest of some texts."""
    by_first: dict[str, list[str]] = defaultdict(list)
    may_end = False
    for rest in rests:
        if rest:
            by_first[rest[0]].append(rest[1:])
        else:
            may_end = True
    if not by_first:
        return ""
    branches = "|".join(re.escape(first) + _tree(following) for first, following in by_first.items())
    return f"(?:{branches})" + ("?" if may_end else "")
