r"""Secrets in disguise: found in a normalized form of the text, and covered at their real places.

    characters   zero-width ones, colours and emphasis removed; `%2D`, `\u002d`, `&#45;` decoded
    lines        keys split over lines or strings joined: quoted (`> `), numbered, `"sk-" + "…"`
    blocks       a private key from BEGIN to END, whatever comes between
    encodings    base64 and hex, decoded

A form is never longer than the text, and maps each of its characters back to the text; every step is linear in its
length. A form that equals the text is not searched again.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from html import unescape
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from prompt_debugger.core.report.secret_shapes import ALONE, Shape

_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
_FULL_WIDTH = 0xFEE0  # by how much full-width letters are above ASCII
_HEX_CODE = "(?:2[0-9a-fA-F]|[3-7][0-9a-eA-E]|[3-6][fF])"
# What represents a character: in a terminal, in an address, in JSON and code, in HTML.
# What represents none: a colour, emphasis, the escapes of a quote, the space between spaced letters.
_ODD = re.compile(
    rf"[{_INVISIBLE}]+|[\uff01-\uff5e]|(?:\x1b|\\{{1,4}}(?:u001b|x1b|033|e))\[[0-9;]{{0,16}}m"
    rf"|%(?:25){{0,3}}{_HEX_CODE}|\\{{1,4}}(?:u00|x){_HEX_CODE}"
    rf"|&(?:#\d{{2,3}}|#[xX]{_HEX_CODE}|quot|apos|amp|lt|gt|equals|colon|lowbar|period);"
    r"|\\{2,7}(?=[\"'])|(?<=[\w-])[*`]{1,3}(?=\w)"
    r"|(?<=[\w-])(?<![\w-]{2}) (?=[\w-](?![\w-]))"
)
_IN_MAIL = re.compile(rf"{_ODD.pattern}|=(?:\r?\n|\\n)|=(?:2[0-9A-F]|3[0-9A-F]|5F)")  # quoted-printable
_KEY = r"[\w./+=-]"
_BEFORE = r"(?:[>|#*]|//|\d{1,6}[:.|)]?(?=[ \t])|[+-](?=[ \t]))"  # how a line that is quoted or numbered begins
_JOIN = re.compile(
    rf"(?<={_KEY})(?:"
    rf"[ \t]{{0,8}}\\?(?:\r?\n|\\r\\n|\\n)[ \t]{{0,40}}(?:{_BEFORE}[ \t]{{0,40}}){{0,4}}"
    rf"|\\?[\"'`](?:\s|\\n){{0,40}}(?:[+.&\\](?:\s|\\n){{0,40}})?(?:{_BEFORE}[ \t]{{0,40}}){{0,3}}"
    rf"[fbru]{{0,2}}\\?[\"'`]"
    rf")(?={_KEY})"
)
_HEAD = re.compile(
    r"(?:[spr]k|hf|api_org|gsk|fw|gh[oprsu]|github_pat|gl[a-z]{1,7}|npm|tgp_v1|shp[a-z]{2}|dop_v1|lsv2_[a-z]{2}|xai|nvapi"
    r"|pplx|csk|sess|GOCSPX|rpa|sb_secret|esecret|pcsk|jina|tvly|vc[kpi]|e2b|xox[abeprs]|xapp|whsec|pypi)[-_]"
    r"|AIza|AKIA|ASIA|eyJ|ya29\."
)
_PEM = re.compile(r"-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_MAX_BLOCK = 20_000  # characters between BEGIN and END
# Of a block what keeps a text JSON or code stays: quotes, escapes, whitespace, commas; and what is covered already.
_PART = re.compile(r"\\.|\[removed\]|[^\s\"'`\\,\u2022\[\]]+")

Span = tuple[int, int]


class _Form(NamedTuple):
    """A text in a normal form.

    Attributes:
        starts: Where in it each unchanged stretch begins, in order.
        places: Where that stretch begins in the text.
        ends: Where in the text the representation of a character ends, by where it begins.
    """

    text: str
    starts: list[int]
    places: list[int]
    ends: Mapping[int, int] = MappingProxyType({})

    def place(self, index: int) -> int:
        """Return where in the text a character of the form is."""
        stretch = bisect_right(self.starts, index) - 1
        return self.places[stretch] + index - self.starts[stretch]

    def end(self, index: int) -> int:
        """Return where a character of the form ends in the text."""
        place = self.place(index)
        return self.ends.get(place, place + 1)


def disguised_secrets(text: str, shapes: Iterable[Shape]) -> list[Span]:
    """Return where in a text there are secrets that the plain search would miss, in order, none touching another."""
    plain = _plain_characters(text)
    spans: list[Span] = []
    if plain is not None:
        spans.extend((plain.place(start), plain.end(stop - 1)) for start, stop in _found(plain.text, shapes))
    form = plain or _Form(text, [0], [0])
    for start, stop in _blocks(form.text):
        first, last = form.place(start), form.end(stop - 1)
        parts = _PART.finditer(text, first, last)
        spans.extend(found.span() for found in parts if found[0][0] not in "\\[" and any(map(str.isalnum, found[0])))
    spans.extend(
        (form.place(start), form.end(stop - 1))
        for start, stop in encoded_secrets(form.text, partial(_contains_secret, shapes))
    )
    for pieces in _broken(form.text):
        spans.extend((form.place(start), form.end(stop - 1)) for start, stop in pieces)
    return _merged(spans)


def cover_disguised_secrets(text: str, shapes: Iterable[Shape], cover: Callable[[str], str]) -> str:
    """Return `text` with such secrets replaced by what `cover` makes of them."""
    spans = disguised_secrets(text, shapes)
    if not spans:
        return text
    parts: list[str] = []
    last = 0
    for start, stop in spans:
        parts += [text[last:start], cover(text[start:stop])]
        last = stop
    return "".join([*parts, text[last:]])


def _plain_characters(text: str) -> _Form | None:
    """Return a text with its characters decoded and invisible ones removed; `None` if that changes nothing."""
    parts: list[str] = []
    starts, places = [0], [0]
    ends: dict[int, int] = {}
    last = size = 0
    for found in (_IN_MAIL if "=3D" in text else _ODD).finditer(text):
        start, stop = found.span()
        meant = _meant(found[0])
        parts += [text[last:start], meant]
        size += start - last
        if meant:
            starts.append(size)
            places.append(start)
            ends[start] = stop
            size += 1
        starts.append(size)
        places.append(stop)
        last = stop
    if last == 0:
        return None
    parts.append(text[last:])
    return _Form("".join(parts), starts, places, ends)


def _meant(odd: str) -> str:
    """Return the character that an escape represents; "" for one that represents none."""
    first = odd[0]
    if first == "&":
        return unescape(odd)
    if first in "%=" or (first == "\\" and odd[-1] != "m" and len(odd) > len(odd.strip("\\")) > 0):
        return "" if odd[-1] == "\n" or odd.endswith("\\n") else chr(int(odd[-2:], 16))
    return chr(ord(first) - _FULL_WIDTH) if "\uff01" <= first <= "\uff5e" else ""


def _found(text: str, shapes: Iterable[Shape]) -> Iterator[Span]:
    small = text.lower()
    for shape in shapes:
        for word in shape.words:
            if word in small:
                break
        else:
            continue
        for match in shape.pattern.finditer(text):
            start = match.end(1) if match.re.groups else match.start()
            if start < match.end() and shape.is_secret(text[start : match.end()]):
                yield start, match.end()


def _contains_secret(shapes: Iterable[Shape], text: str) -> bool:
    return _PEM.search(text) is not None or next(iter(_found(text, shapes)), None) is not None


def _blocks(text: str) -> Iterator[Span]:
    """Yield what is between the BEGIN and the END of private keys."""
    if "PRIVATE KEY" not in text:
        return
    for before, after in pairwise(_PEM.finditer(text)):
        is_block = (before[1], after[1]) == ("BEGIN", "END") and after.start() - before.end() <= _MAX_BLOCK
        if is_block and after.start() > before.end():
            yield before.end(), after.start()


def _broken(text: str) -> Iterator[list[Span]]:
    """Yield keys that are broken over lines or strings, piece by piece."""
    parts: list[str] = []
    starts, places = [0], [0]
    last = size = 0
    for join in _JOIN.finditer(text):
        if text[join.start() - 1] != "." and _HEAD.match(text, join.end()):
            continue  # a key begins there: what precedes it is a word
        parts.append(text[last : join.start()])
        size += join.start() - last
        last = join.end()
        starts.append(size)
        places.append(last)
    if not last:
        return
    form = _Form("".join([*parts, text[last:]]), starts, places)
    for start, stop in _found(form.text, ALONE):
        edges = starts[bisect_right(starts, start) : bisect_right(starts, stop - 1)]
        pieces = list(pairwise([start, *edges, stop]))
        kept = [pieces[0]]
        for piece in pieces[1:]:
            if not _looks_random(form.text[slice(*piece)]):
                break
            kept.append(piece)
        whole = form.text[start : kept[-1][1]]
        if len(kept) > 1 and any(shape.pattern.match(whole) for shape in ALONE):
            yield [(form.place(first), form.place(second - 1) + 1) for first, second in kept]


def _looks_random(piece: str) -> bool:
    """Return whether a piece looks like part of a random key, not like the word that the next line begins with."""
    has_digit = any(character.isdigit() for character in piece)
    inside = piece[1:]
    mixes = inside != inside.lower() and piece != piece.upper()
    return (has_digit and not piece.isdigit()) or (mixes and len(piece) >= 8)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


# Base64 may be broken into lines; all those of a block are equally long, but for the last.
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


def encoded_secrets(text: str, contains_secret: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield where a text has something that contains a secret once decoded."""
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        for found in pattern.finditer(text):
            stop = found.end()
            if stop - found.start() < _SHORTEST:
                continue
            decoded = decode(found[0])
            if decoded is None and (breaks := [*_END.finditer(text, found.start(), stop)]):
                stop = breaks[-1].start()  # what comes after the last break is a word of its own
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
    """Return bytes as text if they are plain ASCII text, else `None`."""
    text = data.decode("latin-1")
    return (
        text if text.isascii() and all(character.isprintable() or character in "\t\r\n" for character in text) else None
    )
