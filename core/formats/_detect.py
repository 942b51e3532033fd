"""Say of every family how well it explains a text, and ask only those that the text shows a sign of.

Nearly every family of many has none: no mark of it occurs, the prompt does not end
like its own, and the text does not end in the middle of its markup. All marks are
looked for in one pass, and the end of a text is looked up among the beginnings of
all markers at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, FormatScore, ParsedMessage
from prompt_debugger.core.formats._family import NO_SIGN, TextFormat
from prompt_debugger.core.parse.cut_markers import BegunMarkers


class Detection(NamedTuple):
    """Scores by format name, best first; and readings that were made to find them, by format name."""

    scores: dict[str, FormatScore]
    readings: dict[str, ParsedMessage]


class Detector:
    """Scores some formats, all at once.

    Args:
        formats: By name. One that has its own `weigh` is asked about every text.
    """

    def __init__(self, formats: Mapping[str, TextFormat]) -> None:
        self._formats = dict(sorted(formats.items()))
        self._without_sign = dict.fromkeys(self._formats, NO_SIGN)
        self._always = tuple(name for name, one in formats.items() if type(one).weigh is not TextFormat.weigh)
        self._bare = tuple(one for one in formats.values() if one.bare_score)
        self._by_mark = _owners((mark.text, name) for name, one in formats.items() for mark in one.marks)
        self._marks = ManyTexts(self._by_mark)
        self._by_cut_text = _owners((text, name) for name, one in formats.items() for text in one.cut_texts)
        self._begun = BegunMarkers(self._by_cut_text)
        self._by_tail = _owners((text, name) for name, one in formats.items() for text in one.tail_texts)
        self._tails = ManyTexts(self._by_tail)
        self._of_prompt = lru_cache(maxsize=256)(self._list_by_tail)
        self._ordered = lru_cache(maxsize=256)(self._sort)  # the lines of a file often show the same signs

    def detect(self, raw: str, context: ReadContext) -> Detection:
        """Score every format."""
        found: list[tuple[str, FormatScore]] = []
        readings: dict[str, ParsedMessage] = {}
        signs = self._families_with_sign(raw, context.prompt_tail)
        for name in signs:
            score, reading = self._formats[name].weigh(raw, context)
            if score.score > 0:
                found.append((name, score))
            if reading is not None:
                readings[name] = reading
        if readings and len(found) > len(readings) + len(self._always):
            found = self._score_without_quoted_marks(raw, context, found, readings)
        return Detection({**self._ordered(frozenset(found))}, readings)

    def _score_without_quoted_marks(
        self,
        raw: str,
        context: ReadContext,
        found: list[tuple[str, FormatScore]],
        readings: Mapping[str, ParsedMessage],
    ) -> list[tuple[str, FormatScore]]:
        """Score again without the arguments of whole calls that no marker announces: markers in there are text."""
        whole = [call for one in readings.values() for call in one.calls if call.status is CallStatus.COMPLETE]
        pieces, position = [], 0
        for start, stop in sorted(call.arguments_span for call in whole if call.arguments_span is not None):
            pieces += [raw[position : max(position, start)], "." * (stop - max(position, start))]
            position = max(position, stop)
        blank = "".join([*pieces, raw[position:]])
        scores = (
            (name, score if name in readings else self._formats[name].match(blank, context)) for name, score in found
        )
        return [(name, score) for name, score in scores if score.score > 0]

    def _sort(self, found: frozenset[tuple[str, FormatScore]]) -> dict[str, FormatScore]:
        """Return all scores, the best first."""
        best = dict(sorted(found, key=lambda item: (-item[1].score, item[0])))
        return {**best, **self._without_sign, **best}

    def _families_with_sign(self, raw: str, prompt_tail: str) -> set[str]:
        """Return the formats whose score may be more than nothing."""
        names = {*self._always, *self._of_prompt(prompt_tail)}
        names.update([one.name for one in self._bare if one.may_be_bare(raw)])
        for text in self._marks.found_in(raw):
            names |= self._by_mark[text]
        for _, marker in self._begun.at_end_of(raw):
            names |= self._by_cut_text[marker]
        return names

    def _list_by_tail(self, prompt_tail: str) -> tuple[str, ...]:
        shown: set[str] = set()
        for text in self._tails.found_in(prompt_tail):
            shown |= self._by_tail[text]
        return tuple(
            name for name, one in self._formats.items() if name in shown and one.tail_in(prompt_tail) is not None
        )


def _owners(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for text, name in pairs:
        owners.setdefault(text, set()).add(name)
    return owners


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
