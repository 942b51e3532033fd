"""Control tokens of this vocabulary in raw output: ends of turns, and headers of turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.types import Span, Token, TokenKind, TokenTable, Trace
from prompt_debugger.core.diagnose.trace_queries import end_texts
from prompt_debugger.core.formats import TABLES


def end_spans(trace: Trace) -> tuple[Span, ...]:
    """Return where end tokens are in the raw output, in order."""
    return tuple(_special_spans(trace, frozenset(end_texts(trace))))


def header_spans(trace: Trace) -> tuple[Span, ...]:
    """Return where tokens that open a turn are in the raw output, in order."""
    vocabulary = trace.vocabulary
    if vocabulary is None:
        return ()
    texts = frozenset(text for text in vocabulary.special.values() if text in TABLES.turn_openers)
    return tuple(_special_spans(trace, texts))


def _special_spans(trace: Trace, texts: frozenset[str]) -> Iterator[Span]:
    raw = trace.raw
    if raw is None or not texts:
        return
    if raw.tokens is not None:
        yield from _find_by_token(raw.tokens, texts)
        return
    for match in re.finditer("|".join(re.escape(text) for text in sorted(texts)), raw.text):
        yield Span(*match.span())


def _find_by_token(tokens: Sequence[Token], texts: frozenset[str]) -> Iterator[Span]:
    """Yield control tokens only: the same text spelled with ordinary tokens is prose."""
    if isinstance(tokens, TokenTable):  # whose tokens need not be made to find a few of them
        tokens = [tokens[at] for at, kind in enumerate(tokens.kinds) if kind is not TokenKind.TEXT]
    for token in tokens:
        if token.text in texts and token.kind in (TokenKind.SPECIAL, TokenKind.ADDED):
            yield token.char_span
