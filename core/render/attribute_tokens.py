"""Spans -> tokens: which field and which template line a token came from, and whether it was forged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from prompt_debugger.core.types import PromptSpan, SpanKind, Token, TokenKind

_FROM_REQUEST = frozenset({SpanKind.REQUEST, SpanKind.ESCAPED, SpanKind.SCALAR, SpanKind.STRUCTURE})
_MARKER = re.compile(r"[<\[|].*[>\]|]", re.DOTALL)


def attribute_tokens(tokens: Sequence[Token], spans: Sequence[PromptSpan]) -> tuple[Token, ...]:
    """Return the tokens with the origin of their characters.

    Args:
        tokens: Tile a text.
        spans: Tile the same text.
    """
    return tuple(_attributed(token, covered) for token, covered in _covered(tokens, spans))


def is_control(token: Token) -> bool:
    """Return whether ordinary text should not be able to make this token.

    Special tokens, and added ones that look like markers such as `<think>`.
    """
    if token.kind is TokenKind.SPECIAL:
        return True
    return token.kind is TokenKind.ADDED and _MARKER.fullmatch(token.text.strip()) is not None


def _attributed(token: Token, spans: Sequence[PromptSpan]) -> Token:
    if not spans:
        return token
    sources = [span for span in spans if span.kind in _FROM_REQUEST]
    field = next((span.field for span in sources if span.field is not None), None)
    forged = bool(sources) and is_control(token)
    line = spans[0].template_line
    if field is None and line is None and not forged:
        return token
    return replace(token, field=field, template_line=line, injected=forged)


def _covered(tokens: Sequence[Token], spans: Sequence[PromptSpan]) -> Iterator[tuple[Token, Sequence[PromptSpan]]]:
    """Yield every token with the spans that share characters with it; both run in text order."""
    index = 0
    for token in tokens:
        start, stop = token.char_span
        while index < len(spans) and spans[index].char_span.stop <= start:
            index += 1
        last = index
        while last < len(spans) and spans[last].char_span.start < max(stop, start + 1):
            last += 1
        yield token, spans[index:last]
