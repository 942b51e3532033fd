"""When two JSON values, or two texts of JSON, are the same. No I/O, no state."""

from __future__ import annotations

import json

from prompt_debugger.core.types import JSON


def same_json(left: JSON, right: JSON) -> bool:
    """Say whether two JSON values are the same; `true` is not `1`, but `1.0` is.

    >>> same_json({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}), same_json(1, True)
    (True, False)
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same_json(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and left == right


def same_json_text(left: JSON, right: JSON) -> bool:
    """Say whether two texts are the same letter by letter, or both JSON of one value.

    >>> same_json_text('{"a": 1}', '{"a":1}'), same_json_text('{"a": 1}', '{"a": "1"}')
    (True, False)
    """
    if not isinstance(left, str) or not isinstance(right, str):
        return type(left) is type(right) and left == right
    if left.strip() == right.strip():
        return True
    try:
        return same_json(json.loads(left), json.loads(right))
    except (ValueError, RecursionError):
        return False
