"""Bytes of tokens -> characters of a text.

A token covers the characters that begin in it. So spans tile the text even where
several tokens share one character: the first has it, the others have none.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

_NEAR = 64  # bytes within which an entry that does not fit is looked for


def count_starts(piece: bytes) -> int:
    """Return how many characters begin in `piece`."""
    return len(piece) if piece.isascii() else sum(byte & 0xC0 != 0x80 for byte in piece)


def decode_pieces(pieces: Sequence[bytes]) -> tuple[str, tuple[int, ...]]:
    """Return the text of all pieces, and where the characters of each begin and the last ones end.

    Bytes that are not UTF-8 become U+FFFD, given to the piece that completes or breaks them.
    """
    data = b"".join(pieces)
    if data.isascii():
        return data.decode("ascii"), edges_of_counts(map(len, pieces))
    try:
        return data.decode("utf-8"), edges_of_counts(_starts_in(pieces))
    except UnicodeDecodeError:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parts = [decoder.decode(piece) for piece in pieces]
        if parts:
            parts[-1] += decoder.decode(b"", final=True)
        return "".join(parts), edges_of_counts([len(part) for part in parts])


def edges_of_counts(counts: Iterable[int]) -> tuple[int, ...]:
    """Return where adjoining stretches of these lengths begin, and where the last one ends.

    >>> edges_of_counts([2, 0, 1])
    (0, 2, 2, 3)
    """
    return tuple(accumulate(counts, initial=0))


def _starts_in(pieces: Sequence[bytes]) -> Iterator[int]:
    """Yield how many characters begin in each piece; a prompt says the same few thousand again and again."""
    counts = {piece: count_starts(piece) for piece in {*pieces}}
    return map(counts.__getitem__, pieces)


def align_pieces(
    text: str, pieces: Sequence[bytes], offsets: Sequence[tuple[int, int]] | None = None
) -> tuple[int, ...]:
    """Return where the characters of `text` that each piece covers begin, and where those of the last one end.

    Args:
        text: What was encoded, or what the ids decode to.
        pieces: Bytes of each token.
        offsets: Characters of each token as the tokenizer says, used only where the bytes
            do not fit because the tokenizer changed the text (NFC, lower case, added spaces).
    """
    data = text.encode("utf-8", "replace")
    if b"".join(pieces) == data:
        return edges_of_counts(map(len, pieces) if data.isascii() else _starts_in(pieces))
    stops = _stops(data, pieces, None if offsets is None else _byte_stops(text, offsets))
    counts: list[int] = []
    position = 0
    for stop in stops:
        counts.append(count_starts(data[position:stop]))
        position = stop
    return edges_of_counts(counts)


def _stops(data: bytes, pieces: Sequence[bytes], claimed: Sequence[int] | None) -> list[int]:
    """Return the byte offset of the end of each piece."""
    stops: list[int] = []
    position = 0
    for index, piece in enumerate(pieces):
        if data.startswith(piece, position):
            position += len(piece)
        elif piece.startswith(b" ") and data.startswith(piece[1:], position):
            position += len(piece) - 1  # a space that the tokenizer put in
        elif claimed is not None:
            position = max(position, claimed[index])
        else:
            found = data.find(piece, position, position + _NEAR + len(piece)) if piece else -1
            position = found + len(piece) if found >= 0 else position
        stops.append(position)
    if stops:
        stops[-1] = len(data)
    return stops


def _byte_stops(text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """Return where each token ends in bytes.

    Characters between two tokens go to the earlier one; of tokens that share characters, the first has them.
    """
    width = [0]
    for char in text:
        width.append(width[-1] + len(char.encode("utf-8", "replace")))
    stops: list[int] = []
    end = len(text)
    for index in range(len(offsets) - 1, -1, -1):
        start, stop = offsets[index]
        following = offsets[index + 1] if index + 1 < len(offsets) else None
        if following is not None and following[0] > start:
            end = following[0]
        stops.append(width[max(stop, end)])
    return stops[::-1]
