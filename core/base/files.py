"""Read and write what someone names on a command line: no more is read than can be used, and files appear whole.

A name may be that of a device that never ends, of a pipe that no one writes to, or of a file as large as the disk.
So kind and size are looked at first, and the size once more while it is read: a file may grow, a pipe has none.
"""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.machine import cannot_write, fault_of

MAX_FILE_BYTES: Final = 256 << 20
MAX_LINE_BYTES: Final = 64 << 20
_PIECE_BYTES: Final = 1 << 20
_WRITER_S: Final = 5.0  # for someone to begin to write to a named pipe
_LOOK_AGAIN_S: Final = 0.05


def read_named(name: str, *, most_bytes: int = MAX_FILE_BYTES, writer_s: float = _WRITER_S) -> bytes:
    """Return what is in a file or comes out of a pipe.

    Args:
        name: Its path; `-` for standard input.
        most_bytes: More is refused.
        writer_s: How long to wait for someone to write to a named pipe.

    Raises:
        RequestError: It cannot be read, is of a kind that is not read, or is too long.
        MachineError: The machine could not read it.
    """
    try:
        if name == "-":
            return _read(0, name, most_bytes)
        refuse_kind(name)
        number = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(number)
            if stat.S_ISREG(found.st_mode) and found.st_size > most_bytes:
                raise _too_long(name, most_bytes)
            begun = _await_writer(number, name, writer_s) if stat.S_ISFIFO(found.st_mode) else b""
            return _read(number, name, most_bytes, begun)
        finally:
            os.close(number)
    except (OSError, MemoryError) as error:
        raise unreadable(name, error) from None


def write_named(
    name: str | Path,
    parts: Iterable[str],
    *,
    subject: str = "",
    encoding: str = "utf-8",
    errors: str = "strict",
    field: str | None = None,
) -> None:
    """Write a file and the folders it is in; on a full disk what was there before stays as it was.

    Args:
        name: Its path.
        parts: The text.
        subject: What it is, for the error; "" for the file itself.
        encoding: Of the file.
        errors: What to do with characters that the encoding has not.
        field: The option that named it, for the error.

    Raises:
        RequestError: It cannot be written.
        MachineError: The machine could not write it.
    """
    path = Path(name)
    part = path.with_name(f"{path.name}.part") if path.is_file() or not path.exists() else path  # a pipe stays one
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("w", encoding=encoding, errors=errors) as file:
                file.writelines(parts)
            if part != path:
                part.replace(path)
        except OSError:
            if part != path:
                with suppress(OSError):
                    part.unlink()
            raise
    except OSError as error:
        raise cannot_write(str(path), error, subject, field=field) from None


def refuse_kind(name: str) -> None:
    """Refuse what has no text in it: a folder, a device; a terminal may be typed at.

    Raises:
        RequestError: It is such a thing.
        OSError: It is not there.
    """
    mode = Path(name).stat().st_mode
    if stat.S_ISDIR(mode):
        raise RequestError(f"Cannot read {name!r}: it is a folder.", "Give a file in it.")
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and not _is_terminal_or_nothing(name)):
        raise RequestError(f"Cannot read {name!r}: it is a device, not a file.", "Give a file, or `-` for a pipe.")


def unreadable(name: str, error: OSError | MemoryError) -> DebuggerError:
    """Return the error for a file that cannot be read."""
    fault = fault_of(error, f"reading {name!r}")
    if fault is not None:
        return fault
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return RequestError(f"Cannot read {name!r}: {reason}.")


def _is_terminal_or_nothing(name: str) -> bool:
    if os.path.realpath(name) == os.devnull:
        return True
    number = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        return os.isatty(number)
    finally:
        os.close(number)


def _await_writer(number: int, name: str, writer_s: float) -> bytes:
    """Return the first byte of a pipe, if there is any; who has begun to write may take as long as it takes."""
    deadline = time.monotonic() + writer_s
    while True:
        try:
            begun = os.read(number, 1)
        except BlockingIOError:  # there is a writer, who has written nothing yet
            _wait(number, None)
            continue
        if begun or time.monotonic() > deadline:
            break
        _wait(number, _LOOK_AGAIN_S)
    if not begun:
        raise RequestError(
            f"Nothing was received through the pipe {name!r}.",
            "Start the program that writes to it first, or give a file.",
        )
    return begun


def _wait(number: int, seconds: float | None) -> None:
    """Wait until something can be read; at the end of a pipe without a writer, for that many seconds."""
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    if waiting.poll(None if seconds is None else seconds * 1000) and seconds is not None:
        time.sleep(seconds)  # a pipe whose last writer has gone is ready at once


def _read(number: int, name: str, most_bytes: int, begun: bytes = b"") -> bytes:
    pieces = [begun]
    size = len(begun)
    while True:
        try:
            piece = os.read(number, min(_PIECE_BYTES, most_bytes + 1 - size))
        except BlockingIOError:
            _wait(number, None)
            continue
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            raise _too_long(name, most_bytes)


def _too_long(name: str, most_bytes: int) -> RequestError:
    whose = "Standard input" if name == "-" else repr(name)
    return RequestError(
        f"{whose} is longer than {most_bytes >> 20} MB, the maximum that is read at once.",
        "Select a part of it. For many requests, read them line by line with `--cases` or `verify`.",
    )
