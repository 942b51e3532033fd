"""Unpack what was packed with zlib, up to a limit: a file that others sent may hold a little that becomes a lot."""

from __future__ import annotations

import zlib

MOST_BYTES = 256 * 1024 * 1024  # of one document of a journal


def unpack(blob: bytes, most_bytes: int = MOST_BYTES) -> bytes:
    """Return what `blob` packs.

    Raises:
        ValueError: It is not whole, or longer than the limit.

    >>> unpack(zlib.compress(b"abc"))
    b'abc'
    """
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(blob, most_bytes)
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked: {error}") from None
    if not unpacker.eof:
        raise ValueError(f"it is cut, or longer than {most_bytes:,} bytes")
    return text
