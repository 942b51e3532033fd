"""A whole output at once: reasoning, and what is left for the reader of calls."""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import ParsedMessage, SegmentKind
from prompt_debugger.core.formats import FORMATS, TABLES, TextFormat, read_scored

_TAGS = frozenset(tag.strip() for pair in TABLES.reasoning_pairs for tag in pair)


def split_whole(raw: str, family: str, context: ReadContext) -> tuple[str | None, str, ParsedMessage]:
    """Return reasoning, everything else as it was written, and the reading of the whole."""
    _, reading = read_scored(raw, context, family)
    markers = FORMATS[reading.format].call_markers
    rest: list[str] = []
    kinds = [SegmentKind.END, *(segment.kind for segment in reading.segments), SegmentKind.END]
    for place, segment in enumerate(reading.segments):
        text = raw[slice(*segment.char_span)]
        is_free = segment.kind is SegmentKind.MARKUP and segment.call_index is None
        is_next_to = SegmentKind.REASONING in (kinds[place], kinds[place + 2])
        is_tag = text.strip() in _TAGS or (is_next_to and not any(marker in text for marker in markers))
        if segment.kind is not SegmentKind.REASONING and not (is_free and is_tag):
            rest.append(text)
    return reading.reasoning, "".join(rest), reading


def family_of_prompt(prompt_tail: str, family: str) -> TextFormat:
    """Return the format named, or for `auto` the one that the end of a prompt betrays."""
    if family in FORMATS:
        return FORMATS[family]
    _, reading = read_scored("", ReadContext(prompt_tail=prompt_tail), "auto")
    return FORMATS[reading.format]
