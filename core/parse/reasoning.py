"""Split raw output into reasoning and body.

    <think>REASONING</think>BODY          written in full
    REASONING</think>BODY                 the prompt, or nothing, wrote the opener
    <think>REASONING                      never closed
    BODY … <think>REASONING</think> BODY  once more, later

Tags that are quoted or inside the arguments of a call are text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.parse.scan import Finder, is_quoted_inline, skip_space
from prompt_debugger.core.parse.signs import is_control, is_sign

# How templates without control tokens open the model's turn.
_PLAIN_HEADER = re.compile(r"\bassistant:\s*\Z", re.IGNORECASE)
PartKind = Literal["reasoning", "body", "tag"]


@value(frozen=True, slots=True)
class ReasoningTags:
    """How a family marks reasoning, and which line breaks around it are framing.

    Attributes:
        openers: Texts that open a block; the first one is the usual one.
        closers: Texts that close one.
        after_open: Line breaks after the opener that belong to the tag, at most.
        before_close: Line breaks before the closer that belong to the tag, at most.
        after_close: Line breaks after the closer that belong to the tag, at most.
        label: Word of the opener that is left where the opener's own marker is missing.
        starts_open: True if the family reasons without ever writing an opener.
        answers: Texts that open the answer: they end a block that is open, and belong to no text.
    """

    openers: tuple[str, ...] = ("<think>",)
    closers: tuple[str, ...] = ("</think>",)
    after_open: int = 0
    before_close: int = 0
    after_close: int = 0
    label: str = ""
    starts_open: bool = False
    answers: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each opener with its closer, in order; the last closer also goes with openers that have none of their own."""
        last = len(self.closers) - 1
        return tuple((opener, self.closers[min(index, last)]) for index, opener in enumerate(self.openers))


@value(frozen=True, slots=True)
class Part:
    """A stretch of raw output: reasoning, body, or a tag with its framing line breaks."""

    span: Span
    kind: PartKind


@value(frozen=True, slots=True)
class Split:
    """The parts of a raw output.

    Attributes:
        parts: Tile the stretch that was split, in order; empty ones only for reasoning.
        has_block: Whether there is a reasoning block at all, even if it is empty.
        is_open_at_end: Whether the last part is reasoning that was never closed.
    """

    parts: tuple[Part, ...]
    has_block: bool
    is_open_at_end: bool


def reasoning_is_open(prompt_tail: str, tags: ReasoningTags, turns: Iterable[str] = ()) -> bool | None:
    """Return whether the end of a prompt leaves reasoning open; `None` if it shows no tag.

    Args:
        prompt_tail: End of the prompt.
        tags: The family's tags.
        turns: Texts that open or end a turn: a tag in front of one is in an earlier turn.
    """
    if not prompt_tail:
        return None
    opener = max((prompt_tail.rfind(tag) + len(tag) if tag in prompt_tail else -1 for tag in tags.openers), default=-1)
    closer = max((prompt_tail.rfind(tag) + len(tag) if tag in prompt_tail else -1 for tag in tags.closers), default=-1)
    if max(opener, closer) == -1:
        return None
    behind = prompt_tail[max(opener, closer) :]
    is_earlier = any(text in behind for text in ("<|", *turns)) or _PLAIN_HEADER.search(behind)
    if opener > closer and not is_earlier:
        return True
    return False if closer >= opener and not behind.strip() else None


def split_reasoning(
    raw: str,
    bounds: Span,
    tags: ReasoningTags,
    is_open: bool | None,  # noqa: FBT001  # what `reasoning_is_open` says
    protected: Sequence[Span] = (),
) -> Split:
    """Split `raw[bounds]` into reasoning and body.

    Args:
        raw: The whole raw output.
        bounds: The stretch to split.
        tags: The family's tags.
        is_open: Whether the prompt leaves reasoning open; `None` if nothing says so.
        protected: Spans in which tags are text, such as call arguments; in order.

    Returns:
        The parts; they tile `bounds`.
    """
    return _Splitter(raw, bounds, tags, protected).split(open_at_start=is_open)


class _Splitter:
    def __init__(self, raw: str, bounds: Span, tags: ReasoningTags, protected: Sequence[Span]) -> None:
        self._raw = raw
        self._bounds = bounds
        self._tags = tags
        self._finder = Finder(raw, bounds.stop)
        self._protected = tuple(protected)
        self._protected_starts = [span.start for span in protected]
        self._parts: list[Part] = []
        self._has_block = False
        self._is_open = False

    def split(self, *, open_at_start: bool | None) -> Split:
        position = self._first_block(open_at_start=open_at_start)
        while (opener := self._next_opener(position)) is not None:
            self._add(position, opener.start, "body")
            position = self._block(opener.start, opener.stop)
        self._add(position, self._bounds.stop, "body")
        return Split(tuple(self._parts), self._has_block, self._is_open)

    def _first_block(self, *, open_at_start: bool | None) -> int:
        start = self._bounds.start
        begin = skip_space(self._raw, start, self._bounds.stop)
        for tag in sorted(self._tags.openers, key=len, reverse=True):
            if self._raw.startswith(tag, begin, self._bounds.stop) and not self._opens_answer(begin):
                return self._block(start, begin + len(tag))
        if open_at_start or (open_at_start is None and self._tags.starts_open):
            return self._block(start, start)
        # Nothing says that a block is open: a closer in the middle of a sentence is talk about closers.
        closer = self._next_closer(start, in_sentence=open_at_start is None)
        opener = self._finder.first(self._tags.openers, start)
        if closer is None or (opener is not None and opener.start < closer.start):
            return start
        if closer.start == begin:
            after = self._skip_closer(closer)
            self._add(start, after, "tag")
            return after
        has_label = self._tags.label and self._raw.startswith(self._tags.label, begin, closer.start)
        inner = begin + len(self._tags.label) if has_label else start
        return self._block(start, inner, in_sentence=True)

    def _block(self, tag_start: int, inner_start: int, *, in_sentence: bool = False) -> int:
        """Add one block and return where it ends."""
        self._has_block = True
        raw, stop = self._raw, self._bounds.stop
        while (again := self._opener_at(inner_start)) is not None:
            inner_start = again.stop
        closer = self._next_closer(inner_start, in_sentence=in_sentence)
        inner_stop = stop if closer is None else closer.start
        inner_start = _skip_breaks(raw, inner_start, inner_stop, self._tags.after_open)
        if closer is not None:
            inner_stop = _drop_breaks(raw, inner_start, inner_stop, self._tags.before_close)
        self._add(tag_start, inner_start, "tag")
        self._add(inner_start, inner_stop, "reasoning")
        if closer is None:
            self._is_open = True
            return stop
        after = self._skip_closer(closer)
        self._add(inner_stop, after, "tag")
        return after

    def _opener_at(self, position: int) -> Span | None:
        """Return the opener at `position`, if there is one: models write it twice."""
        hit = self._finder.first(self._tags.openers, position)
        return None if hit is None or hit.start != position else Span(hit.start, hit.stop)

    def _skip_closer(self, closer: Span) -> int:
        """Return where the text after a closer begins: after any further closers, as models write them twice."""
        position, again = closer.stop, closer.start
        while self._opens_answer(again := skip_space(self._raw, position, self._bounds.stop)) or any(
            self._raw.startswith(tag, again, self._bounds.stop) for tag in self._tags.closers
        ):
            tags = (*self._tags.answers, *self._tags.closers)
            position = again + max(len(tag) for tag in tags if self._raw.startswith(tag, again, self._bounds.stop))
        return _skip_breaks(self._raw, position, self._bounds.stop, self._tags.after_close)

    def _opens_answer(self, position: int) -> bool:
        return bool(self._tags.answers) and self._raw.startswith(self._tags.answers, position, self._bounds.stop)

    def _next_closer(self, start: int, *, in_sentence: bool = False) -> Span | None:
        """Return the next closer that is not text; `None` if all are quoted."""
        position = start
        while (hit := self._finder.first((*self._tags.answers, *self._tags.closers), position)) is not None:
            span = Span(hit.start, hit.stop)
            is_talk = is_quoted_inline(self._raw, span, self._bounds.stop, in_sentence=in_sentence)
            if not self._is_protected(span) and not is_talk:
                return span
            position = hit.stop
        return None

    def _next_opener(self, start: int) -> Span | None:
        """Return the next opener that begins a later block: at the start of a line or after other markup."""
        position = start
        while (hit := self._finder.first(self._tags.openers, position)) is not None:
            before = self._raw[max(self._bounds.start, hit.start - 1) : hit.start]
            span = Span(hit.start, hit.stop)
            is_glued = before.isalnum() or before in ".!?:*)" or is_sign(before)
            closes = is_glued and self._finder.first(self._tags.closers, hit.stop) is not None
            is_token = (is_control(hit.marker) or hit.marker[0] == "[") and not is_quoted_inline(
                self._raw, span, self._bounds.stop
            )
            if (is_token or closes or before in ("", "\n", ">", "]")) and not self._is_protected(span):
                return span
            position = hit.stop
        return None

    def _is_protected(self, span: Span) -> bool:
        index = bisect_right(self._protected_starts, span.start) - 1
        return index >= 0 and span.start < self._protected[index].stop

    def _add(self, start: int, stop: int, kind: PartKind) -> None:
        if start < stop or kind == "reasoning":
            self._parts.append(Part(Span(start, max(start, stop)), kind))


def _skip_breaks(text: str, start: int, stop: int, at_most: int) -> int:
    while at_most and start < stop and text[start] == "\n":
        start, at_most = start + 1, at_most - 1
    return start


def _drop_breaks(text: str, start: int, stop: int, at_most: int) -> int:
    while at_most and stop > start and text[stop - 1] == "\n":
        stop, at_most = stop - 1, at_most - 1
    return stop
