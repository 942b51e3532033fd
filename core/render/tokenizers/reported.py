"""Tokens as a server tells them, id and bytes, where its vocabulary is not at hand."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import Entry, TokenKind, TokenTable
from prompt_debugger.core.render.tokenizers.pieces import PieceStyle, bytes_of_entry
from prompt_debugger.core.render.tokenizers.tiles import decode_pieces

# One entry that is spelled like this was put into the vocabulary on purpose.
_MARKER = re.compile(r"<[|\uff5c]?[^<>\s]+[|\uff5c]?>|\[/?[A-Z_]{2,}\]")


def tokens_of_pieces(token_ids: Sequence[int], pieces: Sequence[bytes]) -> tuple[str, TokenTable]:
    """Return the text of ids and their token table.

    Which entries are special is not reported; those that look like markers count as added.
    """
    text, edges = decode_pieces(pieces)
    first: dict[int, bytes] = {}
    odd: dict[int, Entry] = {}  # a server may tell the bytes of one id in several ways
    for index, (token_id, piece) in enumerate(zip(token_ids, pieces, strict=True)):
        if first.setdefault(token_id, piece) != piece:
            odd[index] = Entry(piece, _kind(piece))
    entries = {token_id: Entry(piece, _kind(piece)) for token_id, piece in first.items()}
    return text, TokenTable(text, tuple(token_ids), edges, entries, odd)


def pieces_of_reported(reported: Sequence[bytes | str], text: str) -> tuple[bytes, ...] | None:
    """Return the bytes of tokens for which a server reported bytes or vocabulary entries.

    How a vocabulary spells its entries shows in the text that they make up.

    Args:
        reported: Per token its bytes, or its entry.
        text: What all of them decode to.

    Returns:
        The bytes of each; `None` if no spelling makes up the text.
    """
    for style in PieceStyle:
        pieces = tuple(one if isinstance(one, bytes) else bytes_of_entry(one, style) for one in reported)
        if _is_same(decode_pieces(pieces)[0], text):
            return pieces
    return None


def _is_same(decoded: str, text: str) -> bool:
    """Return whether two decodings differ in nothing but a first space and the number of unreadable characters."""
    if decoded == text:
        return True
    one, other = (re.sub("\ufffd+", "\ufffd", item).removeprefix(" ") for item in (decoded, text))
    return one == other


def is_marker(piece: bytes) -> bool:
    """Return whether a vocabulary entry looks like a control token."""
    return _MARKER.fullmatch(piece.decode("utf-8", "replace")) is not None


def _kind(piece: bytes) -> TokenKind:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError:
        return TokenKind.BYTE
    return TokenKind.ADDED if is_marker(piece) else TokenKind.TEXT
