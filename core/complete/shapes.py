"""Narrow JSON from a server to what we expect, or to nothing. Never raises."""

from __future__ import annotations

import json

from prompt_debugger.core.base.json_values import as_object, is_too_deep
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.limits import MAX_IDS

MAX_LOOK_PARTS = 100_000  # of what a server says of itself
MAX_LOOK_COMMAS = 300_000
MAX_PARTS = 1_000_000  # log-probabilities of 20,000 tokens have fewer; in each of ten million a second is lost


def ids_of(value: JSON) -> tuple[int, ...] | None:
    """Return a list of token ids; `None` if an entry is not an id, or no context is as long."""
    if not isinstance(value, list) or len(value) > MAX_IDS:
        return None
    ids = tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool) and item >= 0)
    return ids if len(ids) == len(value) else None


def parse_json(text: str) -> JSON:
    """Parse a JSON text from outside.

    Raises:
        ValueError: It is not JSON, has too many parts, or is nested or long beyond what Python reads.
    """
    if text.count("{") + text.count("[") > MAX_PARTS:
        raise ValueError(f"more than {MAX_PARTS:,} objects and lists")
    try:
        value: JSON = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    if is_too_deep(text):  # newer Pythons read it; anyone who walks through it cannot
        raise ValueError("nested too deeply to be read")
    return value


def parse_object(text: str) -> JSONObject:
    """Parse a JSON text; an empty object if it is not an object."""
    try:
        return as_object(parse_json(text))
    except ValueError:
        return {}


def parse_look(text: str) -> JSONObject:
    """Parse what a server says of itself; an empty object if it is not an object, or is larger than any should be."""
    if text.count("{") + text.count("[") > MAX_LOOK_PARTS or text.count(",") > MAX_LOOK_COMMAS:
        return {}
    return parse_object(text)


def count_values(value: JSON, most: int) -> int:
    """Return how many values a value is made of, keys among them; what is beyond `most` is not counted.

    >>> count_values({"a": [1, 2]}, 100), count_values([0] * 100, 10) > 10
    (5, True)
    """
    count, waiting = 0, [value]
    while waiting and count <= most:
        one = waiting.pop()
        count += 1
        if isinstance(one, dict):
            count += len(one)
            waiting.extend(one.values() if len(one) <= most else ())
        elif isinstance(one, list):
            waiting.extend(one if len(one) <= most else one[: most + 1])
    return count
