"""When two JSON values, or texts of JSON, are the same, which are too deep, and what one is. No I/O, no state."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator

from prompt_debugger.core.base.types import JSON, JSONObject

# What Python 3.11 decodes at all. Later ones decode deeper values, on which all that walks through them would fail.
_MAX_NESTED = 900
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_RUN = re.compile(rb"(\[*)(\]*)")
_AS_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_MAX_PEELED = 16
_OBJECT_BEGINS = re.compile(r"\s*+(?:\"?\{|\[[\]{]|\"?\Z)")  # a list, as PHP and printed calls have it

NULL_TEXTS = ("null", "None", "undefined")  # what becomes of an absent value where a program turns it into text


def as_object(value: JSON) -> JSONObject:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    """Return `value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: JSON) -> tuple[JSONObject, ...]:
    """Return the objects of a list, in order; nothing if `value` is not a list."""
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def as_text(value: JSON) -> str | None:
    """Return `value` if it is a string."""
    return value if isinstance(value, str) else None


def as_count(value: JSON) -> int | None:
    """Return `value` if it is an integer; a boolean is not one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_number(value: JSON) -> float | None:
    """Return `value` as a float if it is a number; a boolean is not one."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def text_or_json(value: JSON) -> str:
    """Return a text as it is, and any other value as JSON: so chat completions have the arguments of a call."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def begins_as_object(value: JSON) -> bool:
    """Return whether a text is empty, or begins as an object that was encoded once or twice: so arguments of calls do.

    >>> begins_as_object(""), begins_as_object(' {"city": "Ro'), begins_as_object('"{}"'), begins_as_object("none")
    (True, True, True, False)
    """
    return isinstance(value, str) and _OBJECT_BEGINS.match(value) is not None


def either_case(value: JSONObject, camel: str) -> JSON:
    """Return a field of Gemini's by its name in camel case, or else in snake case."""
    if camel in value:
        return value[camel]
    return value.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel))


def replace_at(root: JSON, steps: tuple[str | int, ...], value: JSON) -> JSON:
    """Return a copy of a JSON value with another value at the place to which the keys and indices in `steps` lead."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(root, dict) and isinstance(step, str):
        return root | {step: replace_at(root.get(step), rest, value)}
    if isinstance(root, list) and isinstance(step, int):
        return [replace_at(item, rest, value) if index == step else item for index, item in enumerate(root)]
    return root


def strings_in(value: JSON, left_out: Container[str] = ()) -> Iterator[str]:
    """Yield the texts within a value, in their order, but for those of the members that are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item, left_out)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in left_out:
                yield from strings_in(item, left_out)


def decode_json(text: str | bytes) -> JSON:
    """Return the value that a text of JSON holds, or `None` if it is not JSON."""
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def is_json(text: str) -> bool:
    """Return whether a text is a JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def decoded(value: JSON) -> JSON:
    """Return the value that a text of JSON holds; what is not a text, or not JSON, as it is.

    >>> decoded('{"a": 1}'), decoded("{"), decoded(None)
    ({'a': 1}, '{', None)
    """
    return decode_json(value) if isinstance(value, str) and is_json(value) else value


def one_spelling(text: str) -> str | None:
    """Return the same text for every way to write a JSON value; `None` for what is not JSON.

    >>> one_spelling('{"b": 1,"a":2}'), one_spelling("{")
    ('{"a": 2, "b": 1}', None)
    """
    return json.dumps(decode_json(text), sort_keys=True) if is_json(text) else None


def same_json(left: JSON, right: JSON) -> bool:
    """Return whether two JSON values are the same; `true` is not `1`, but `1.0` is.

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
    """Return whether two texts are the same letter by letter, or both JSON of one value.

    >>> same_json_text('{"a": 1}', '{"a":1}'), same_json_text('{"a": 1}', '{"a": "1"}')
    (True, False)
    """
    if not isinstance(left, str) or not isinstance(right, str):
        return type(left) is type(right) and left == right
    if left.strip() == right.strip():
        return True
    return is_json(left) and is_json(right) and same_json(decode_json(left), decode_json(right))


def is_too_deep(text: str) -> bool:
    """Return whether a text of JSON is nested deeper than values may be; brackets inside its strings do not count.

    >>> is_too_deep("[" * 901 + "]" * 901), is_too_deep("[" + "[]," * 901 + "0]"), is_too_deep('"' + "[" * 901 + '"')
    (True, False, False)
    """
    if text.count("{") + text.count("[") <= _MAX_NESTED:
        return False
    brackets = _TEXT.sub("", text).encode("ascii", "replace").translate(_AS_SQUARE, _NO_BRACKETS)
    depth = 0
    if brackets.count(b"[") * 2 == len(brackets):
        depth, brackets = _peeled(brackets)
    for run in _RUN.finditer(brackets):
        depth += len(run[1])
        if depth > _MAX_NESTED:
            return True
        depth -= len(run[2])
    return False


def _peeled(brackets: bytes) -> tuple[int, bytes]:
    """Return brackets without their innermost levels, and how many those were: millions of them are usually flat."""
    for level in range(_MAX_PEELED):
        left = brackets.replace(b"[]", b"")
        if len(left) == len(brackets):
            return level, brackets
        brackets = left
    return _MAX_PEELED, brackets
