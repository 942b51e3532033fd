"""Find markers in raw text: fast, in linear time, and without believing quotations.

Owns searching and the question "is this quoted?". Knows no model family.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.types import Span

_SPACE = re.compile(r"[ \t\r\n]*+")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」", "`": "`"}
_UNKNOWN = (sys.maxsize, -1)  # of a marker that was never looked for: searched from nowhere
_LOOK_CHARS = 400  # how far along a line the quotation test looks


# No call continues past these, whatever the family; they are written for no other purpose.
_STOPS = ("</think>", "<|im_end|>", "<|eot_id|>", "<｜end▁of▁sentence｜>", "<|endoftext|>")


@lru_cache(maxsize=128)
def stops_of(ends: frozenset[str]) -> tuple[str, ...]:
    """Return the texts at which a call ends that was not closed, given those with which its family ends a turn."""
    return tuple(dict.fromkeys((*_STOPS, *sorted(ends))))


@lru_cache(maxsize=128)
def stop_pattern(ends: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of `stops_of`."""
    return re.compile("|".join(re.escape(text) for text in sorted(stops_of(ends), key=len, reverse=True)))


class Hit(NamedTuple):
    """A marker found in a text: where it starts, where it stops, what it is."""

    start: int
    stop: int
    marker: str


class Finder:
    """Repeated search in one text, remembering the next place of every marker.

    Asked with growing positions, all searches together read the text once per
    marker, however many there are: a marker that never comes is looked for once.
    """

    def __init__(self, text: str, stop: int | None = None) -> None:
        self.text = text
        self.stop = len(text) if stop is None else stop
        self._known: dict[str, tuple[int, int]] = {}

    def next(self, marker: str, start: int) -> int:
        """Return where `marker` next starts at or after `start`, -1 if nowhere."""
        searched_from, found = self._known.get(marker, _UNKNOWN)
        if searched_from <= start and (found >= start or found == -1):
            return found
        found = self.text.find(marker, start, self.stop)
        self._known[marker] = (start, found)
        return found

    def occurring(self, markers: Iterable[str], start: int) -> list[str]:
        """Return those of some markers that occur at or after `start`; what is not there need not be asked again."""
        find, known, stop = self.text.find, self._known, self.stop
        there: list[str] = []
        for marker in markers:
            found = find(marker, start, stop)
            known[marker] = (start, found)
            if found != -1:
                there.append(marker)
        return there

    def first(self, markers: Iterable[str], start: int) -> Hit | None:
        """Return the first of several markers; the longest one where two start together."""
        known = self._known
        first, best = -1, ""
        for marker in markers:
            searched_from, found = known.get(marker, _UNKNOWN)  # as in `next`, without a call
            if searched_from > start or -1 < found < start:
                found = self.next(marker, start)
            if found != -1 and (first == -1 or found < first or (found == first and len(marker) > len(best))):
                first, best = found, marker
        return None if first == -1 else Hit(first, first + len(best), best)


class PatternFinder:
    """The same for regular expressions: remembers the next match of every pattern."""

    def __init__(self, text: str, stop: int) -> None:
        self.text = text
        self.stop = stop
        self._known: dict[re.Pattern[str], tuple[int, re.Match[str] | None]] = {}

    def next(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """Return the next match of `pattern` that starts at or after `start`."""
        if pattern in self._known:
            searched_from, match = self._known[pattern]
            if searched_from <= start and (match is None or match.start() >= start):
                return match
        match = pattern.search(self.text, start, self.stop)
        self._known[pattern] = (start, match)
        return match


def skip_space(text: str, start: int, stop: int) -> int:
    """Return the position of the first character at or after `start` that is not whitespace."""
    match = _SPACE.match(text, start, stop)
    return start if match is None else match.end()


def trim_span(text: str, start: int, stop: int) -> Span:
    """Return `[start, stop)` without whitespace at either end; empty at `start` if it is all whitespace."""
    begin = skip_space(text, start, stop)
    if begin == stop:
        return Span(start, start)
    length = len(text[begin:stop].rstrip(" \t\r\n"))
    return Span(begin, begin + length)


class QuoteGuard:
    """Tells quoted calls from written ones, in one pass from left to right.

    A call is quoted if it is inside a closed code fence, in inline code, between
    quotation marks, or, where asked, in the middle of a sentence. Fences inside
    accepted calls do not count: report every accepted call by `skip`.
    """

    def __init__(self, text: str, start: int, stop: int) -> None:
        self._text = text
        self._stop = stop
        self._position = start
        self._fence = ""
        self._has_fences = text.find("```", start, stop) != -1 or text.find("~~~", start, stop) != -1
        self._fences = Finder(text, stop)
        self._floor = start

    def skip(self, position: int) -> None:
        """Continue after an accepted call."""
        self._position = max(self._position, position)
        self._floor = self._position

    def is_quoted(self, span: Span, *, in_sentence: bool = False) -> bool:
        """Return whether a stretch is quoted; with `in_sentence`, also by prose on both sides in the same line."""
        self._advance(span.start)
        if self._fence and self._closes_after(span.stop):
            return True
        return is_quoted_inline(self._text, span, self._stop, floor=self._floor, in_sentence=in_sentence)

    def _advance(self, position: int) -> None:
        if not self._has_fences:
            return
        for match in _FENCE.finditer(self._text, self._position, max(self._position, position)):
            ticks, rest = match.group(1), match.group(2)
            if not self._fence:
                self._fence = ticks
            elif ticks.startswith(self._fence) and not rest.strip():
                self._fence = ""
        self._position = max(self._position, position)

    def _closes_after(self, position: int) -> bool:
        return self._fences.next(self._fence, position) != -1


def is_quoted_inline(text: str, span: Span, stop: int, *, floor: int = 0, in_sentence: bool = False) -> bool:
    """Return whether `span` is quoted within its line: by back-ticks, quotation marks or a sentence around it.

    Args:
        text: The whole text.
        span: What may be quoted.
        stop: Where the text ends.
        floor: Where it begins, as far as this question goes.
        in_sentence: True if prose on both sides makes a quotation, too.
    """
    line_start = text.rfind("\n", max(0, span.start - _LOOK_CHARS), span.start) + 1
    line_start = max(line_start, span.start - _LOOK_CHARS, min(floor, span.start))
    before = text[line_start : span.start]
    if not in_sentence and "`" not in before and before[-1:] not in _QUOTES:
        return False  # whatever follows
    after = text[span.stop : min(stop, span.stop + _LOOK_CHARS)].partition("\n")[0]
    if before.count("`") % 2 == 1 and "`" in after:
        return True
    if before and after and _QUOTES.get(before[-1]) == after[0]:
        return True
    return in_sentence and _ends_within_sentence(before) and _starts_within_sentence(after)


def _ends_within_sentence(before: str) -> bool:
    words = before.rstrip(" \t")
    return bool(words) and words != before and (words[-1].isalnum() or words[-1] in ",;(")


def _starts_within_sentence(after: str) -> bool:
    words = after.lstrip(" \t")
    return bool(words) and (words[0] in ".,;)" or (words != after and words[0].islower()))
