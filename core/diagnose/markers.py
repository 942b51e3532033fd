"""Texts that carry structure in some model family, and where prose only quotes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.formats import TABLES
from core.types import Span

# `(?:…)` alternatives in order of length, so that the longest one wins.
_MARKER = re.compile(
    "|".join(re.escape(m) for m in sorted((*TABLES.call_markers, *TABLES.turn_markers), key=len, reverse=True))
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“"}


def find_markers(text: str) -> Iterator[Span]:
    """Yield where structural markers of any family stand in `text`, quoted or not."""
    for match in _MARKER.finditer(text):
        yield Span(*match.span())


def find_unquoted_markers(text: str) -> Iterator[Span]:
    """Yield markers that no code fence, code span or pair of quotation marks encloses.

    >>> [text[a:b] for text in ("Write `<tool_call>` first.", "<tool_call>{}") for a, b in find_unquoted_markers(text)]
    ['<tool_call>']
    """
    code = [Span(*match.span()) for match in _CODE.finditer(text)]
    for span in find_markers(text):
        if any(block.start <= span.start and span.stop <= block.stop for block in code):
            continue
        before, after = text[span.start - 1 : span.start], text[span.stop : span.stop + 1]
        if before and _QUOTES.get(before) == after:
            continue
        yield span
