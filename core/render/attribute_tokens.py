"""Spans -> tokens: which field and which template line a token came from, and whether it was forged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.room.frames import uncollected
from prompt_debugger.core.types import PromptSpan, Span, SpanKind, Token, TokenKind

_FROM_REQUEST = frozenset({SpanKind.REQUEST, SpanKind.ESCAPED, SpanKind.SCALAR, SpanKind.STRUCTURE})
_MARKER = re.compile(r"[<\[|].*[>\]|]", re.DOTALL)


class Origin(NamedTuple):
    """Where the characters of a token came from.

    Attributes:
        field: Request field of the first of them that has one.
        line: Template line of the first of them, from 1.
        is_request: Whether request data wrote any of them.
    """

    field: str | None = None
    line: int | None = None
    is_request: bool = False


_NOWHERE = Origin()


def attribute_tokens(tokens: Sequence[Token], spans: Sequence[PromptSpan]) -> tuple[Token, ...]:
    """Return the tokens with the origin of their characters.

    Args:
        tokens: Tile a text.
        spans: Tile the same text.
    """
    with uncollected():
        origins = origins_of([token.char_span for token in tokens], spans)
        return tuple([_attributed(token, origin) for token, origin in zip(tokens, origins, strict=True)])


def origins_of(char_spans: Iterable[Span], spans: Sequence[PromptSpan]) -> Iterator[Origin]:
    """Yield the origin of every token, by the spans that it shares characters with.

    Args:
        char_spans: Where the tokens stand, in their order.
        spans: Tile the same text.
    """
    starts = [span.char_span.start for span in spans]
    stops = [span.char_span.stop for span in spans]
    whole: dict[int, Origin] = {}  # of tokens inside one span: nearly all
    first, count = 0, len(spans)
    for start, stop in char_spans:
        while first < count and stops[first] <= start:
            first += 1
        stop = max(stop, start + 1)
        if first + 1 < count and starts[first + 1] >= stop > starts[first]:
            origin = whole.get(first)
            if origin is None:
                origin = whole[first] = _origin([spans[first]])
            yield origin
            continue
        behind = first
        while behind < count and starts[behind] < stop:
            behind += 1
        yield _origin(spans[first:behind])


def _origin(covered: Sequence[PromptSpan]) -> Origin:
    if not covered:
        return _NOWHERE
    field, is_request = None, False
    for span in covered:
        if span.kind in _FROM_REQUEST:
            is_request = True
            if span.field is not None:
                field = span.field
                break
    return Origin(field, covered[0].template_line, is_request)


def _attributed(token: Token, origin: Origin) -> Token:
    """Return a token with the origin of its characters."""
    field, line, is_request = origin
    is_forged = is_request and token.kind is not TokenKind.TEXT and is_control(token.kind, token.text)
    if field is None and line is None and not is_forged:
        return token
    # Written out, as `dataclasses.replace` takes twice the time, and a prompt may have 160,000 tokens.
    return Token(token.id, token.text, token.char_span, token.kind, token.piece, field, line, is_forged)


def is_control(kind: TokenKind, text: str) -> bool:
    """Return whether ordinary text should not be able to make such a token.

    Special tokens, and added ones that look like markers such as `<think>`.
    """
    if kind is TokenKind.SPECIAL:
        return True
    return kind is TokenKind.ADDED and _MARKER.fullmatch(text.strip()) is not None
