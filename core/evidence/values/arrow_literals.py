r"""Values as Ruby (`inspect`), Elixir (`inspect`) and PHP (`var_export`) print them, read as JSON.

    {"id"=>"a", "choices"=>[{"index"=>0, "text"=>nil}]}        {:id=>"a", :choices=>[]}
    %{"id" => "a", "choices" => [%{"index" => 0}]}             %Message{role: "assistant", content: nil}
    array ( 'id' => 'a', 'choices' => array ( 0 => array ( 'index' => 0, ), ), )

Nothing is guessed: a text that is not one such value to its end is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, JSONObject

MAX_CHARS = 400_000
MAX_DEPTH = 60
_GAP = re.compile(r"\s*+")
_BEGINS = re.compile(
    r"(?:=>\s*+)?(?=[\[{]|%(?:[A-Z][\w.]{0,100})?\{|\(object\)|array\s{0,2}\(|\\?stdClass::__set_state)"
)
_OPEN = re.compile(
    r"%(?:[A-Z][\w.]{0,100})?(?P<map>\{)|(?P<hash>\{)|(?P<list>\[)"
    r"|(?P<array>(?:\(object\)\s{0,2})?array\s{0,2}\(|\\?stdClass::__set_state\(\s{0,2}array\s{0,2}\()"
)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_SYMBOL = re.compile(r':(?:"((?:[^"\\]|\\.)*+)"|([A-Za-z_]\w{0,100}[?!]?))')
_FIELD = re.compile(r"([A-Za-z_]\w{0,100}[?!]?):\s++")
_WORD = re.compile(r"(?:nil|null|NULL|true|false|TRUE|FALSE)\b")
_ARROW = re.compile(r"\s*+=>\s*+")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "e": "\x1b",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "a": "\a",
    "0": "\0",
    "s": " ",
}
_WORDS: dict[str, JSON] = {"nil": None, "null": None, "true": True, "false": False}


class Read(NamedTuple):
    """A value, and where it stops."""

    value: JSON
    stop: int


class UnreadableError(ValueError):
    """The text is not what one of these languages printed, or not whole."""


def arrow_literal(text: str) -> JSON:
    """Return the value that a text is, if one of these languages printed it with arrows; else `None`."""
    if len(text) > MAX_CHARS or "=>" not in text:
        return None
    body = text.strip().rstrip(";")
    begun = _BEGINS.match(body)
    if begun is None:
        return None
    try:
        value, stop = _value(body, begun.end(), 0)
    except UnreadableError:
        return None
    return value if not body[stop:].strip() else None


def _value(text: str, at: int, depth: int) -> Read:
    if depth > MAX_DEPTH:
        raise UnreadableError
    if (opened := _OPEN.match(text, at)) is not None:
        return _collection(text, opened, depth)
    if (found := _DOUBLE.match(text, at)) is not None:
        return Read(_unescaped(found[1]), found.end())
    if (found := _SINGLE.match(text, at)) is not None:
        return Read(found[1].replace("\\'", "'").replace("\\\\", "\\"), found.end())
    if (found := _WORD.match(text, at)) is not None:
        return Read(_WORDS[found[0].lower()], found.end())
    if (found := _NUMBER.match(text, at)) is not None:
        number = found[0]
        return Read(float(number) if re.search(r"[.eE]", number) else int(number), found.end())
    if (found := _SYMBOL.match(text, at)) is not None:
        return Read(found[2] if found[1] is None else _unescaped(found[1]), found.end())
    raise UnreadableError


def _collection(text: str, opened: re.Match[str], depth: int) -> Read:
    """Read what is between brackets: pairs, or values alone."""
    kind = str(opened.lastgroup)
    closing = {"map": "}", "hash": "}", "list": "]", "array": ")"}[kind]
    pairs: list[tuple[JSON, JSON]] = []
    values: list[JSON] = []
    at = _skip(text, opened.end())
    while not text.startswith(closing, at):
        key, at = _key(text, at, depth)
        if key is None:
            value, at = _value(text, at, depth + 1)
            values.append(value)
        else:
            value, at = _value(text, at, depth + 1)
            pairs.append((key, value))
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith(closing, at):
            raise UnreadableError
    if pairs and values:
        raise UnreadableError
    stop = at + 1
    if opened[0].lstrip("\\").startswith("stdClass"):
        stop = _skip(text, stop)
        if not text.startswith(")", stop):
            raise UnreadableError
        stop += 1
    held = _object(pairs) if kind in ("map", "hash") else array_of_php(pairs)
    return Read(values if values else held, stop)


def _key(text: str, at: int, depth: int) -> tuple[JSON, int]:
    """Return the key that begins at a place and where its value begins; `None` where a value has no key."""
    if (field := _FIELD.match(text, at)) is not None:
        return field[1], field.end()
    if text.startswith(("[", "{", "%", "(", "array", "\\", "stdClass"), at):
        return None, at
    value, stop = _value(text, at, depth + 1)
    arrow = _ARROW.match(text, stop)
    return (None, at) if arrow is None or value is None else (value, arrow.end())


def array_of_php(held: Sequence[tuple[JSON, JSON]]) -> JSON:
    """Return an array of PHP as the list that it numbers from 0, or as an object."""
    if [key for key, _ in held] == list(range(len(held))):
        return [value for _, value in held]
    return _object(held)


def _object(pairs: Sequence[tuple[JSON, JSON]]) -> JSONObject:
    return {str(key): value for key, value in pairs}


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return at if found is None else found.end()


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits is not None:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return _ESCAPED.get(found[4], found[4])
