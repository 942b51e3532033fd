"""Two renders -> the tokens that one has and the other has not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Annotated, TypeAlias

from pydantic import Field, PlainSerializer, SerializerFunctionWrapHandler, WrapSerializer, computed_field

from prompt_debugger.core.base.text import clipped, excerpt
from prompt_debugger.core.base.types import PromptSpan, Span, Token
from prompt_debugger.core.tools.experiments.variant import Rendered, Unit

_WORK = 8_000_000  # pairs of equal units beyond which the middle is not aligned
_AROUND = 60  # characters shown after the first difference
_NEXT_TO = 4  # tokens kept of either side of a stretch
_KEPT = 60  # tokens kept of one stretch
_HUNKS = 50  # stretches that a document lists
_TEXT = 2_000  # characters of a stretch that a document shows
_NotWritten: TypeAlias = Annotated[tuple[Token, ...], Field(exclude=True)]


def _cut(text: str) -> str:
    return clipped(text, _TEXT)


def _first(hunks: tuple[Hunk, ...], write: SerializerFunctionWrapHandler) -> object:
    return write(hunks[:_HUNKS])


@dataclass(frozen=True, slots=True)
class Hunk:
    """One stretch that differs; either side may be empty.

    Attributes:
        before_span: Units of the first render.
        after_span: Units of the second.
        before: Their text; a document cuts it if it is long.
        after: Their text, likewise.
        before_tokens: Their first tokens, for showing; empty for words.
        after_tokens: Likewise.
        lead: The last tokens in front of the stretch, equal in both renders.
        tail: The first tokens after it, equal in both.
    """

    before_span: Span
    after_span: Span
    before: Annotated[str, PlainSerializer(_cut)]
    after: Annotated[str, PlainSerializer(_cut)]
    before_tokens: _NotWritten = ()
    after_tokens: _NotWritten = ()
    lead: _NotWritten = ()
    tail: _NotWritten = ()


@dataclass(frozen=True, slots=True)
class Place:
    """What is at the first difference on one side.

    Attributes:
        char: Character of the text, from 0.
        text: The text around it.
        field: Request field that it shows, if any.
        template_line: Line of the template that wrote it, from 1, where known.
        lead: The last tokens in front of it; empty for words.
        tokens: The first tokens from there on; likewise.
    """

    char: int
    text: str
    field: str | None = None
    template_line: int | None = None
    lead: _NotWritten = ()
    tokens: _NotWritten = ()


@dataclass(frozen=True, slots=True)
class TokenDifference:
    """What has to be taken out of one render and put in to get another.

    Attributes:
        unit: What is counted.
        first: Index of the first unit that differs, from 0 (or of the end of the shorter one).
        removed: Units of the first render that the second lacks.
        added: Units of the second render that the first lacks.
        hunks: The stretches, in order; with them the second is made of the first. A document lists the first ones.
        before: The first difference in the first render.
        after: The first difference in the second.
        is_aligned: False if the two are too long and too unlike to be aligned between
            their common beginning and end: that middle is then one hunk.
    """

    unit: Unit
    first: int
    removed: int
    added: int
    hunks: Annotated[tuple[Hunk, ...], WrapSerializer(_first)]
    before: Place
    after: Place
    is_aligned: bool = True

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def hunk_count(self) -> int:
        """How many stretches there are."""
        return len(self.hunks)


def diff_renders(
    before: Rendered,
    after: Rendered,
    keys: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
) -> TokenDifference | None:
    """Return the difference of two renders, by their own keys or `keys`, one per unit; `None` if all are equal."""
    old, new = keys or (before.keys, after.keys)
    front = common_length(old, new)
    if front == len(old) == len(new):
        return None
    limit = min(len(old), len(new)) - front
    back = common_length(old[::-1][:limit], new[::-1][:limit])
    middle = old[front : len(old) - back], new[front : len(new) - back]
    is_aligned = _work(*middle) <= _WORK
    changes = _changes(*middle) if is_aligned else [(0, len(middle[0]), 0, len(middle[1]))]
    hunks = tuple(
        _hunk(before, after, Span(front + a, front + b), Span(front + c, front + d)) for a, b, c, d in changes
    )
    return TokenDifference(
        unit=before.unit,
        first=front,
        removed=sum(hunk.before_span.stop - hunk.before_span.start for hunk in hunks),
        added=sum(hunk.after_span.stop - hunk.after_span.start for hunk in hunks),
        hunks=hunks,
        before=place_at(before, front),
        after=place_at(after, front),
        is_aligned=is_aligned,
    )


def common_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return how many leading items two sequences share."""
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))


def place_at(rendered: Rendered, index: int) -> Place:
    """Return what is at one unit of a render, or after its last."""
    spans = rendered.char_spans
    char = spans[index].start if index < len(spans) else len(rendered.text)
    origin = _origin_at(rendered.origins, char)
    return Place(
        char,
        excerpt(rendered.text, char, min(len(rendered.text), char + _AROUND)),
        None if origin is None else origin.field,
        None if origin is None else origin.template_line,
        lead=tuple(rendered.tokens[max(0, index - _NEXT_TO) : index]),
        tokens=tuple(rendered.tokens[index : index + 2 * _NEXT_TO]),
    )


def _origin_at(origins: Sequence[PromptSpan], char: int) -> PromptSpan | None:
    return next((span for span in origins if span.char_span.start <= char < span.char_span.stop), None)


def _work(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """Return how many pairs of equal units there are: what one round of matching looks at."""
    counts = Counter(new)
    return sum(count * counts[key] for key, count in Counter(old).items())


def _changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int, int, int]]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a, b, c, d


def _hunk(before: Rendered, after: Rendered, old: Span, new: Span) -> Hunk:
    return Hunk(
        old,
        new,
        _text(before, old),
        _text(after, new),
        before_tokens=tuple(before.tokens[old.start : min(old.stop, old.start + _KEPT)]),
        after_tokens=tuple(after.tokens[new.start : min(new.stop, new.start + _KEPT)]),
        lead=tuple(before.tokens[max(0, old.start - _NEXT_TO) : old.start]),
        tail=tuple(before.tokens[old.stop : old.stop + _NEXT_TO]),
    )


def _text(rendered: Rendered, span: Span) -> str:
    if span.start == span.stop:
        return ""
    return rendered.text[rendered.char_spans[span.start].start : rendered.char_spans[span.stop - 1].stop]
