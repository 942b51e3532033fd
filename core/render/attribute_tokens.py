"""Spans -> tokens: which field and which template line a token came from, and whether it was forged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.types import PromptSpan, SpanKind, Token, TokenKind

_FROM_REQUEST = frozenset({SpanKind.REQUEST, SpanKind.ESCAPED, SpanKind.SCALAR, SpanKind.STRUCTURE})
_MARKER = re.compile(r"[<\[|].*[>\]|]", re.DOTALL)


def attribute_tokens(tokens: Sequence[Token], spans: Sequence[PromptSpan]) -> tuple[Token, ...]:
    """Return the tokens with the origin of their characters.

    Args:
        tokens: Tile a text.
        spans: Tile the same text.
    """
    starts = [span.char_span.start for span in spans]
    stops = [span.char_span.stop for span in spans]
    made: list[Token] = []
    first, count = 0, len(spans)
    for token in tokens:
        start, stop = token.char_span
        while first < count and stops[first] <= start:
            first += 1
        behind = first
        stop = max(stop, start + 1)
        while behind < count and starts[behind] < stop:
            behind += 1
        made.append(_attributed(token, spans, range(first, behind)))
    return tuple(made)


def is_control(token: Token) -> bool:
    """Return whether ordinary text should not be able to make this token.

    Special tokens, and added ones that look like markers such as `<think>`.
    """
    if token.kind is TokenKind.SPECIAL:
        return True
    return token.kind is TokenKind.ADDED and _MARKER.fullmatch(token.text.strip()) is not None


def _attributed(token: Token, spans: Sequence[PromptSpan], covered: range) -> Token:
    """Return a token with the origin of the spans that it shares characters with."""
    if not covered:
        return token
    field, is_request = None, False
    for index in covered:
        span = spans[index]
        if span.kind in _FROM_REQUEST:
            is_request = True
            if span.field is not None:
                field = span.field
                break
    forged = is_request and token.kind is not TokenKind.TEXT and is_control(token)
    line = spans[covered.start].template_line
    if field is None and line is None and not forged:
        return token
    # Written out, as `dataclasses.replace` takes twice the time, and a prompt may have 160,000 tokens.
    return Token(token.id, token.text, token.char_span, token.kind, token.piece, field, line, forged)
