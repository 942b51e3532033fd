"""A token table → the columnar payload of the token view.

Distinct chips go into a table, the text into an index of it. A chip is one
token, or the tokens whose bytes together make one character: such a token
alone shows nothing that could be read.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

from prompt_debugger.core.types import JSON, JSONObject, Token, TokenKind
from prompt_debugger.ui.present.heat import MAX_ALTERNATIVES, Heat, alternatives_to_json
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.token_roles import role_of
from prompt_debugger.ui.present.words import count_of, joined

MAX_TOKENS = 400_000
_MAX_MERGED = 4  # a character has at most four bytes
_KIND_NUMBERS = {TokenKind.TEXT: 0, TokenKind.SPECIAL: 1, TokenKind.ADDED: 2, TokenKind.BYTE: 3}

_ChipKey = tuple[tuple[int, ...], str, int, bool]


def tokens_payload(tokens: Sequence[Token] | None, heat: Heat | None = None) -> str | None:
    """Return the payload of the token view; `None` without tokens.

    Args:
        tokens: At most `MAX_TOKENS` are shown; the counts say what is left out.
        heat: How likely the model found each of them, where the server said.
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
    columns = _column(index, "I" if len(table) > 0xFFFF else "H")
    if heat is not None:
        columns += b"\0" * (-len(columns) % 4)
        header["heat"] = _heat_header(heat, len(columns), merged)
        columns += _heat_column(heat, len(index), merged)
    return pack_payload(header, columns)


def _heat_header(heat: Heat, offset: int, merged: Sequence[JSON]) -> JSONObject:
    """Return where the column of log probabilities stands, and the alternatives by chip, of the chip's first token."""
    alternatives: list[JSON] = []
    for chip, token in enumerate(_first_tokens(min(len(heat.alternatives), MAX_ALTERNATIVES), merged)):
        if heat.alternatives[token]:
            alternatives.append([chip, alternatives_to_json(heat.alternatives[token])])
    return {"offset": offset, "alternatives": alternatives, "limit": MAX_ALTERNATIVES}


def _heat_column(heat: Heat, chip_count: int, merged: Sequence[JSON]) -> bytes:
    """Return one number per chip, the sum over its tokens; not a number where one is not known."""
    firsts = [*_first_tokens(len(heat.logprobs), merged), len(heat.logprobs)][: chip_count + 1]
    values = (heat.logprobs[start:stop] for start, stop in pairwise(firsts))
    column = array("f", (math.nan if None in few else math.fsum(one or 0.0 for one in few) for few in values))
    column.extend([math.nan] * (chip_count - len(column)))
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def _first_tokens(count: int, merged: Sequence[JSON]) -> Iterator[int]:
    """Yield the index of the first token of every chip among the first `count` tokens."""
    sizes = dict(zip(merged[::2], merged[1::2], strict=True))
    token = chip = 0
    while token < count:
        yield token
        size = sizes.get(chip, 1)
        token += size if isinstance(size, int) else 1
        chip += 1


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
    if kind == _KIND_NUMBERS[TokenKind.SPECIAL] and (role := role_of(text)):
        entry["role"] = role
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
