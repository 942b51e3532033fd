"""Frames between a sandbox's client and its processes: 8 bytes of length, then a pickle that may name nothing.

A pickle is dangerous because it can name functions to call. Ours never do: values
are made plain before (`core.sandbox.values`), and a pickle that names anything is refused.

Writing or reading a large one is one long step of C in which no other thread has its turn, the event loop's among
them. So pickles are written to, and read from, files in Python: those are asked for each 64 KB of small values.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn

from prompt_debugger.core.sandbox.values import UnknownValueError, decode_value, encode_value

HEADER = 8


class _Plain(pickle.Unpickler):
    """Reads containers, numbers and texts."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise UnknownValueError(f"a frame names `{module}.{name}`")


class _Sink:
    """A file to write to."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = [b""]

    def write(self, piece: bytes) -> int:
        """Take a piece."""
        self.pieces.append(piece)
        return len(piece)


class _Source:
    """A file to read from."""

    def __init__(self, body: bytes | bytearray | memoryview) -> None:
        self._body = memoryview(body)
        self._at = 0

    def read(self, size: int) -> bytes:
        """Give a piece; a shorter one at the end."""
        piece = bytes(self._body[self._at : self._at + size])
        self._at += len(piece)
        return piece

    def readinto(self, buffer: memoryview) -> int:
        """Fill a buffer, as far as there is something."""
        piece = self._body[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def readline(self) -> bytes:
        """Give a line: what old kinds of pickles have, and ours have not."""
        raise UnknownValueError("a frame has a line")


def pack(value: object) -> bytes:
    """Return a frame.

    Raises:
        UnknownValueError: The value cannot travel.
    """
    sink = _Sink()
    try:
        with uncollected():
            pickle.Pickler(sink, protocol=5).dump(encode_value(value))
    except RecursionError:
        raise UnknownValueError("it is nested too deeply") from None
    sink.pieces[0] = sum(map(len, sink.pieces)).to_bytes(HEADER, "big")
    return b"".join(sink.pieces)


def unpack(body: bytes | bytearray | memoryview) -> object:
    """Return what the body of a frame says; trusts nothing in it.

    Raises:
        UnknownValueError: It says nothing that can be understood.
    """
    try:
        with uncollected():
            return decode_value(_Plain(_Source(body)).load())
    except UnknownValueError:
        raise
    except Exception as error:  # noqa: BLE001 - a broken pickle fails in many ways
        raise UnknownValueError(f"{type(error).__name__}: {error}") from None


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector from looking at a hundred thousand new records again and again: half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def frame_size(data: bytearray) -> int | None:
    """Return the size of the frame that begins in `data`; `None` if its header is incomplete."""
    return None if len(data) < HEADER else HEADER + int.from_bytes(data[:HEADER], "big")


def read_frame(stream: BinaryIO) -> object:
    """Return what the next frame says.

    Raises:
        EOFError: The stream has ended.
    """
    header = stream.read(HEADER)
    size = int.from_bytes(header, "big")
    body = stream.read(size) if len(header) == HEADER else b""
    if len(header) < HEADER or len(body) < size:
        raise EOFError
    return unpack(body)
