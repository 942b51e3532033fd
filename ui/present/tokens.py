"""A token table → the columnar payload of the token view.

Distinct chips go into a table, the text into an index of it. A chip is one
token, or the tokens whose bytes together make one character: such a token
alone shows nothing that could be read.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, JSONObject, Token, TokenColumns, TokenKind, columns_of
from prompt_debugger.ui.present.heat import MAX_ALTERNATIVES, Heat, alternatives_to_json
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import count_of, joined

MAX_TOKENS = 400_000
_MAX_MERGED = 4  # a character has at most four bytes
_KIND_NUMBERS = {TokenKind.TEXT: 0, TokenKind.SPECIAL: 1, TokenKind.ADDED: 2, TokenKind.BYTE: 3}

_ChipKey = tuple[int | tuple[int, ...], str, TokenKind, bool]  # id or ids, text, kind, injected


def tokens_payload(tokens: Sequence[Token] | None, heat: Heat | None = None) -> str | None:
    """Return the payload of at most `MAX_TOKENS` tokens, with their `heat` where the server said; `None` without."""
    if tokens is None:
        return None
    columns = columns_of(tokens if len(tokens) <= MAX_TOKENS else tokens[:MAX_TOKENS])
    chips = _chips_of(columns)
    first_of = dict(zip(reversed(chips.places), reversed(chips.firsts), strict=True))
    table: list[JSON] = [_chip(key, columns.pieces, first_of[place]) for place, key in enumerate(chips.keys)]
    fields = [columns.fields[first] for first in chips.firsts]
    field_numbers = {name: number for number, name in enumerate(dict.fromkeys([None, *fields]))}
    header: JSONObject = {
        "count": len(chips.places),
        "wide": len(table) > 0xFFFF,
        "table": table,
        "merged": [*chips.merged],
        "fields": [name or "" for name in field_numbers],
        "field_runs": _runs([*map(field_numbers.__getitem__, fields)]),
        "line_runs": _runs([columns.lines[first] or 0 for first in chips.firsts]),
        "counts": _counts(tokens, columns),
    }
    body = _column(chips.places, "I" if len(table) > 0xFFFF else "H")
    if heat is not None:
        body += b"\0" * (-len(body) % 4)
        header["heat"] = _heat_header(heat, len(body), chips.merged)
        body += _heat_column(heat, len(chips.places), chips.merged)
    return pack_payload(header, body)


def _heat_header(heat: Heat, offset: int, merged: Sequence[int]) -> JSONObject:
    """Return where the column of log probabilities is, and the alternatives by chip, of the chip's first token."""
    alternatives: list[JSON] = []
    for chip, token in enumerate(_first_tokens(min(len(heat.alternatives), MAX_ALTERNATIVES), merged)):
        if heat.alternatives[token]:
            alternatives.append([chip, alternatives_to_json(heat.alternatives[token])])
    return {"offset": offset, "alternatives": alternatives, "limit": MAX_ALTERNATIVES}


def _heat_column(heat: Heat, chip_count: int, merged: Sequence[int]) -> bytes:
    """Return one number per chip, the sum over its tokens; not a number where one is not known."""
    firsts = [*_first_tokens(len(heat.logprobs), merged), len(heat.logprobs)][: chip_count + 1]
    values = (heat.logprobs[start:stop] for start, stop in pairwise(firsts))
    column = array("f", (math.nan if None in few else math.fsum(one or 0.0 for one in few) for few in values))
    column.extend([math.nan] * (chip_count - len(column)))
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def _first_tokens(count: int, merged: Sequence[int]) -> Iterator[int]:
    """Yield the index of the first token of every chip among the first `count` tokens."""
    sizes = dict(zip(merged[::2], merged[1::2], strict=True))
    token = chip = 0
    while token < count:
        yield token
        size = sizes.get(chip, 1)
        token += size
        chip += 1


def merge_tokens(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens in chips: one each, or as many as it takes to end on a character's edge."""
    columns = columns_of(tokens)
    chips = _chips_of(columns)
    for place, first in zip(chips.places, chips.firsts, strict=True):
        yield tokens[first : first + len(_ids_of(chips.keys[place]))]


def _ids_of(key: _ChipKey) -> tuple[int, ...]:
    return (key[0],) if isinstance(key[0], int) else key[0]


class _Chips(NamedTuple):
    """Tokens in chips: what they show, each once; of every chip its place there, its first token, how many it is."""

    keys: Sequence[_ChipKey]
    places: Sequence[int]
    firsts: Sequence[int]
    merged: Sequence[int]


def _chips_of(columns: TokenColumns) -> _Chips:
    injected = [False] * len(columns.ids)
    for place in columns.forged:
        injected[place] = True
    shown = (columns.ids, columns.texts, columns.kinds, injected)
    places: defaultdict[_ChipKey, int] = defaultdict(count().__next__)  # each new key gets the next one
    index: list[int] = []
    firsts: list[int] = []
    merged: list[int] = []
    after = 0
    broken = {piece for piece in {*columns.pieces} if not _is_text(piece)}
    for at in [place for place, piece in enumerate(columns.pieces) if piece in broken] if broken else ():
        size = _chip_size(columns, at) if at >= after else 1
        if size > 1:
            index += map(places.__getitem__, zip(*(column[after:at] for column in shown), strict=True))
            these = slice(at, at + size)
            merged += (len(index), size)
            key = tuple(columns.ids[these]), "".join(columns.texts[these]), TokenKind.BYTE, any(injected[these])
            index.append(places[key])
            firsts += range(after, at + 1)
            after = at + size
    index += map(places.__getitem__, zip(*(column[after:] for column in shown), strict=True))
    firsts += range(after, len(injected))
    return _Chips([*places], index, firsts, merged)


def _chip_size(columns: TokenColumns, at: int) -> int:
    """Return how many tokens the chip has that begins with one whose bytes are not text."""
    piece = b""
    for size in range(1, _MAX_MERGED + 1):
        place = at + size - 1
        if place >= len(columns.ids) or columns.kinds[place] is TokenKind.SPECIAL:
            break
        piece += columns.pieces[place]
        if _is_text(piece):
            return size
    return 1


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _chip(key: _ChipKey, pieces: Sequence[bytes], first: int) -> JSONObject:
    """Return the entry of a chip, whose pieces are those from the first on."""
    ids = _ids_of(key)
    _, text, kind, injected = key
    entry: JSONObject = {"ids": [*ids], "text": text, "kind": _KIND_NUMBERS[kind]}
    piece = b"".join(pieces[first : first + len(ids)])
    if piece and piece != text.encode("utf-8", "surrogatepass"):
        entry["hex"] = piece.hex(" ")
    if kind is TokenKind.SPECIAL and (role := role_of(text)):
        entry["role"] = role
    if injected:
        entry["injected"] = True
    return entry


def _counts(tokens: Sequence[Token], columns: TokenColumns) -> str:
    """Return what there is of all tokens, shown or not."""
    left_out = len(tokens) - MAX_TOKENS
    if left_out > 0:
        columns = columns_of(tokens)
    return joined(
        count_of(len(tokens), "token"),
        f"{columns.kinds.count(TokenKind.SPECIAL):,} special",
        f"{len(columns.forged):,} injected" if columns.forged else None,
        count_of(sum(map(len, columns.texts)), "character"),
        f"the last {left_out:,} tokens are left out" if left_out > 0 else None,
    )


def _runs(column: Sequence[int]) -> list[JSON]:
    """Return a run-length column: first index and value of every run, flat."""
    starts = [0, *(at for at, (one, other) in enumerate(pairwise(column), 1) if one != other)] if column else []
    return [number for start in starts for number in (start, column[start])]


def _column(numbers: Sequence[int], code: str) -> bytes:
    column = array(code, numbers)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


# First match wins. A role is a guess from the spelling; the view says so.
_ROLES = (
    ("pads to length", re.compile(r"\bpad|\[pad\]|padding", re.IGNORECASE)),
    ("image, audio or video", re.compile(r"image|vision|audio|video|media|\bimg\b", re.IGNORECASE)),
    ("tool call or result", re.compile(r"tool|function|python_tag|ipython|call\|>|observation", re.IGNORECASE)),
    ("reasoning", re.compile(r"think|reason|thought", re.IGNORECASE)),
    ("channel of the turn", re.compile(r"channel|constrain|recipient", re.IGNORECASE)),
    ("fill-in-the-middle", re.compile(r"fim|<\|?(prefix|suffix|middle)\|?>", re.IGNORECASE)),
    ("ends the text", re.compile(r"^</s>$|end.?of.?(text|sentence)|<\|?eos|\[eos\]|<\|return\|>", re.IGNORECASE)),
    ("begins the text", re.compile(r"^<s>$|begin.?of.?(text|sentence)|<\|?bos|\[bos\]|startoftext", re.IGNORECASE)),
    ("ends a turn", re.compile(r"im_end|eot|eom|end_of_turn|end_header|<\|?end\|?>|\[/inst\]|/s>", re.IGNORECASE)),
    ("opens the text of a turn", re.compile(r"im_middle|im_sep|<\|message\|>|header_id", re.IGNORECASE)),
    (
        "opens a turn",
        re.compile(
            r"im_start|start_of_turn|<\|start\|>|\[inst\]|system|user|assistant|human|start_of_role|turn", re.IGNORECASE
        ),
    ),
    ("reserved by the vocabulary", re.compile(r"reserved|unused|extra_id|placeholder", re.IGNORECASE)),
)


def role_of(spelling: str) -> str:
    """Return what a control token of that spelling is for; "" if the spelling does not tell."""
    plain = spelling.replace("\uff5c", "|").replace("\u2581", "_")  # as DeepSeek draws bars and blanks
    return next((role for role, pattern in _ROLES if pattern.search(plain)), "")
