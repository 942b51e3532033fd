"""Attribution without proof: equal stretches of two texts, and request texts found in a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from prompt_debugger.core.base.types import JSON, JSONObject, PromptSpan, Span, SpanKind
from prompt_debugger.core.render.trace.runs import join_path

_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
_MIDDLE = 20_000  # words of the differing part beyond which only its ends are compared
_TELLING = 4  # characters a text must have to be found again without a proof


def align_spans(text: str, known: str, spans: Sequence[PromptSpan]) -> tuple[PromptSpan, ...]:
    """Carry spans over from a known text to one that resembles it.

    Returns:
        Spans that tile `text`; unknown where the two differ.
    """
    made: list[PromptSpan] = []
    position = index = 0
    for known_start, start, length in _matches(known, text):
        if start > position:
            made.append(PromptSpan(Span(position, start), SpanKind.UNKNOWN))
        while index and spans[index].char_span.start > known_start:
            index -= 1
        while index < len(spans) and spans[index].char_span.stop <= known_start:
            index += 1
        made.extend(_carried(spans, index, known_start, start, length))
        position = start + length
    if position < len(text):
        made.append(PromptSpan(Span(position, len(text)), SpanKind.UNKNOWN))
    return tuple(made)


def _carried(
    spans: Sequence[PromptSpan], index: int, known_start: int, start: int, length: int
) -> Iterator[PromptSpan]:
    shift = start - known_start
    stop = known_start + length
    while index < len(spans) and spans[index].char_span.start < stop:
        span = spans[index]
        low, high = max(span.char_span.start, known_start), min(span.char_span.stop, stop)
        field_span = span.field_span
        if field_span is not None and span.kind is SpanKind.REQUEST:
            first = field_span.start + low - span.char_span.start
            field_span = Span(first, first + high - low)
        yield PromptSpan(
            Span(low + shift, high + shift), span.kind, span.field, field_span, span.template_line, span.template_column
        )
        index += 1


def _matches(known: str, text: str) -> Iterator[tuple[int, int, int]]:
    """Yield equal stretches as offset in `known`, offset in `text`, length; ascending in both."""
    shorter = min(len(known), len(text))
    front = _common(known, text, shorter)
    back = _common(known[::-1], text[::-1], shorter - front)
    if front:
        yield 0, 0, front
    words, other = _WORDS.findall(known[front : len(known) - back]), _WORDS.findall(text[front : len(text) - back])
    if len(words) + len(other) <= _MIDDLE:
        starts, other_starts = _offsets(words, front), _offsets(other, front)
        for a, b, size in SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks():
            length = starts[a + size] - starts[a]
            if length >= _TELLING:  # a bracket here and there proves nothing
                yield starts[a], other_starts[b], length
    if back:
        yield len(known) - back, len(text) - back, back


def likeness(text: str, known: str) -> int:
    """Return how many characters two texts share at their ends."""
    shorter = min(len(text), len(known))
    front = _common(text, known, shorter)
    return front + _common(text[::-1], known[::-1], shorter - front)


def _common(left: str, right: str, limit: int) -> int:
    """Return how many leading characters two texts share, at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _offsets(words: Sequence[str], start: int) -> list[int]:
    offsets = [start]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return offsets


def find_fields(text: str, body: JSONObject) -> tuple[PromptSpan, ...]:
    """Look up the texts of the messages in a prompt, in order.

    Returns:
        Spans that tile `text`: request texts that were found after one another, the rest unknown.
    """
    made: list[PromptSpan] = []
    position = 0
    for path, value in _texts(body.get("messages"), "messages"):
        found = text.find(value, position)
        if found < 0:
            continue
        if found > position:
            made.append(PromptSpan(Span(position, found), SpanKind.UNKNOWN))
        position = found + len(value)
        made.append(PromptSpan(Span(found, position), SpanKind.REQUEST, path, Span(0, len(value))))
    if position < len(text):
        made.append(PromptSpan(Span(position, len(text)), SpanKind.UNKNOWN))
    return tuple(made)


def _texts(value: JSON, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if len(value) >= _TELLING and not path.endswith((".role", ".type")):
            yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, join_path(path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, join_path(path, key))
