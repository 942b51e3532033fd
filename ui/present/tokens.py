"""A token table → the columnar payload of the token view.

Distinct chips go into a table, the text into an index of it. A chip is one
token, or the tokens whose bytes together make one character: such a token
alone shows nothing that could be read.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence

from core.types import JSON, JSONObject, Token, TokenKind
from ui.present.payload import pack_payload
from ui.present.words import count_of, joined

MAX_TOKENS = 400_000
_MAX_MERGED = 4  # a character has at most four bytes
_KIND_NUMBERS = {TokenKind.TEXT: 0, TokenKind.SPECIAL: 1, TokenKind.ADDED: 2, TokenKind.BYTE: 3}

_ChipKey = tuple[tuple[int, ...], str, int, bool]


def tokens_payload(tokens: Sequence[Token] | None) -> str | None:
    """Return the payload of the token view; `None` without tokens.

    Args:
        tokens: At most `MAX_TOKENS` are shown; the counts say what is left out.
    """
    if tokens is None:
        return None
    shown = tokens[:MAX_TOKENS]
    table: list[JSON] = []
    places: dict[_ChipKey, int] = {}
    index: list[int] = []
    merged: list[JSON] = []
    fields = _Runs()
    lines = _Runs()
    field_names: list[JSON] = [""]
    field_numbers: dict[str | None, int] = {None: 0}
    for chip in merge_tokens(shown):
        key = _chip_key(chip)
        place = places.get(key)
        if place is None:
            place = places[key] = len(table)
            table.append(_chip(chip, key))
        if len(chip) > 1:
            merged += [len(index), len(chip)]
        field = chip[0].field
        if field not in field_numbers:
            field_numbers[field] = len(field_names)
            field_names.append(field)
        fields.add(len(index), field_numbers[field])
        lines.add(len(index), chip[0].template_line or 0)
        index.append(place)
    header: JSONObject = {
        "count": len(index),
        "wide": len(table) > 0xFFFF,
        "table": table,
        "merged": merged,
        "fields": field_names,
        "field_runs": fields.flat,
        "line_runs": lines.flat,
        "counts": _counts(tokens),
    }
    return pack_payload(header, _column(index, "I" if len(table) > 0xFFFF else "H"))


def merge_tokens(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens in chips: one each, or as many as it takes to end on a character's edge."""
    at = 0
    while at < len(tokens):
        size = _chip_size(tokens, at)
        yield tokens[at : at + size]
        at += size


def _chip_size(tokens: Sequence[Token], at: int) -> int:
    if _is_text(tokens[at].piece):
        return 1
    piece = b""
    for size in range(1, _MAX_MERGED + 1):
        if at + size > len(tokens) or tokens[at + size - 1].kind is TokenKind.SPECIAL:
            break
        piece += tokens[at + size - 1].piece
        if _is_text(piece):
            return size
    return 1


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _chip_key(chip: Sequence[Token]) -> _ChipKey:
    if len(chip) == 1:
        token = chip[0]
        return ((token.id,), token.text, _KIND_NUMBERS[token.kind], token.injected)
    return (
        tuple(token.id for token in chip),
        "".join(token.text for token in chip),
        _KIND_NUMBERS[TokenKind.BYTE],
        any(token.injected for token in chip),
    )


def _chip(chip: Sequence[Token], key: _ChipKey) -> JSONObject:
    ids, text, kind, injected = key
    entry: JSONObject = {"ids": [*ids], "text": text, "kind": kind}
    piece = b"".join(token.piece for token in chip)
    if piece and piece != text.encode("utf-8", "surrogatepass"):
        entry["hex"] = piece.hex(" ")
    if injected:
        entry["injected"] = True
    return entry


def _counts(tokens: Sequence[Token]) -> str:
    special = sum(token.kind is TokenKind.SPECIAL for token in tokens)
    injected = sum(token.injected for token in tokens)
    characters = sum(len(token.text) for token in tokens)
    left_out = len(tokens) - MAX_TOKENS
    return joined(
        count_of(len(tokens), "token"),
        f"{special:,} special",
        f"{injected:,} injected" if injected else None,
        count_of(characters, "character"),
        f"the last {left_out:,} tokens are left out" if left_out > 0 else None,
    )


class _Runs:
    """A run-length column: first index and value of every run, flat."""

    def __init__(self) -> None:
        self.flat: list[JSON] = []
        self._last: int | None = None

    def add(self, index: int, value: int) -> None:
        if value != self._last:
            self.flat += [index, value]
            self._last = value


def _column(numbers: Sequence[int], code: str) -> bytes:
    column = array(code, numbers)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()
