"""The same output in many chunkings: does streaming agree with the whole parse, and where does it part?"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from core.parse.engines.vllm_worker.differences import first_missing, is_on_the_way, shorten, tell_difference
from core.parse.engines.vllm_worker.pieces import Piece
from core.parse.engines.vllm_worker.runs import Message

_STEPS = (2, 3, 5)
_RANDOM_SPLITS = 3
_SHRINKING_TRIALS = 60
_MAX_SPLIT_CHARS = 200_000

Ends = tuple[int, ...]
Watch = Callable[[int, Message], None]


class Stream(Protocol):
    """Parses the output in deltas that end after so many pieces each."""

    def __call__(self, ends: Ends, watch: Watch | None = None) -> Message:
        """Return the message; `watch` gets the number of each delta, from 0, and the message so far."""
        ...


@dataclass(frozen=True)
class Comparison:
    """What streaming made of an output.

    Attributes:
        equal: Whether every chunking gave what the whole parse gave.
        tried: How many chunkings were tried.
        first_unequal: The smallest one that differs, in plain words.
        usual_equal: Whether streaming token by token, the usual way, gave the same.
        smallest_split: The texts of its deltas; none if there is none, or the output is very long.
        parts_at: The delta of it, from 0, at which the streamed message leaves the whole one.
        usual_unequal: The same as `first_unequal` for streaming token by token, if that differs, too.
    """

    equal: bool
    usual_equal: bool
    tried: int
    first_unequal: str | None
    smallest_split: tuple[str, ...] = ()
    parts_at: int | None = None
    usual_unequal: str | None = None


class _Split(NamedTuple):
    """A failing chunking: how to tell people, its deltas, and the one at which the messages part."""

    told: str
    deltas: tuple[str, ...]
    parts_at: int


def compare(whole: Message, pieces: Sequence[Piece], stream: Stream, *, seed: int, budget_s: float) -> Comparison:
    """Stream an output in the interesting chunkings and compare each result with the whole parse.

    Args:
        whole: What the parse of the whole gave.
        pieces: The output, one piece per token.
        stream: Parses the output in deltas that end after the given pieces; tells a watcher what has come so far.
        seed: Of the random chunkings.
        budget_s: No new chunking is begun after so many seconds.
    """
    deadline = time.monotonic() + budget_s
    failing: list[Ends] = []
    tried = 0
    for ends in _chunkings(pieces, seed):
        if tried and time.monotonic() > deadline:
            break
        tried += 1
        if _difference(whole, stream, ends) is not None:
            failing.append(ends)
    if not failing:
        return Comparison(equal=True, usual_equal=True, tried=tried, first_unequal=None)
    smallest = _shrink(min(failing, key=len), lambda ends: _difference(whole, stream, ends) is not None, deadline)
    usual = tuple(range(1, len(pieces) + 1))
    split = _explain(whole, pieces, stream, smallest)
    told = _explain(whole, pieces, stream, usual).told if usual in failing and usual != smallest else None
    return Comparison(
        equal=False,
        usual_equal=usual not in failing,
        tried=tried,
        first_unequal=split.told,
        smallest_split=split.deltas if sum(map(len, split.deltas)) <= _MAX_SPLIT_CHARS else (),
        parts_at=split.parts_at,
        usual_unequal=told,
    )


def _chunkings(pieces: Sequence[Piece], seed: int) -> Iterator[Ends]:
    """Yield distinct chunkings, the usual one first: per token, whole, at markers, k at a time, random."""
    count = len(pieces)
    if count == 0:
        return
    chance = random.Random(seed)
    markers = [index for index, piece in enumerate(pieces) if piece.is_marker]
    found = [range(1, count + 1), (), sorted({place for index in markers for place in (index, index + 1)})]
    found += [range(step, count, step) for step in _STEPS]
    found += [
        sorted(chance.sample(range(1, count), chance.randrange(count))) for _ in range(_RANDOM_SPLITS) if count > 1
    ]
    seen = set()
    for cuts in found:
        ends = (*(cut for cut in cuts if 0 < cut < count), count)
        if ends not in seen:
            seen.add(ends)
            yield ends


def _shrink(ends: Ends, fails: Callable[[Ends], bool], deadline: float) -> Ends:
    """Join neighbouring deltas for as long as the chunking still fails, halves of the cuts first."""
    trials, width = 0, max((len(ends) - 1) // 2, 1)
    while len(ends) > 1 and width >= 1:
        start = 0
        while start < len(ends) - 1:
            shorter = (*ends[:start], *ends[min(start + width, len(ends) - 1) :])
            trials += 1
            if trials > _SHRINKING_TRIALS or time.monotonic() > deadline:
                return ends
            if fails(shorter):
                ends = shorter
            else:
                start += width
        width //= 2
    return ends


def _explain(whole: Message, pieces: Sequence[Piece], stream: Stream, ends: Ends) -> _Split:
    """Stream a failing chunking once more, and watch where it leaves the whole message."""
    starts = (0, *ends)
    deltas = tuple("".join(p.text for p in pieces[start:end]) for start, end in zip(starts, ends, strict=False))
    left: list[int] = []
    reached = -1

    def watch(index: int, so_far: Message) -> None:
        nonlocal reached
        reached = index
        if not left and not is_on_the_way(so_far, whole):
            left.append(index)

    try:
        streamed = stream(ends, watch)
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; that is what is being found out
        difference, parts_at = _tell_error(error), min(reached + 1, len(deltas) - 1)
    else:
        difference = tell_difference(whole, streamed) or "this time the same; the parser is not deterministic"
        parts_at = left[0] if left else first_missing(whole, streamed, deltas)
    told = f"{_tell_split(ends, pieces)}: {difference}"
    if len(deltas) > 1:
        told += f"; they part at delta {parts_at + 1} of {len(deltas)}, {shorten(deltas[parts_at], 40)}"
    return _Split(told, deltas, parts_at)


def _difference(whole: Message, stream: Stream, ends: Ends) -> str | None:
    try:
        streamed = stream(ends)
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; that is what is being found out
        return _tell_error(error)
    return tell_difference(whole, streamed)


def _tell_error(error: Exception) -> str:
    return f"streaming raised {type(error).__name__}: {str(error)[:120]}"


def _tell_split(ends: Ends, pieces: Sequence[Piece]) -> str:
    if len(ends) == 1:
        return "fed as one delta"
    if len(ends) == len(pieces):
        return f"fed token by token ({len(pieces)} deltas)"
    cuts = [f"token {end} {shorten(pieces[end - 1].shown, 30)}" for end in ends[:3]]
    return f"fed in {len(ends)} deltas, cut after {', '.join(cuts[: len(ends) - 1])}{', …' if len(ends) > 4 else ''}"
