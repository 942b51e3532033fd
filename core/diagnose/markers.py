"""Texts that carry structure in some model family, and where prose only quotes them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats import TABLES

MEDIA_PLACEHOLDERS = (
    "<|image_pad|>",
    "<image_soft_token>",
    "<start_of_image>",
    "<|image_soft_token|>",
    "<|image|>",
    "<|media_pad|>",
    "<image>",
    "<__media__>",
    "[IMG]",
)
"""Tokens that stand for a picture in the prompt of some model."""

# `(?:…)` alternatives in order of length, so that the longest one wins.
_MARKER = re.compile(
    "|".join(re.escape(m) for m in sorted((*TABLES.call_markers, *TABLES.turn_markers), key=len, reverse=True))
)
_LOOK_CHARS = 80  # how far around a marker its sentence is looked at
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_AS_NOUN = re.compile(r"[ \t]+(?:tags?|tokens?|markers?|delimiters?|elements?|blocks?|sections?)\b")
_WORD_BEFORE = re.compile(r"(?:\w|[,;’')])[ \t]+\(?\Z|[ \t]\(\Z")
_GOES_ON = re.compile(r"(?:[,;:!?.)]|[ \t]+\(?[A-Za-z][A-Za-z’'-]*(?=[\s,;:!?)]|\.(?:\s|\Z)|\Z))")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“"}

CHANNEL = re.compile(r"\s{0,4}(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary|final)<\|message\|>")
"""What a text begins with that is output of gpt-oss (harmony) as the model wrote it."""


def find_markers(text: str) -> Iterator[Span]:
    """Yield where `text` has structural markers of any family, quoted or not."""
    for match in _MARKER.finditer(text):
        yield Span(*match.span())


def has_marker(text: str) -> bool:
    """Return whether `text` has a structural marker of any family, quoted or not."""
    return _MARKER.search(text) is not None


def find_used_markers(text: str) -> Iterator[Span]:
    """Yield unquoted markers that no sentence mentions either, as remnants of a structure would be.

    >>> [text[a:b] for text in ("It wrote <tool_call> twice.", "Now. <tool_call>") for a, b in find_used_markers(text)]
    ['<tool_call>']
    """
    group: list[Span] = []
    for span in find_unquoted_markers(text):
        if group and not text[group[-1].stop : span.start].strip(" \t"):
            group.append(span)
            continue
        yield from _unless_mentioned(text, group)
        group = [span]
    yield from _unless_mentioned(text, group)


def _unless_mentioned(text: str, group: list[Span]) -> list[Span]:
    """Return adjacent markers, or none where words of one sentence surround them."""
    if not group:
        return []
    before = text[max(0, group[0].start - _LOOK_CHARS) : group[0].start]
    behind = text[group[-1].stop : group[-1].stop + _LOOK_CHARS]
    is_mentioned = _AS_NOUN.match(behind) or (_WORD_BEFORE.search(before) and _GOES_ON.match(behind))
    return [] if is_mentioned else group


def find_unquoted_markers(text: str) -> Iterator[Span]:
    """Yield markers that no code fence, code span or pair of quotation marks encloses.

    >>> [text[a:b] for text in ("Write `<tool_call>` first.", "<tool_call>{}") for a, b in find_unquoted_markers(text)]
    ['<tool_call>']
    """
    code = [Span(*match.span()) for match in _CODE.finditer(text)]
    stops = [block.stop for block in code]
    for span in find_markers(text):
        block = bisect_left(stops, span.stop)
        if block < len(code) and code[block].start <= span.start:
            continue
        before, after = text[span.start - 1 : span.start], text[span.stop : span.stop + 1]
        if before and _QUOTES.get(before) == after:
            continue
        yield span
