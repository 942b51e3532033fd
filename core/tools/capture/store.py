"""Where exchanges are written: a folder with a file each, or one file with a line each.

Files are for their owner alone, a file of the folder appears whole or not at all, and a line is written in one go
after the end of the last. Anyone who writes holds a lock, so that two captures never number the same exchange.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.file_locks import lock_if_free
from prompt_debugger.core.base.machine import cannot_write
from prompt_debugger.core.tools.capture.limits import MAX_STORED_BYTES

_NUMBERED = re.compile(r"(\d{4,12})-[a-z-]+\.json")
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


class Store:
    """One folder, or one file if the name ends in `.jsonl`; made if it is not there.

    Raises:
        RequestError: It cannot be written, or another capture writes there.
    """

    def __init__(self, path: Path, most_bytes: int = MAX_STORED_BYTES) -> None:
        self.path = path
        self.is_file = path.suffix == ".jsonl"
        self._most = most_bytes
        try:
            self._open = self._open_file() if self.is_file else self._open_folder()
        except OSError as error:
            raise _cannot_write(path, error) from None
        if not lock_if_free(self._open):
            os.close(self._open)
            message = f"Another capture is writing to {str(path)!r}."
            raise RequestError(message, "Give another path with --out.", field="--out")
        self.next_number, self._size = self._count()

    def take_number(self) -> int:
        """Return the number of a new exchange, and count it."""
        self.next_number += 1
        return self.next_number - 1

    def write(self, number: int, kind: str, line: str) -> Path:
        """Write an exchange, and return its file.

        Raises:
            RequestError: It cannot be written, or the limit is reached.
        """
        data = f"{line}\n".encode("ascii")
        if self._size + len(data) > self._most:
            message = f"exchange {number} is not kept: {str(self.path)!r} would contain more than {self._most:,} bytes"
            raise RequestError(message, "Start again with another --out.", field="--out")
        try:
            file = self._append(data) if self.is_file else self._add(f"{number:04}-{kind}.json", data)
        except OSError as error:
            raise _cannot_write(self.path, error) from None
        self._size += len(data)
        return file

    def close(self) -> None:
        """Release the lock, so that others may write there."""
        os.close(self._open)

    def _open_folder(self) -> int:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _open_file(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(self.path, _FLAGS | os.O_APPEND, 0o600)

    def _count(self) -> tuple[int, int]:
        """Return the number of the next exchange, and the bytes stored so far; an unfinished last line is ended."""
        if not self.is_file:
            found = [(match, entry) for entry in self.path.iterdir() if (match := _NUMBERED.fullmatch(entry.name))]
            sizes = sum(entry.stat().st_size for _, entry in found)
            return max((int(match[1]) for match, _ in found), default=0) + 1, sizes
        last, lines, size = b"\n", 0, 0
        with self.path.open("rb") as file:
            while data := file.read(1 << 20):
                last, lines, size = data[-1:], lines + data.count(b"\n"), size + len(data)
        if last != b"\n":  # its writer was killed while writing
            os.write(self._open, b"\n")
            lines, size = lines + 1, size + 1
        return lines + 1, size

    def _append(self, data: bytes) -> Path:
        start = os.fstat(self._open).st_size
        try:
            _write_all(self._open, data)
        except OSError:  # a full disk: half a line would spoil the next
            with suppress(OSError):
                os.ftruncate(self._open, start)
            raise
        return self.path

    def _add(self, name: str, data: bytes) -> Path:
        part, whole = self.path / f".{name}.part", self.path / name
        opened = os.open(part, _FLAGS | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            _write_all(opened, data)
            os.close(opened)
            opened = -1
            part.rename(whole)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise
        finally:
            if opened >= 0:
                os.close(opened)
        return whole


def _write_all(opened: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(opened, rest) :]


def _cannot_write(path: Path, error: OSError) -> DebuggerError:
    return cannot_write(
        path, error, "exchanges", "Give a folder, or a file whose name ends in `.jsonl`, with --out.", field="--out"
    )
