"""Values as programs print them within a text: JSON, dicts and bytes of Python, quoted values of Go."""

from __future__ import annotations

import ast
import json
import re

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.values.json_of import json_of

HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_GO_VALUE = re.compile(r'(?<=[ \t]\w\w\w=)"((?:[^"\\]|\\.)*+)"?|(?<=[ \t]error=)"((?:[^"\\]|\\.)*+)"?')
_DECODER = json.JSONDecoder(strict=False)  # a terminal may have broken the lines
_BROKEN_KEY = re.compile(r'[,{]\s{0,8}"\w{0,40}\n\w{1,40}"\s{0,4}:')  # at a width, as no text has it
# `Object {`, `Array [`, `String("…")`, `Number(5)`, `Bool(true)`, `Null`.
_OF_RUST = re.compile(
    r"""\bObject \{|\bArray \[|\bString\(("(?:[^"\\]|\\.)*+")\)|\b(?:Number|Bool)\((-?[\w.]{1,40})\)|\bNull\b"""
)
MAX_LITERAL = 60_000  # characters of a body that is written as Python


def plain_of_rust(text: str) -> str:
    r"""Return a text in which values of JSON that Rust printed for debugging are JSON.

    >>> plain_of_rust('Some(Object {"code": Number(500), "message": String("no"), "param": Null})')
    'Some({"code": 500, "message": "no", "param": null})'
    """
    if 'Object {"' not in text:
        return text
    return _OF_RUST.sub(lambda found: found[1] or found[2] or ("null" if found[0] == "Null" else found[0][-1]), text)


def value_at(text: str, start: int) -> JSON:
    """Return the JSON value, or the one of Python, that begins at a place; `None` if none does."""
    value: JSON
    try:
        value, stop = _DECODER.raw_decode(text, start)
        if _BROKEN_KEY.search(text, start, stop) is not None:
            value = _DECODER.raw_decode(text[start:stop].replace("\n", ""))[0]
    except (ValueError, RecursionError):
        return python_value_at(text, start)
    return value


def python_value_at(text: str, start: int) -> JSON:
    """Return the value that a dict printed by Python has; lines that a terminal broke are joined."""
    piece = text[start : start + MAX_LITERAL]
    stop = max(piece.rfind("}"), piece.rfind("]")) + 1
    line = piece.partition("\n")[0]  # below it a log may go on, with brackets of its own
    in_line = line[: max(line.rfind("}"), line.rfind("]")) + 1]
    for literal in (piece[:stop], piece.partition("\n\n")[0].rstrip(), in_line):
        try:
            value: object = ast.literal_eval(_joined(literal))
            return json_of(json.dumps(value, default=_text_of))
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return None


def _text_of(value: object) -> str:
    """Return a value that JSON has no form for as text; names in braces are a sketch of an object, not one."""
    if isinstance(value, set):
        raise TypeError
    return str(value)


def _joined(literal: str) -> str:
    """Return a literal in one line: a terminal breaks long ones, also within strings."""
    return "".join(line if line.endswith(" ") else f"{line} " for line in literal.splitlines())


def as_double(text: str) -> str:
    """Return the inside of a single-quoted Python literal as it would be written between double quotes."""
    return re.sub(r"\\.|\"", lambda one: {"\\'": "'", '"': '\\"'}.get(one[0], one[0]), text)


def unquoted(entry: str) -> str:
    """Return an entry of a log with the values that Go printed in quotes as they were."""
    if "level=" not in entry[:200]:
        return entry.replace('\\"', '"')
    return _GO_VALUE.sub(lambda found: f'"{_read_go(found[1] or found[2] or "")}"', entry)


def _read_go(literal: str) -> str:
    value = json_of(f'"{HALF_ESCAPE.sub("", literal)}"')
    return value if isinstance(value, str) else literal.replace('\\"', '"')


def as_utf8(words: str) -> str:
    """Return words that Python printed as bytes, and that were read as characters, as they were."""
    try:
        return words.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return words
