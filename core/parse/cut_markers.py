"""Find a marker that the end of a text cuts in two.

    Let me look.<|tool_calls_sec

Half a marker is markup: no server shows it as text, and no name ends with it.
What could be the end of ordinary text is believed only where the output was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from prompt_debugger.core.parse.mentions import is_in_sentence
from prompt_debugger.core.parse.signs import is_bracketed, is_control

_MIN_SPECIAL, _MIN_CUT, _MIN_PLAIN = 3, 2, 5
_MARKER_CHARS = 60  # no marker is longer
_STRUCTURE_CHARS = 400  # no header is longer
_LINE_CHARS = 4000  # how far back the bracket of a list is looked for


class BegunMarkers:
    """Markers indexed by their beginnings, so that a text's end is looked up and not compared with each of them."""

    def __init__(self, markers: Iterable[str]) -> None:
        self.whole = tuple(markers)
        self._by_beginning: dict[str, list[str]] = {}
        sizes: dict[str, set[int]] = {}
        for marker in self.whole:
            for size in range(1, len(marker)):
                self._by_beginning.setdefault(marker[:size], []).append(marker)
                sizes.setdefault(marker[size - 1], set()).add(size)
        self._sizes = {last: sorted(of_last, reverse=True) for last, of_last in sizes.items()}

    def at_end_of(self, raw: str) -> Iterator[tuple[int, str]]:
        """Yield how many characters of a marker `raw` ends with, and the marker; the most characters first."""
        for size in self._sizes.get(raw[-1:], ()):
            if size <= len(raw):
                for marker in self._by_beginning.get(raw[-size:], ()):
                    yield size, marker


def cut_marker_start(raw: str, markers: frozenset[str], finish_reason: str | None) -> int:
    """Return where half a marker begins at the end of a cut output (`length`); its length if there is none."""
    begun = _begun_markers(markers)
    for size, marker in begun.at_end_of(raw):
        start = len(raw) - size
        if size >= _least(marker, finish_reason) or _is_markup_due(raw, start, marker[:size], begun, finish_reason):
            return len(raw) if raw[start:] in markers else start
    return len(raw)


def cut_structure_start(raw: str, stop: int, pattern: re.Pattern[str], finish_reason: str | None) -> int:
    """Return where a header begins that the end of the text cut, its markers whole; `stop` if there is none.

    Args:
        raw: The raw output.
        stop: Where half a marker begins at its end, else its length.
        pattern: A header as far as it goes, up to the end.
        finish_reason: The server's word; without `length`, a marker that a sentence mentions does not count.
    """
    found = pattern.search(raw, max(0, stop - _STRUCTURE_CHARS), stop)
    if found is None or (finish_reason != "length" and is_in_sentence(raw[: found.start()])):
        return stop
    return found.start()


def _is_markup_due(raw: str, position: int, half: str, begun: BegunMarkers, finish_reason: str | None) -> bool:
    """Return whether what begins at `position` is more likely markup than text, however short it is."""
    if half == "]" and _closes_bracket(raw[max(0, position - _LINE_CHARS) : position]):
        return False
    if not is_bracketed(half):
        return False
    before = raw[max(0, position - _MARKER_CHARS) : position]
    if before[-3:].rstrip().endswith((">", "]", "}")) or before.rstrip().endswith(begun.whole):
        return True
    return finish_reason == "length" and not before.endswith((" ", "\t"))


def _closes_bracket(before: str) -> bool:
    """Return whether a text has a bracket open that a further `]` closes."""
    return before.count("[") > before.count("]")


def _least(marker: str, finish_reason: str | None) -> int:
    """Return how many characters of a marker have to be there before they count as its beginning."""
    if finish_reason == "length":
        return _MIN_CUT
    if is_control(marker):  # ordinary text does not end this way
        return _MIN_SPECIAL
    return len(marker) if finish_reason == "stop" else _MIN_PLAIN


@lru_cache(maxsize=256)
def _begun_markers(markers: frozenset[str]) -> BegunMarkers:
    return BegunMarkers(markers)
