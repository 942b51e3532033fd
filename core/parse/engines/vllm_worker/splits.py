"""The same output in many chunkings: does streaming agree with the whole parse, and where does it part?"""

from __future__ import annotations

import contextlib
import random
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from prompt_debugger.core.parse.engines.vllm_worker.message import GrowingMessage, Message, Place, trimmed, written_like
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece

_STEPS = (2, 3, 5)
_RANDOM_SPLITS = 3
_THOROUGH_STEPS = (2, 3, 4, 5, 6, 7, 8, 16)
_THOROUGH_RANDOM_SPLITS = 8
_SINGLE_CUTS = 48
_SHRINKING_TRIALS = 60
_MAX_SPLIT_CHARS = 200_000

Ends = tuple[int, ...]
Watch = Callable[[int, GrowingMessage], None]


class Stream(Protocol):
    """Parses the output in deltas that end after so many pieces each."""

    def __call__(self, ends: Ends, watch: Watch | None = None) -> Message:
        """Return the message; `watch` gets the number of each delta, from 0, and the message so far."""
        ...


@dataclass(frozen=True)
class TrimmedStream:
    """A stream whose messages have no whitespace around their texts, and the same arguments in the same writing.

    Attributes:
        stream: What it is made of.
        whole: The message that they are compared with.
    """

    stream: Stream
    whole: Message

    def __call__(self, ends: Ends, watch: Watch | None = None) -> Message:
        """Return the message; `watch` as for any stream."""
        return written_like(trimmed(self.stream(ends, watch)), self.whole)


class Chunking(NamedTuple):
    """A way to cut an output, as it is shown to people, and the pieces after which its deltas end."""

    name: str
    ends: Ends


class Trial(NamedTuple):
    """One chunking that was tried: its name, how many deltas it has, in what its message differs, if it does."""

    name: str
    deltas: int
    difference: str | None


class Divergence(NamedTuple):
    """The streamed message before and after the delta at which it leaves the whole one, and at the end.

    `None` where there is none: before the first delta, or because streaming raised.
    """

    before: Message | None
    after: Message | None
    streamed: Message | None


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
        trials: Every chunking that was tried.
        parting: The messages around `parts_at`.
    """

    equal: bool
    usual_equal: bool
    tried: int
    first_unequal: str | None
    smallest_split: tuple[str, ...] = ()
    parts_at: int | None = None
    usual_unequal: str | None = None
    trials: tuple[Trial, ...] = ()
    parting: Divergence | None = None


class _Split(NamedTuple):
    """A failing chunking: how to tell people, its deltas, and the one at which the messages part."""

    reported: str
    deltas: tuple[str, ...]
    parts_at: int


def compare(
    whole: Message, pieces: Sequence[Piece], stream: Stream, *, seed: int, budget_s: float, thorough: bool = False
) -> Comparison:
    """Stream an output in the interesting chunkings and compare each result with the whole parse.

    Args:
        whole: What the parse of the whole gave.
        pieces: The output, one piece per token.
        stream: Parses the output in deltas that end after the given pieces; tells a watcher what has come so far.
        seed: Of the random chunkings.
        budget_s: No new chunking is begun after this many seconds.
        thorough: Whether to try many more chunkings, and to keep the messages around the delta at which they diverge.
    """
    deadline = time.monotonic() + budget_s
    output = _text_of(pieces)
    failing: list[Ends] = []
    trials: list[Trial] = []
    for name, ends in _chunkings(pieces, seed, thorough=thorough):
        if trials and time.monotonic() > deadline:
            break
        difference = _difference(whole, stream, ends, output)
        trials.append(Trial(name, len(ends), difference))
        if difference is not None:
            failing.append(ends)
    if not failing:
        return Comparison(True, True, len(trials), None, trials=tuple(trials))  # noqa: FBT003 - both are equal
    smallest = _shrink(
        min(failing, key=len), lambda ends: _difference(whole, stream, ends, output) is not None, deadline
    )
    usual = tuple(range(1, len(pieces) + 1))
    split = _explain(whole, pieces, stream, smallest)
    reported = _explain(whole, pieces, stream, usual).reported if usual in failing and usual != smallest else None
    return Comparison(
        equal=False,
        usual_equal=usual not in failing,
        tried=len(trials),
        first_unequal=split.reported,
        smallest_split=split.deltas if sum(map(len, split.deltas)) <= _MAX_SPLIT_CHARS else (),
        parts_at=split.parts_at,
        usual_unequal=reported,
        trials=tuple(trials),
        parting=_watch_divergence(stream, smallest, split.parts_at) if thorough else None,
    )


def _chunkings(pieces: Sequence[Piece], seed: int, *, thorough: bool) -> Iterator[Chunking]:
    """Yield distinct chunkings, the usual one first: per token, whole, at markers, k at a time, random, one cut."""
    count = len(pieces)
    if count == 0:
        return
    seen = set()
    for name, cuts in _cuts(pieces, seed, thorough=thorough):
        ends = (*(cut for cut in cuts if 0 < cut < count), count)
        if ends not in seen:
            seen.add(ends)
            yield Chunking(name, ends)


def _cuts(pieces: Sequence[Piece], seed: int, *, thorough: bool) -> Iterator[tuple[str, Iterable[int]]]:
    count = len(pieces)
    yield "token by token", range(1, count + 1)
    yield "as one delta", ()
    markers = [index for index, piece in enumerate(pieces) if piece.is_marker]
    yield "at special tokens", sorted({place for index in markers for place in (index, index + 1)})
    for step in _THOROUGH_STEPS if thorough else _STEPS:
        yield f"{step} tokens at a time", range(step, count, step)
    chance = random.Random(seed)
    for number in range(_THOROUGH_RANDOM_SPLITS if thorough else _RANDOM_SPLITS) if count > 1 else ():
        yield f"random {number + 1}, seed {seed}", sorted(chance.sample(range(1, count), chance.randrange(count)))
    if thorough:
        for cut in range(1, count, max(1, count // _SINGLE_CUTS)):
            yield f"one cut, after token {cut} {shorten(pieces[cut - 1].shown, 30)}", (cut,)


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
    deltas = tuple(_text_of(pieces[start:end]) for start, end in zip(starts, ends, strict=False))
    left: list[int] = []
    reached = -1

    follower = Follower(whole)

    def watch(index: int, so_far: GrowingMessage) -> None:
        nonlocal reached
        reached = index
        if not left and not follower.is_on_the_way(so_far):
            left.append(index)

    try:
        streamed = stream(ends, watch)
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; that is what is being found out
        difference, parts_at = _describe_error(error), min(reached + 1, len(deltas) - 1)
    else:
        difference = (
            describe_difference(whole, streamed, "".join(deltas))
            or "identical this time; the parser is not deterministic"
        )
        parts_at = left[0] if left else first_missing(whole, streamed, deltas)
    reported = f"{_describe_split(ends, pieces)}: {difference}"
    if len(deltas) > 1:
        reported += f"; they diverge at delta {parts_at + 1} of {len(deltas)}, {shorten(deltas[parts_at], 40)}"
    return _Split(reported, deltas, parts_at)


def _watch_divergence(stream: Stream, ends: Ends, parts_at: int) -> Divergence:
    """Stream a failing chunking again and keep the message before and after one of its deltas."""
    kept: dict[int, Message] = {}

    def watch(index: int, so_far: GrowingMessage) -> None:
        if index in (parts_at - 1, parts_at):
            kept[index] = so_far.message()

    streamed: Message | None = None
    with contextlib.suppress(Exception):  # it may raise; then there is no message at the end
        streamed = stream(ends, watch)
    return Divergence(kept.get(parts_at - 1), kept.get(parts_at), streamed)


def _difference(whole: Message, stream: Stream, ends: Ends, output: str) -> str | None:
    try:
        streamed = stream(ends)
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; that is what is being found out
        return _describe_error(error)
    return describe_difference(whole, streamed, output)


def _text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _describe_error(error: Exception) -> str:
    return f"streaming raised {type(error).__name__}: {str(error)[:120]}"


def _describe_split(ends: Ends, pieces: Sequence[Piece]) -> str:
    if len(ends) == 1:
        return "fed as one delta"
    if len(ends) == len(pieces):
        return f"fed token by token ({len(pieces)} deltas)"
    cuts = [f"token {end} {shorten(pieces[end - 1].shown, 30)}" for end in ends[:3]]
    return f"fed in {len(ends)} deltas, cut after {', '.join(cuts[: len(ends) - 1])}{', …' if len(ends) > 4 else ''}"


def describe_difference(whole: Message, streamed: Message, output: str) -> str | None:
    """Say in which field two messages differ, `None` if they say the same; absent and empty text are the same.

    Args:
        whole: What the parse of the whole gave.
        streamed: What streaming gave.
        output: The text that both were made of. A tool call id counts only where one of the two was taken from it:
            all other ids are drawn at random or made up by the parser, anew for every parse.
    """
    for name in ("reasoning", "content"):
        want, got = getattr(whole, name) or "", getattr(streamed, name) or ""
        if want != got:
            return _describe_field(name, want, got)
    if len(whole.calls) != len(streamed.calls):
        return f"{_count(len(streamed.calls))} but parsing the whole output gives {_count(len(whole.calls))}"
    for index, (want_call, got_call) in enumerate(zip(whole.calls, streamed.calls, strict=True)):
        for name in ("name", "arguments", "id"):
            want, got = want_call[name] or "", got_call[name] or ""
            if want != got and (name != "id" or _is_taken(want, output) or _is_taken(got, output)):
                return _describe_field(f"tool_calls[{index}] {name}", want, got)
    return None


def _is_taken(call_id: str, output: str) -> bool:
    return bool(call_id) and call_id in output


def _describe_field(name: str, want: str, got: str) -> str:
    return f"{name} is {shorten(got)} but parsing the whole output gives {shorten(want)}"


class Follower:
    """Follows a streamed message and says when it can no longer become the whole one; looks at each part once."""

    def __init__(self, whole: Message) -> None:
        """Begin where nothing has been streamed."""
        self._whole = whole
        self._indexes: list[int] = []  # of the calls
        self._last: tuple[int, int] | None = None  # of the calls that were there when last asked: its place, its index
        self._reached: dict[Place, int] = {}  # characters of each text that are as in the whole

    def is_on_the_way(self, streamed: GrowingMessage) -> bool:
        """Return whether the streamed message can still become the whole one; asked again and again till it cannot."""
        self._indexes, updates = streamed.call_indexes, iter(streamed.take_updates())
        if len(self._indexes) > len(self._whole.calls):
            return False
        if self._last is not None and self._indexes[self._last[0]] != self._last[1]:
            self._reached, updates = {}, streamed.parts()  # a call came before others, which have moved
        if self._indexes:
            self._last = len(self._indexes) - 1, self._indexes[-1]
        return all(self._fits(place, part) for place, part in updates)

    def _fits(self, place: Place, part: str) -> bool:
        index, name = place
        if index is None:
            text: str = getattr(self._whole, name) or ""
        else:
            text = self._whole.calls[bisect_left(self._indexes, index)][name] or ""
        begin = self._reached.get(place, 0)
        self._reached[place] = begin + len(part)
        return text.startswith(part, begin)


def first_missing(whole: Message, streamed: Message, deltas: Sequence[str]) -> int:
    """Return the delta, from 0, that held the first text which the streamed message lacks; else the last one."""
    text, end = "".join(deltas), 0
    place = min(_places_of_missing(whole, streamed, text), default=len(text))
    for index, delta in enumerate(deltas):
        end += len(delta)
        if place < end:
            return index
    return len(deltas) - 1


def _places_of_missing(whole: Message, streamed: Message, text: str) -> list[int]:
    """Return where in the output those texts begin that streaming did not bring, as far as they are found there."""
    pairs = [(getattr(whole, name) or "", getattr(streamed, name) or "") for name in ("reasoning", "content")]
    for index, want in enumerate(whole.calls):
        name, arguments = want["name"] or "", want["arguments"] or ""
        if index < len(streamed.calls):
            got = streamed.calls[index]
            pairs += [(name, got["name"] or ""), (arguments, got["arguments"] or "")]
        else:  # a name is short and may occur anywhere
            pairs.append((arguments if arguments in text else name, ""))
    cut_short = [(want, got) for want, got in pairs if want != got and want.startswith(got) and want in text]
    return [text.find(want) + len(got) for want, got in cut_short]


def _count(calls: int) -> str:
    return f"{calls} tool call{'' if calls == 1 else 's'}"


def shorten(text: str, limit: int = 80) -> str:
    """Return a text as people are shown it, its middle cut out if it is long."""
    shown = repr(text)
    return shown if len(shown) <= limit else shown[: limit // 2] + "…" + shown[-(limit // 2) :]
