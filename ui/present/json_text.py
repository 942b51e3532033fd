"""A JSON value → pretty text in segments whose values know their path. Exact: numbers keep every digit.

Pygments, which colours JSON elsewhere, knows no paths: its tokens say what a stretch is, not which value it belongs
to, and by that the page links a value to what the model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON

_INDENT = "  "


class JsonSegment(NamedTuple):
    """A stretch of pretty JSON, with the path of the value it belongs to, such as `tool_calls[0].function.name`.

    Its role is `key`, `string`, `number`, `word` (true, false, null) or `mark` (brackets, commas, blanks).
    """

    text: str
    role: str
    path: str


def json_segments(value: JSON) -> tuple[JsonSegment, ...]:
    """Return the pretty form of `value` in segments that join to it."""
    return tuple(_segments(value, "", "\n"))


def segments_to_json(segments: tuple[JsonSegment, ...]) -> list[JSON]:
    """Return the segments as the views take them."""
    return [[segment.text, segment.role, segment.path] for segment in segments]


def _segments(value: JSON, path: str, line: str) -> Iterator[JsonSegment]:
    if isinstance(value, dict) and value:
        inner = line + _INDENT
        yield JsonSegment("{", "mark", path)
        for number, (key, item) in enumerate(value.items()):
            below = f"{path}.{key}" if path else key
            yield JsonSegment(("," if number else "") + inner, "mark", path)
            yield JsonSegment(_text(key), "key", below)
            yield JsonSegment(": ", "mark", path)
            yield from _segments(item, below, inner)
        yield JsonSegment(line + "}", "mark", path)
    elif isinstance(value, list) and value:
        inner = line + _INDENT
        yield JsonSegment("[", "mark", path)
        for number, item in enumerate(value):
            yield JsonSegment(("," if number else "") + inner, "mark", path)
            yield from _segments(item, f"{path}[{number}]", inner)
        yield JsonSegment(line + "]", "mark", path)
    else:
        yield JsonSegment(_text(value), _role(value), path)


def _text(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


def _role(value: JSON) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool) or value is None:
        return "word"
    return "number" if isinstance(value, int | float) else "mark"
