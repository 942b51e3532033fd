r"""Values as Rust prints them for debugging (`{:?}`, `{:#?}`, `dbg!`) → JSON values, named as `serde` would name them.

    ChatChoice { index: 0, message: Message { content: Some("…"), tool_calls: None }, finish_reason: Some(Stop) }
    ToolCall { id: "a", function: ToolFunction { name: "f", arguments: Object {"a": Number(1)} } }

Of a struct the fields are kept, of `Some(…)` and of other types around one value the value, and of a variant its name
in small letters. A field that is a keyword of Rust loses its mark (`r#type`). A text that ends inside a value is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, JSONObject

MAX_DEPTH = 60
_GAP = re.compile(r"\s*+")
_NAME = re.compile(r"[A-Za-z_]\w*+(?:::[A-Za-z_]\w*+)*+(?:<[\w:, ]{1,100}>)?")
_FIELD = re.compile(r"(?:r#)?([a-z_]\w*+):\s++")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_LETTER = re.compile(r"'((?:[^'\\]|\\.){1,12}+)'")
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?(?:_?[iuf]\d{1,3})?(?![\w.])")
_PLAIN_NUMBER = re.compile(r"-?[\d.]++(?:[eE][+-]?\d++)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]{5,30}(?:Z|[+-]\d\d:?\d\d|UTC| )*+")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_INNER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOTHING = ("None", "Null", "Nil", "Missing")
_TRUTH = {"true": True, "false": False}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Debugged(NamedTuple):
    """A value that was read.

    Attributes:
        value: Without the names of its types.
        kind: The type that is named in front of it, if any.
        stop: Where it ends in the text.
    """

    value: JSON
    kind: str
    stop: int


class _UnreadableError(ValueError):
    """The text is not what Rust printed, or not whole; never leaves this module."""


def read_debugged(text: str, start: int = 0) -> Debugged | None:
    r"""Return the value that is printed at a place; `None` if none is, or if it does not end.

    >>> read_debugged('Call { name: "f", r#type: Function, arguments: Some("{\\"a\\": 1}") }').value
    {'name': 'f', 'type': 'function', 'arguments': '{"a": 1}'}
    """
    try:
        return _value(text, _skip(text, start), 0)
    except _UnreadableError:
        return None


def _value(text: str, at: int, depth: int) -> Debugged:
    if depth > MAX_DEPTH:
        raise _UnreadableError
    if (found := _TEXT.match(text, at) or _LETTER.match(text, at)) is not None:
        return Debugged(_unescaped(found[1]), "", found.end())
    if (found := _DATE.match(text, at)) is not None:
        return Debugged(found[0].strip(), "", found.end())
    if (found := _NUMBER.match(text, at)) is not None:
        return Debugged(_number(found[0]), "", found.end())
    if (found := _NAME.match(text, at)) is not None:
        return _named(text, found[0], found.end(), depth)
    if text.startswith(("[", "(", "{"), at):
        items, pairs, stop = _members(text, at, depth)
        return Debugged(pairs if text[at] == "{" and not items else items, "", stop)
    raise _UnreadableError


def _named(text: str, name: str, at: int, depth: int) -> Debugged:
    """Read what follows the name of a type or of a variant."""
    kind = name.rpartition("::")[2]
    if text.startswith("(", at):
        items, _, stop = _members(text, at, depth)
        return Debugged(items[0] if len(items) == 1 else items, kind, stop)
    after = _skip(text, at)
    if text.startswith("{", after):
        items, pairs, stop = _members(text, after, depth)
        return Debugged(items if items else pairs, kind, stop)
    if text.startswith("[", after) and kind == "Array":  # of `serde_json`
        items, _, stop = _members(text, after, depth)
        return Debugged(items, kind, stop)
    if kind in _TRUTH:
        return Debugged(_TRUTH[kind], "", at)
    return Debugged(None if kind in _NOTHING else _INNER.sub("_", kind).lower(), kind, at)


def _members(text: str, at: int, depth: int) -> tuple[list[JSON], JSONObject, int]:
    """Read what is between brackets: values, fields or pairs; fields that are left out print as `..`."""
    closer, items, pairs = _CLOSERS[text[at]], [], {}
    at = _skip(text, at + 1)
    while not text.startswith(closer, at):
        if text.startswith("..", at):
            at = _skip(text, at + 2)
            continue
        field = _FIELD.match(text, at) if closer == "}" else None
        read = _value(text, at if field is None else field.end(), depth + 1)
        at = _skip(text, read.stop)
        if field is not None:
            pairs[field[1]] = read.value
        elif text.startswith(":", at) and closer == "}":
            value = _value(text, _skip(text, at + 1), depth + 1)
            pairs[str(read.value)] = value.value
            at = _skip(text, value.stop)
        else:
            items.append(read.value)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith(closer, at):
            raise _UnreadableError
    return items, pairs, at + 1


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return at if found is None else found.end()


def _number(shown: str) -> JSON:
    found = _PLAIN_NUMBER.match(shown)
    digits = shown if found is None else found[0]
    return float(digits) if set(digits) & set(".eE") else int(digits)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    if digits is not None:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return _ESCAPED.get(found[3], found[3])


def first_and_rest(value: JSON) -> Sequence[JSON]:
    """Return the members of a list that has at least one (`first` and `rest`), or of a list, or the value alone."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and value.keys() == {"first", "rest"} and isinstance(value["rest"], list):
        return [value["first"], *value["rest"]]
    return [value]
