"""What of a text that grows will stay as it is.

A marker in the making, an object that may become a call, a tag that may be talk: what comes
next tells. Content is held back from the first such place, until so much has followed that
it is what it looks like; so is a call that a sentence or a code fence may only quote.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Span, ToolCallAttempt
from prompt_debugger.core.formats import FORMATS, TABLES, TextFormat

ENOUGH = 512  # characters after a doubtful place that settle it
_WORDS = 26  # characters of the longest marker that looks like words
# What a marker begins with, besides what JSON, Python calls and code fences begin with. A `]` alone is not among them:
# the family whose markers begin with it is held back like those whose markers are words.
_SIGNS = re.escape(TABLES.first_signs)
_DOUBTFUL = re.compile(rf"<[\w=~\[{re.escape(TABLES.second_signs)}]|<\Z|[\[{{{_SIGNS}]|```|>{{2}}")
_BEGUN_CALLS = "|".join(one.facts.begun_call for one in FORMATS.values() if one.facts.begun_call)
_AFTER_CALL = re.compile(rf"[<\[\]{{}}`|,;{_SIGNS}]|>{{2}}")


def has_plain_word_markers(family: TextFormat | None) -> bool:
    """Return whether ordinary words may turn out to be a family's markup; of a family not known yet they may."""
    return family is None or family.facts.markers_are_plain_words


def certain_stop(raw: str, span: Span, family: TextFormat | None, *, follows_call: bool) -> int:
    """Return how far the last stretch of content is certain; the family is `None` while it is open who writes."""
    pattern = _AFTER_CALL if follows_call else _DOUBTFUL
    found = pattern.search(raw, max(span.start, len(raw) - ENOUGH), span.stop)
    stop = span.stop if found is None else found.start()
    if has_plain_word_markers(family):
        stop = min(stop, max(span.start, len(raw) - _WORDS))
    begun = _BEGUN_CALLS if family is None else family.facts.begun_call
    if begun and (call := re.compile(begun, re.MULTILINE).search(raw, span.start, span.stop)) is not None:
        stop = min(stop, call.start())
    while stop > span.start and raw[stop - 1].isspace():
        stop -= 1
    return stop


def may_be_quoted(raw: str, call: ToolCallAttempt, family: TextFormat) -> bool:
    """Return whether what follows a call may show that it was only quoted."""
    start = call.char_span.start
    if family.conventions.block and family.conventions.block not in raw:
        return True  # an example, if a block is still to come
    before = raw[raw.rfind("\n", 0, start) + 1 : start]
    if raw.count("```", 0, start) % 2 == 1 or before.count("`") % 2 == 1:
        return len(raw) - call.char_span.stop < ENOUGH
    words = before.rstrip(" \t")
    in_sentence = bool(words) and words != before and (words[-1].isalnum() or words[-1] in ",;(")
    quoted = before[-1:] in {'"', "'", "“", "‘", "«"}
    return (in_sentence or quoted) and "\n" not in raw[call.char_span.stop :].rstrip()
