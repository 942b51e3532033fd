"""Unpack what was packed with zlib, up to a limit: a small file from outside may unpack to a huge one."""

from __future__ import annotations

import zlib
from typing import NamedTuple

MAX_BYTES = 256 * 1024 * 1024  # of one document of a journal
ZLIB = zlib.MAX_WBITS
GZIP = 16 + zlib.MAX_WBITS


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
    unpacker = zlib.decompressobj(wbits=form)
    try:
        data = unpacker.decompress(blob, max_bytes + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(data) > max_bytes:
        raise TooLongError(f"it is longer than {max_bytes:,} bytes when decompressed")
    return Unpacked(data, unpacker.eof)
