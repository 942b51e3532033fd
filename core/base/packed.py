"""Unpack what was packed with zlib, up to a limit: a small file from outside may unpack to a huge one."""

from __future__ import annotations

import zlib
from typing import NamedTuple

MAX_BYTES = 256 * 1024 * 1024  # of one document of a journal
ZLIB = zlib.MAX_WBITS
GZIP = 16 + zlib.MAX_WBITS
MAGIC = b"\x1f\x8b"  # with which each member of a gzip file begins
_MAX_MEMBERS = 10_000  # a server that packs each piece of a stream by itself writes one for each
_SLICE_BYTES = 1 << 16


class Unpacked(NamedTuple):
    """What a packed text contains.

    Attributes:
        data: Its bytes.
        is_whole: False if the packed text ends early, and with it `data`.
    """

    data: bytes
    is_whole: bool


class TooLongError(ValueError):
    """Something unpacks to more than its limit."""


def unpack(blob: bytes, max_bytes: int = MAX_BYTES, *, form: int = ZLIB) -> bytes:
    """Return what `blob` packs.

    Args:
        blob: Packed bytes.
        max_bytes: How long the result may be.
        form: `ZLIB` or `GZIP`.

    Raises:
        TooLongError: The result is longer.
        ValueError: It is damaged, or ends early.

    >>> unpack(zlib.compress(b"abc"))
    b'abc'
    """
    found = unpack_beginning(blob, max_bytes, form=form)
    if not found.is_whole:
        raise ValueError("it is cut off")
    return found.data


def unpack_beginning(blob: bytes, max_bytes: int, *, form: int = ZLIB) -> Unpacked:
    """Return what `blob` packs, as far as it goes.

    Raises:
        TooLongError: The result is longer than `max_bytes`.
        ValueError: It is damaged.
    """
    unpacker, members, size = zlib.decompressobj(wbits=form), 1, 0
    pieces: list[bytes] = []
    for start in range(0, len(blob), _SLICE_BYTES):
        waiting = blob[start : start + _SLICE_BYTES]
        while waiting:
            if unpacker.eof:
                if form != GZIP or members == _MAX_MEMBERS or not waiting.startswith(MAGIC[: len(waiting)]):
                    return Unpacked(b"".join(pieces), is_whole=members < _MAX_MEMBERS)
                unpacker, members = zlib.decompressobj(wbits=form), members + 1
            pieces.append(_unpack(unpacker, waiting, max_bytes + 1 - size))
            size += len(pieces[-1])
            if size > max_bytes:
                raise TooLongError(f"it is longer than {max_bytes:,} bytes when decompressed")
            waiting = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    return Unpacked(b"".join(pieces), unpacker.eof)


def _unpack(unpacker: zlib._Decompress, packed: bytes, most: int) -> bytes:
    try:
        return unpacker.decompress(packed, most)
    except zlib.error as error:
        raise ValueError(str(error)) from None
