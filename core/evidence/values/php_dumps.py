"""Values as PHP's `print_r` and `var_dump` print them, read as JSON.

    Array                          array(1) {
    (                                ["id"]=>
        [id] => a                    string(1) "a"
    )                              }

`print_r` keeps no types: counts are read as numbers by their names, and an empty text may have been null or false.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.values.arrow_literals import (
    MAX_CHARS,
    MAX_DEPTH,
    Read,
    UnreadableError,
    array_of_php,
)

_MAX_LINES = 40_000
_COUNTS = re.compile(r"(?:index|created|\w{1,40}_tokens|max_tokens|n|top_k|seed)\Z")
_TRUTHS = frozenset({"stream", "strict", "parallel_tool_calls"})
_ENDS = frozenset({"finish_reason", "finishReason", "stop_reason"})
_OPENS = re.compile(r"(?:Array|[\\A-Za-z_][\w\\]{0,100} Object)\Z")
_ENTRY = re.compile(r"( *+)\[([^\]\n]{1,100})\] => ?(.*)\Z", re.DOTALL)
_DUMPED = re.compile(rb"(?:array\(\d{1,7}\)|object\([\w\\]{1,100}\)#\d{1,7} \(\d{1,7}\)) \{\s*+")
_DUMPED_KEY = re.compile(
    rb'\[(?:"([^"\n]{0,200})"(?::(?:protected|private|"[\w\\]{1,100}":private))?|(\d{1,9}))\]=>\s*+'
)
_SCALAR = re.compile(
    rb"(?:NULL|bool\((?P<bool>true|false)\)|int\((?P<int>-?\d{1,18})\)|float\((?P<float>-?[\d.eE+-]{1,30})\))\s*+"
)
_STRING = re.compile(rb'string\((\d{1,7})\) "')
_GAP = re.compile(rb"\s*+")


def php_dump(text: str) -> JSON:
    """Return the value that a text is, if `print_r` or `var_dump` printed it; else `None`."""
    if len(text) > MAX_CHARS:
        return None
    body = text.strip()
    try:
        if _OPENS.match(body.split("\n", 1)[0].strip()) is not None:
            return _printed(body)
        data = body.encode("utf-8", "replace")
        if _DUMPED.match(data) is None:
            return None
        value, stop = _dumped(data, 0, 0)
    except UnreadableError:
        return None
    return value if stop == len(data) else None


def _dumped(data: bytes, at: int, depth: int) -> Read:
    if depth > MAX_DEPTH:
        raise UnreadableError
    if (text := _STRING.match(data, at)) is not None:
        stop = text.end() + int(text[1])
        if data[stop : stop + 1] != b'"':
            raise UnreadableError
        return Read(data[text.end() : stop].decode("utf-8", "replace"), _skip(data, stop + 1))
    if (scalar := _SCALAR.match(data, at)) is not None:
        return Read(_scalar(scalar), scalar.end())
    opened = _DUMPED.match(data, at)
    if opened is None:
        raise UnreadableError
    at = opened.end()
    held: dict[str | int, JSON] = {}
    while data[at : at + 1] != b"}":
        key = _DUMPED_KEY.match(data, at)
        if key is None:
            raise UnreadableError
        name = int(key[2]) if key[1] is None else key[1].decode("utf-8", "replace")
        held[name], at = _dumped(data, key.end(), depth + 1)
    return Read(array_of_php([*held.items()]), _skip(data, at + 1))


def _scalar(found: re.Match[bytes]) -> JSON:
    if found["int"] is not None:
        return int(found["int"])
    if found["bool"] is not None:
        return found["bool"] == b"true"
    if found["float"] is None:
        return None
    try:
        return float(found["float"])
    except ValueError:
        raise UnreadableError from None


def _skip(data: bytes, at: int) -> int:
    found = _GAP.match(data, at)
    return at if found is None else found.end()


class _Lines:
    """Lines of `print_r`, read one after the other."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.at = 0

    def next(self) -> str:
        """Return the next line, and go on."""
        if self.at >= len(self.lines):
            raise UnreadableError
        self.at += 1
        return self.lines[self.at - 1]


def _printed(body: str) -> JSON:
    lines = _Lines(body)
    if len(lines.lines) > _MAX_LINES:
        raise UnreadableError
    lines.next()
    value = _entries(lines, 0)
    if any(line.strip() for line in lines.lines[lines.at :]):
        raise UnreadableError
    return value


def _entries(lines: _Lines, depth: int) -> JSON:
    """Read what is between the parentheses of an array, the first of which is on the next line."""
    opening = lines.next()
    if depth > MAX_DEPTH or opening.strip() != "(":
        raise UnreadableError
    indent = len(opening) - len(opening.lstrip()) + 4
    closing = f"{' ' * (indent - 4)})"
    held: dict[str | int, JSON] = {}
    while (line := lines.next()).rstrip() != closing:
        if not line.strip():
            continue
        entry = _ENTRY.match(line)
        if entry is None or len(entry[1]) != indent:
            raise UnreadableError
        name: str | int = int(entry[2]) if entry[2].isdecimal() else entry[2].split(":", 1)[0]
        held[name] = _printed_value(str(name), entry[3], lines, indent, closing, depth)
    return array_of_php([*held.items()])


def _printed_value(name: str, first: str, lines: _Lines, indent: int, closing: str, depth: int) -> JSON:
    follows = lines.lines[lines.at] if lines.at < len(lines.lines) else ""
    if _OPENS.match(first.strip()) is not None and follows.strip() == "(":
        return _entries(lines, depth + 1)
    more: list[str] = []
    while lines.at < len(lines.lines):
        line = lines.lines[lines.at]
        entry = _ENTRY.match(line)
        if line.rstrip() == closing or (entry is not None and len(entry[1]) == indent):
            break
        more.append(lines.next())
    text = "\n".join([first, *more]) if more else first
    if _COUNTS.match(name) is not None and text.isdecimal() and len(text) <= 18:
        return int(text)
    if name in _ENDS and not text:
        return None
    return text == "1" if name in _TRUTHS else text
