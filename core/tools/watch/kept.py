"""Exchanges that went by, in a journal of `verify`: without keys, up to a size and an age, the oldest leave first.

answered   written down and not read yet: the line that `capture` writes
done, failed   read: the row of the results, and the whole run
unread     not read, and why: too many at once, too long, no JSON
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from prompt_debugger.core.base.clock import Age
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.file_locks import lock_if_free
from prompt_debugger.core.base.machine import cannot_write
from prompt_debugger.core.base.packed import unpack
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.tools.verify.journal import Journal

_SEEN = """
CREATE TABLE IF NOT EXISTS seen (
  data_index INTEGER PRIMARY KEY, at REAL NOT NULL, client TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT ''
);
"""
_OUTBOX = """
CREATE TABLE IF NOT EXISTS outbox (data_index INTEGER PRIMARY KEY);
CREATE TRIGGER IF NOT EXISTS into_outbox AFTER UPDATE OF state ON rows WHEN NEW.state IN ('done', 'failed', 'unread')
BEGIN INSERT OR IGNORE INTO outbox VALUES (NEW.data_index); END;
"""
_LOOK_EVERY = 64  # exchanges between two looks at size and age
_LEAVE_AT_ONCE = 100
_FREE_S = 3.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept."""

    most_bytes: int = 1 << 30
    most_age_s: float = 30 * 86_400.0


class Finished(NamedTuple):
    """An exchange that waits for nothing more: as it was read, or why it was not.

    Attributes:
        number: Its number.
        at: When it was written down, in seconds since 1970.
        client: What its client calls itself.
        state: As in the file.
        reason: Why it was not read; "" if it was.
        answer: The line that `capture` writes, packed, where it was not read.
        row: Of the results, packed.
        trace: The whole run, packed.
    """

    number: int
    at: float
    client: str
    state: str
    reason: str
    answer: bytes | None
    row: bytes | None
    trace: bytes | None


class KeptExchanges(Journal):
    """A journal of what goes by, for the one who writes exchanges down and reads them."""

    def __init__(self, path: Path, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._age = Age()
        self._until_look = 0
        super().__init__(path, is_shared=True)

    def write(self, number: int, kind: str, line: str) -> Path:
        """Keep an exchange; from now on it outlives this process. The line says of which kind it is."""
        self._until_look -= 1
        if self._until_look < 0:
            self._until_look = _LOOK_EVERY
            self.leave()
        blob = zlib.compress(line.encode("utf-8"), 1)
        self._do("INSERT OR REPLACE INTO seen (data_index, at) VALUES (?, ?)", (number, self._age.stamp()))
        self._do(
            "INSERT OR REPLACE INTO rows (side, data_index, hash, state, attempts, answer) VALUES (0, ?, '', "
            "'answered', 1, ?)",
            (number, blob),
        )
        return self.path

    def line(self, number: int) -> str | None:
        """Return what was written down of an exchange; `None` once it has left."""
        found = self._do("SELECT answer FROM rows WHERE side = 0 AND data_index = ?", (number,)).fetchone()
        return None if found is None or found[0] is None else unpack(found[0]).decode("utf-8")

    def waiting(self) -> Iterator[int]:
        """Yield the numbers of exchanges that wait to be read."""
        for (number,) in self._do("SELECT data_index FROM rows WHERE state = 'answered' ORDER BY data_index"):
            yield int(number)

    def note_client(self, number: int, client: str) -> None:
        """Note what the client of an exchange calls itself."""
        self._do("UPDATE seen SET client = ? WHERE data_index = ?", (client, number))

    def note_unread(self, number: int, reason: str) -> None:
        """Note that an exchange is not read, and why."""
        self._do("UPDATE seen SET reason = ? WHERE data_index = ?", (reason, number))
        self._do("UPDATE rows SET state = 'unread' WHERE side = 0 AND data_index = ?", (number,))

    def open_outbox(self) -> None:
        """Collect what is finished from now on, and what is so far, until it is taken out."""
        is_new = self._do("SELECT 1 FROM sqlite_master WHERE name = 'outbox'").fetchone() is None
        self._do_all(_OUTBOX)
        if is_new:
            self._do(
                "INSERT OR IGNORE INTO outbox SELECT data_index FROM rows WHERE state IN ('done', 'failed', 'unread')"
            )

    def in_outbox(self, most: int) -> tuple[list[int], list[Finished]]:
        """Return the numbers of exchanges that were not taken out, and those of them that have not left."""
        numbers = [
            int(one) for (one,) in self._do("SELECT data_index FROM outbox ORDER BY data_index LIMIT ?", (most,))
        ]
        query = (
            "SELECT data_index, at, client, state, reason, answer, row, trace FROM seen JOIN rows USING (data_index) "
            "WHERE side = 0 AND data_index = ?"
        )
        return numbers, [Finished(*row) for number in numbers for row in self._do(query, (number,))]

    def put(self, one: Finished) -> None:
        """Take over an exchange of another file."""
        self._do("INSERT INTO seen VALUES (?, ?, ?, ?)", (one.number, one.at, one.client, one.reason))
        self._do(
            "INSERT INTO rows (side, data_index, hash, state, attempts, answer, row, trace) VALUES (0, ?, '', ?, 1, ?, "
            "?, ?)",
            (one.number, one.state, one.answer, one.row, one.trace),
        )

    def take_out(self, numbers: Iterable[int]) -> None:
        """Take exchanges out of the outbox."""
        for number in numbers:
            self._do("DELETE FROM outbox WHERE data_index = ?", (number,))

    def leave(self) -> None:
        """Let the oldest go until size and age are kept."""
        self._drop("at < ?", self._age.before(self._bounds.most_age_s))
        while self._size() > self._bounds.most_bytes and self._drop(
            "data_index IN (SELECT data_index FROM seen ORDER BY data_index LIMIT ?)", _LEAVE_AT_ONCE
        ):
            pass

    def _drop(self, condition: str, value: float) -> int:
        self._do(f"DELETE FROM rows WHERE data_index IN (SELECT data_index FROM seen WHERE {condition})", (value,))
        count = self._do(f"DELETE FROM seen WHERE {condition}", (value,)).rowcount
        if count > 0:
            self.note_fact("left", int(str(self.fact("left", 0))) + count)
        return count

    def _size(self) -> int:
        pages, free, size = (
            int(self._do(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


class WatchJournal(KeptExchanges):
    """An open journal of what goes by; a context manager.

    One process at a time adds exchanges, and another notes what was read in them.

    Args:
        path: The file; made if it is not there.
        upstream: The server.
        bounds: How much is kept.

    Attributes:
        lock: The file's lock, an open descriptor.

    Raises:
        RequestError: It cannot be used.
    """

    def __init__(self, path: Path, upstream: str, bounds: Bounds | None = None) -> None:
        if path.suffix not in (".sqlite", ".db"):
            raise RequestError(
                f"The name {path.name!r} does not end in `.sqlite`.", "Choose another with --store.", field="--store"
            )
        self.lock = _lock(path)
        super().__init__(path, bounds)
        self._do_all(_SEEN)
        identity: JSON = {"endpoints": [upstream], "watched": True}
        found = self.fact("identity")
        if not isinstance(found, dict) or not found.get("watched"):
            if found is not None or not self.is_empty:
                raise RequestError(
                    f"{str(path)!r} is the journal of a verification.", "Choose another with --store.", field="--store"
                )
            self.note_fact("started_at", datetime.now(UTC).isoformat(timespec="milliseconds"))
        self.note_fact("identity", identity)
        (self._number,) = self._do("SELECT COALESCE(MAX(data_index), 0) FROM rows").fetchone()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        os.close(self.lock)

    def take_number(self) -> int:
        """Return the number of an exchange that begins."""
        self._number += 1
        return int(self._number)


def _lock(path: Path) -> int:
    """Take the file for this process and its helper; it is free again when both have ended, however they end.

    The helper of a proxy that was killed still writes down what it was given: a new one waits for that.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))  # for its owner alone
        lock = os.open(path.with_name(f"{path.name}.lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise cannot_write(path, error, "exchanges", "Choose another with --store.", field="--store") from None
    end_s = time.monotonic() + _FREE_S
    while not lock_if_free(lock):
        if time.monotonic() > end_s:
            os.close(lock)
            message = f"Another `watch` is writing to {str(path)!r}."
            raise RequestError(message, "Choose another with --store.", field="--store")
        time.sleep(0.1)
    return lock
