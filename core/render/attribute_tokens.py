"""Spans -> tokens: which field and which template line a token came from, and whether it was forged."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence

from prompt_debugger.core.base.types import NOWHERE, Origin, Prompt, PromptSpan, SpanKind, TokenKind, TokenTable
from prompt_debugger.core.base.types.frozen import replace

_FROM_REQUEST = frozenset({SpanKind.REQUEST, SpanKind.ESCAPED, SpanKind.SCALAR, SpanKind.STRUCTURE})
_MARKER = re.compile(r"[<\[|].*[>\]|]", re.DOTALL)


def attribute_tokens(tokens: TokenTable, spans: Sequence[PromptSpan], like: Prompt | None = None) -> TokenTable:
    """Return the tokens with the origin of their characters; tokens and spans tile the same text.

    Of a prompt that is `like` this one, with the same spans and the same tokens, what was found is taken.
    """
    known = None if like is None or like.spans is not spans else like.tokens
    if isinstance(known, TokenTable) and known.origin_of and _are_same(tokens, known):
        return replace(tokens, origins=known.origins, origin_of=known.origin_of, forged=known.forged)
    origins, origin_of = origins_of(tokens.edges, spans)
    forged = tuple(index for index in _controls(tokens) if origins[origin_of[index]].is_request)
    return replace(tokens, origins=origins, origin_of=origin_of, forged=forged)


def _are_same(tokens: TokenTable, known: TokenTable) -> bool:
    """Return whether two tables differ at most in their origins."""
    return (tokens.text, tokens.ids, tokens.edges, tokens.entries, tokens.odd) == (
        known.text, known.ids, known.edges, known.entries, known.odd,
    )  # fmt: skip


def origins_of(edges: Sequence[int], spans: Sequence[PromptSpan]) -> tuple[tuple[Origin, ...], tuple[int, ...]]:
    """Return the origins of tokens, each once, and for every token the index of its own.

    It is that of the spans that the token shares characters with; a token inside a character covers none, and goes
    with the character that it precedes.

    Args:
        edges: Where the tokens begin, in their order, and where the last one ends.
        spans: Tile the same text.
    """
    char_spans = [span.char_span for span in spans]
    starts = [start for start, _ in char_spans]
    stops: list[float] = [stop for _, stop in char_spans]
    following: list[float] = [*starts[1:], math.inf]
    places: dict[Origin, int] = {}
    known: dict[tuple[str | None, int | None, bool], int] = {}  # of places with one span: found without an `Origin`
    found: list[int] = []
    index, first, count, tokens = 0, 0, len(spans), len(edges) - 1
    while index < tokens:
        start, edge = edges[index], edges[index + 1]
        while first < count and stops[first] <= start:
            first += 1
        stop = edge if edge > start else start + 1
        after = index + 1
        if first < count and following[first] >= stop > starts[first]:
            span = spans[first]
            is_request = span.kind in _FROM_REQUEST
            key = span.field if is_request else None, span.template_line, is_request
            found_place = known.get(key)
            if found_place is None:
                found_place = known[key] = places.setdefault(Origin(*key), len(places))
            place = found_place
            # Those that come next and end in the same span have the same origin; the one that leaves it has its own.
            end = min(stops[first], following[first])
            inside = bisect_left(edges, end, after)
            after = max(after, inside if inside <= tokens and edges[inside] == end else min(inside - 1, tokens))
        else:
            last = first
            while last < count and starts[last] < stop:
                last += 1
            place = places.setdefault(_origin(spans[first:last]), len(places))
        found.extend([place] * (after - index))
        index = after
    return tuple(places), tuple(found)


def _origin(covered: Sequence[PromptSpan]) -> Origin:
    if not covered:
        return NOWHERE
    field, is_request = None, False
    for span in covered:
        if span.kind in _FROM_REQUEST:
            is_request = True
            if span.field is not None:
                field = span.field
                break
    return Origin(field, covered[0].template_line, is_request)


def _controls(tokens: TokenTable) -> list[int]:
    """Return the indexes of the tokens that ordinary text should not be able to make."""
    edges, marked = tokens.edges, {key for key, entry in tokens.entries.items() if entry.kind is not TokenKind.TEXT}
    places = [index for index, token_id in enumerate(tokens.ids) if token_id in marked]
    if tokens.odd:
        places = sorted({*places, *(index for index in tokens.odd if 0 <= index < len(tokens))})
    return [
        index for index in places if is_control(tokens.kind_of(index), tokens.text[edges[index] : edges[index + 1]])
    ]


def is_control(kind: TokenKind, text: str) -> bool:
    """Return whether ordinary text should not be able to make such a token.

    Special tokens, and added ones that look like markers such as `<think>`.
    """
    if kind is TokenKind.SPECIAL:
        return True
    return kind is TokenKind.ADDED and _MARKER.fullmatch(text.strip()) is not None
