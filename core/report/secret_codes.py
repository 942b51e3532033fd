"""Secrets inside what is written in base64 or in hex: decoded, searched as any text, and covered whole.

A run of letters that decodes to no text, such as a picture, a hash or an id, costs a look at its beginning.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterator

# Base64 may stand in lines; those of a block are as long as one another, but for the last.
_BREAK = r"(?:\r?\n|\\r\\n|\\n)[ \t]{0,40}"
_LINES = rf"(?:[A-Za-z0-9+/]{{56,100}}+{_BREAK})"
_LAST = r"[A-Za-z0-9+/_-]{4,}+={0,2}"
_BASE64 = re.compile(rf"(?:(?<![A-Za-z0-9+/_%\\-])|(?<=\\[nrt]))(?:{_LINES}++(?:{_LAST})?|{_LAST})")
_HEX = re.compile(r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:[0-9a-fA-F]{2}){20,}+(?![A-Za-z0-9])")
_END = re.compile(_BREAK)
_SPACE = re.compile(r"\\[rn]|\s")
_SHORTEST = 24  # characters of base64: fewer hold no key
_LOOK = 32  # characters that have to decode to text before all are decoded
_DIALECT = str.maketrans("-_", "+/")


def coded_secrets(text: str, contains_secret: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield where in a text something stands that, decoded, contains a secret.

    Args:
        text: Any text.
        contains_secret: Says whether a decoded text does.
    """
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        for found in pattern.finditer(text):
            stop = found.end()
            if stop - found.start() < _SHORTEST:
                continue
            decoded = decode(found[0])
            if decoded is None and (breaks := [*_END.finditer(text, found.start(), stop)]):
                stop = breaks[-1].start()  # what comes after the last line is a word of its own
                decoded = decode(text[found.start() : stop])
            if decoded is not None and contains_secret(decoded):
                yield found.start(), stop


def _from_base64(text: str) -> str | None:
    if _read_base64(text[:_LOOK]) is None:
        return None
    return _read_base64(_SPACE.sub("", text).rstrip("="))


def _read_base64(text: str) -> str | None:
    text = text.rstrip("=")
    text = text[: -(len(text) % 4 == 1) or None].translate(_DIALECT)
    try:
        return _text_of(b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (Error, ValueError):
        return None


def _from_hex(text: str) -> str | None:
    return None if _text_of(bytes.fromhex(text[:_LOOK])) is None else _text_of(bytes.fromhex(text))


def _text_of(data: bytes) -> str | None:
    """Return what bytes say if they are plain text."""
    text = data.decode("latin-1")
    return (
        text if text.isascii() and all(character.isprintable() or character in "\t\r\n" for character in text) else None
    )
