"""JSON in pasted texts: a whole text, or one value a line."""

from __future__ import annotations

import json
from contextlib import suppress

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.request.json_text import JsonText

MAX_LENIENT_CHARS = 400_000  # read character by character
_DECODER = json.JSONDecoder()
_MAX_VALUES = 50
_BLANK = " \t\r\n\ufeff"


def json_of(text: str) -> JSON:
    """Return the value of a JSON text; `None` if it is not one."""
    with suppress(ValueError, RecursionError):
        value: JSON = json.loads(text.strip().removeprefix("\ufeff"))
        return value
    return None


def json_lines(text: str) -> list[str]:
    """Return the lines of a text that is one JSON object a line; none if it is anything else."""
    if not text.lstrip(_BLANK).startswith("{"):
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    looked_at = (json_of(line) for line in lines[:3])
    return lines if len(lines) > 1 and all(isinstance(value, dict) for value in looked_at) else []


def lenient_json_of(text: str) -> tuple[JSON, tuple[str, ...]] | None:
    """Return the value of a text that is JSON but for slips (comments, commas, quotes), and what was repaired."""
    if len(text) > MAX_LENIENT_CHARS:
        return None
    reader = JsonText(text)
    with suppress(RequestError, RecursionError):
        value = reader.read()
        return value, tuple(dict.fromkeys(notice.message for notice in reader.notices))
    return None


def json_values(text: str) -> list[JSON]:
    """Return the JSON values that a text consists of, one after the other; none if it holds anything else."""
    values: list[JSON] = []
    at, end = 0, len(text.rstrip(_BLANK))
    while at < end:
        if text[at] in _BLANK or (values and text[at] == ","):
            at += 1
            continue
        if len(values) >= _MAX_VALUES or text[at] not in "{[":
            return []
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        values.append(value)
    return values


def decoded(value: JSON) -> JSON:
    """Return a value that may be kept as the text of JSON: what that text holds, else the value itself."""
    read = json_of(value) if isinstance(value, str) else None
    return value if read is None else read
