"""Align two texts that usually agree, in time linear in their length.

Whole texts and long common stretches are found first; only short remainders
are compared character by character. The result is monotone: matches follow
each other in both texts. It need not be the longest alignment there is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from prompt_debugger.core.base.types import Span

_BLOCK_CHARS = (32, 12, 6)  # sizes of the common stretches looked for, largest first
_MAX_REPEATS = 8  # a block that is more frequent than this says nothing about where it belongs
_CLOSE_CHARS = 300  # remainders up to this size are compared character by character
_CLOSE_BUDGET = 200  # at most so many remainders are
_SHORTEST = 2  # shorter agreements are accidents, unless longer ones adjoin them on both sides in the target


class Match(NamedTuple):
    """A stretch common to both texts."""

    source_start: int
    target_start: int
    length: int


class _Gap(NamedTuple):
    source_start: int
    source_stop: int
    target_start: int
    target_stop: int


def align(source: str, target: str) -> tuple[Match, ...]:
    """Return the stretches that `source` and `target` have in common, in order.

    Returns:
        Matches, none empty, increasing in both texts.
    """
    aligner = _Aligner(source, target)
    aligner.run(_Gap(0, len(source), 0, len(target)), level=0)
    return tuple(aligner.matches)


def gaps_between(matches: Sequence[Match], source_length: int, target_length: int) -> Iterator[tuple[Span, Span]]:
    """Yield the stretches of both texts between matches; one of the two may be empty."""
    for source, target, _ in _add_gaps(matches, source_length, target_length):
        if source.start < source.stop or target.start < target.stop:
            yield source, target


def common_prefix_length(left: str, right: str, left_start: int = 0, right_start: int = 0) -> int:
    """Return how many characters agree from the given positions on."""
    limit = min(len(left) - left_start, len(right) - right_start)

    def agrees(begin: int, end: int) -> bool:
        return left[left_start + begin : left_start + end] == right[right_start + begin : right_start + end]

    return _agreed_length(limit, agrees)


def _agreed_length(limit: int, agrees: Callable[[int, int], bool]) -> int:
    """Return how far two texts agree: `agrees` compares a stretch, which doubles while it does."""
    size, agreed = 64, 0
    while agreed < limit:
        size = min(size, limit - agreed)
        if agrees(agreed, agreed + size):
            agreed, size = agreed + size, size * 2
        elif size == 1:
            break
        else:
            size = max(1, size // 4)
    return agreed


class _Aligner:
    def __init__(self, source: str, target: str) -> None:
        self._source = source
        self._target = target
        self._budget = _CLOSE_BUDGET
        self.matches: list[Match] = []

    def run(self, gap: _Gap, level: int) -> None:
        """Align one gap; matches are added in order."""
        source = self._source[gap.source_start : gap.source_stop]
        target = self._target[gap.target_start : gap.target_stop]
        prefix = common_prefix_length(source, target)
        self._add(gap.source_start, gap.target_start, prefix)
        suffix = _common_suffix_length(source[prefix:], target[prefix:])
        inner = _Gap(
            gap.source_start + prefix, gap.source_stop - suffix, gap.target_start + prefix, gap.target_stop - suffix
        )
        if inner.source_start < inner.source_stop and inner.target_start < inner.target_stop:
            self._run_inner(inner, level)
        self._add(gap.source_stop - suffix, gap.target_stop - suffix, suffix)

    def _run_inner(self, gap: _Gap, level: int) -> None:
        source = self._source[gap.source_start : gap.source_stop]
        target = self._target[gap.target_start : gap.target_stop]
        whole = _find_whole(source, target)
        if whole is not None:
            self._add(gap.source_start + whole.source_start, gap.target_start + whole.target_start, whole.length)
        elif max(len(source), len(target)) <= _CLOSE_CHARS and self._budget:
            self._budget -= 1
            self._compare_closely(gap, source, target)
        elif level < len(_BLOCK_CHARS):
            self._run_blocks(gap, source, target, level)

    def _run_blocks(self, gap: _Gap, source: str, target: str, level: int) -> None:
        anchors = _block_matches(source, target, _BLOCK_CHARS[level])
        for source_gap, target_gap, match in _add_gaps(anchors, len(source), len(target)):
            inner = _Gap(
                gap.source_start + source_gap.start,
                gap.source_start + source_gap.stop,
                gap.target_start + target_gap.start,
                gap.target_start + target_gap.stop,
            )
            if inner.source_start < inner.source_stop and inner.target_start < inner.target_stop:
                self.run(inner, level + 1)
            self._add(gap.source_start + match.source_start, gap.target_start + match.target_start, match.length)

    def _compare_closely(self, gap: _Gap, source: str, target: str) -> None:
        blocks = SequenceMatcher(None, source, target, autojunk=False).get_matching_blocks()
        for match in _drop_accidents([Match(*block) for block in blocks[:-1]], len(target)):
            self._add(gap.source_start + match.source_start, gap.target_start + match.target_start, match.length)

    def _add(self, source_start: int, target_start: int, length: int) -> None:
        if not length:
            return
        last = self.matches[-1] if self.matches else None
        follows = last is not None and (
            last.source_start + last.length == source_start and last.target_start + last.length == target_start
        )
        if last is not None and follows:
            self.matches[-1] = Match(last.source_start, last.target_start, last.length + length)
        else:
            self.matches.append(Match(source_start, target_start, length))


def _drop_accidents(matches: Sequence[Match], target_length: int) -> list[Match]:
    """Return the matches that are not an accident: long ones, and single characters that join them without a gap.

    Single characters that follow each other in the target are kept together, or not at all: `t` and `e` of a word
    that is gone, found again in another word, are not kept text.
    """
    kept: list[Match] = []
    run: list[Match] = []
    position = 0  # from here the target may continue without a gap
    for match in (*matches, Match(0, target_length, _SHORTEST)):
        if match.target_start != position:
            run, position = [], -1
        if match.length >= _SHORTEST:
            kept += run
            kept.append(match)
            run = []
        elif position != -1 or match.target_start == 0:
            run.append(match)
        position = match.target_start + match.length if match.length >= _SHORTEST or run else -1
    return kept[:-1]


def _find_whole(source: str, target: str) -> Match | None:
    if len(target) <= len(source):
        found = source.find(target)
        return None if found == -1 else Match(found, 0, len(target))
    found = target.find(source) if len(source) >= _SHORTEST else -1
    return None if found == -1 else Match(0, found, len(source))


def _block_matches(source: str, target: str, size: int) -> list[Match]:
    """Return common stretches found by blocks of `source`, greedily from left to right."""
    places: dict[str, list[int]] = {}
    for start in range(0, len(source) - size + 1, size):
        places.setdefault(source[start : start + size], []).append(start)
    matches: list[Match] = []
    source_start = target_start = position = 0
    while position + size <= len(target):
        found = _place(places, target[position : position + size], source_start)
        if found is None:
            position += 1
            continue
        back = _common_suffix_length(source[source_start:found][-size:], target[target_start:position][-size:])
        begin = found - back
        length = back + size + common_prefix_length(source, target, found + size, position + size)
        matches.append(Match(begin, position - back, length))
        position = target_start = position - back + length
        source_start = begin + length
    return matches


def _place(places: dict[str, list[int]], block: str, at_least: int) -> int | None:
    starts = places.get(block)
    if starts is None or len(starts) > _MAX_REPEATS:
        return None
    index = bisect_left(starts, at_least)
    return starts[index] if index < len(starts) else None


def _add_gaps(matches: Sequence[Match], source_length: int, target_length: int) -> Iterator[tuple[Span, Span, Match]]:
    """Yield each match with the stretches of both texts before it; last an empty match at their ends."""
    source, target = 0, 0
    for match in (*matches, Match(source_length, target_length, 0)):
        yield Span(source, match.source_start), Span(target, match.target_start), match
        source, target = match.source_start + match.length, match.target_start + match.length


def _common_suffix_length(left: str, right: str) -> int:
    def agrees(begin: int, end: int) -> bool:
        return left[len(left) - end : len(left) - begin] == right[len(right) - end : len(right) - begin]

    return _agreed_length(min(len(left), len(right)), agrees)
