"""The journal of a verification: an SQLite file to which every answer is written the moment it arrives.

    asked and answered      `answered`: the answer as received; it is never asked for again
    read and accounted for  `done`: the row of the results, and the whole run for the debugger
    refused                 `refused`: the server's words; asked again the next time
    given up                `failed`: the row of the results; asked again the next time

A process may be killed between any two statements: what was committed stays, what was not is done again.
One process at a time works on a journal.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.machine import fault_of
from prompt_debugger.core.base.packed import unpack
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.report.wire import open_dense, trace_to_dense_line
from prompt_debugger.core.sandbox.values import admit

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rows (
  side INTEGER NOT NULL, data_index INTEGER NOT NULL, hash TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'open', attempts INTEGER NOT NULL DEFAULT 0,
  answer BLOB, row BLOB, trace BLOB,
  PRIMARY KEY (side, data_index)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_state ON rows (state, side, data_index);
"""


@admit
@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that waits to be read."""

    index: int
    attempts: int
    packed: bytes

    @property
    def document(self) -> JSONObject:
        """The run so far, as JSON."""
        return _unpacked(self.packed)


@admit
class Filed(NamedTuple):
    """An answer or refusal that was read, as it is kept: the calls that were lost, the row and the run, packed."""

    is_answer: bool
    lost: int
    row: bytes
    trace: bytes


def file_run(row: JSONObject, trace: Trace) -> Filed:
    """Return a row of the results and the run that it comes from as they are kept."""
    own = as_object(row["debugger"])
    lost = sum(int(str(own[name] or 0)) for name in ("dropped", "altered", "cut"))
    line = trace_to_dense_line(trace)
    return Filed(row["status"] == "success", lost, pack_document(row), zlib.compress(line.encode("ascii"), 1))


class Journal:
    """An open journal, made if it is not there; a context manager.

    Of a shared one others may read meanwhile, and threads of this process may write.
    """

    def __init__(self, path: Path, *, is_shared: bool = False) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))  # it holds answers as they came
            self._db = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=not is_shared)
            if not is_shared:
                self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_TABLES)
        except (sqlite3.Error, OSError) as error:
            raise _refusal(path, error) from None
        if self.fact("version", _VERSION) != _VERSION:
            raise RequestError(
                f"The journal {str(path)!r} was written by another version.", "Choose another with --journal."
            )
        self.note_fact("version", _VERSION)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def fact(self, key: str, default: JSON = None) -> JSON:
        """Return a value that was written."""
        found = self._do("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        value: JSON = default if found is None else json.loads(found[0])
        return value

    def note_fact(self, key: str, value: JSON) -> None:
        """Keep a value."""
        self._do("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def begin(self) -> None:
        """Reopen rows whose refusal was not read, so that they are asked again; call it before any work starts."""
        self._do("UPDATE rows SET state = 'open', answer = NULL WHERE state = 'refused'")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked for yet."""
        return self._do("SELECT 1 FROM rows LIMIT 1").fetchone() is None

    def forget(self) -> None:
        """Forget everything."""
        self._do_all("BEGIN; DELETE FROM rows; DELETE FROM meta; COMMIT;")
        self.note_fact("version", _VERSION)

    def must_ask(self, side: int, index: int, row_hash: str) -> bool:
        """Return whether a row is still to be asked for; one whose request has changed is started over."""
        found = self._do("SELECT hash, state FROM rows WHERE side = ? AND data_index = ?", (side, index)).fetchone()
        if found is not None and found[0] == row_hash:
            return found[1] not in ("answered", "done")
        self._do("INSERT OR REPLACE INTO rows (side, data_index, hash) VALUES (?, ?, ?)", (side, index, row_hash))
        return True

    def note_attempt(self, side: int, index: int) -> None:
        """Count an attempt that failed."""
        self._do("UPDATE rows SET attempts = attempts + 1 WHERE side = ? AND data_index = ?", (side, index))

    def note_answer(self, side: int, index: int, document: JSONObject) -> None:
        """Keep an answer; from now on it is never asked for again."""
        self._do(
            "UPDATE rows SET attempts = attempts + 1, state = 'answered', answer = ? WHERE side = ? AND data_index = ?",
            (pack_document(document), side, index),
        )

    def note_refusal(self, side: int, index: int, document: JSONObject) -> None:
        """Keep the server's refusal of a request until it is read."""
        self._do(
            "UPDATE rows SET state = 'refused', answer = ? WHERE side = ? AND data_index = ?",
            (pack_document(document), side, index),
        )

    def note_failure(self, side: int, index: int, row: JSONObject) -> None:
        """Note that a row was given up."""
        self._do(
            "UPDATE rows SET state = 'failed', row = ? WHERE side = ? AND data_index = ?",
            (pack_document(row), side, index),
        )

    def note_results(self, side: int, results: Mapping[int, Filed]) -> None:
        """Keep rows of the results, and the runs that they come from, in place of the bare answers; all or none."""
        query = "UPDATE rows SET state = ?, row = ?, trace = ?, answer = NULL WHERE side = ? AND data_index = ?"
        values = [
            ("done" if filed.is_answer else "failed", filed.row, filed.trace, side, index)
            for index, filed in results.items()
        ]
        if len(values) == 1:  # threads of `watch` write one at a time
            self._do(query, values[0])
            return
        self._do("BEGIN")
        try:
            for value in values:
                self._do(query, value)
        except BaseException:
            with suppress(sqlite3.Error):  # it was ended by what went wrong
                self._db.execute("ROLLBACK")
            raise
        self._do("COMMIT")

    def attempts(self, side: int, index: int) -> int:
        """Return how often a row was asked for."""
        found = self._do("SELECT attempts FROM rows WHERE side = ? AND data_index = ?", (side, index)).fetchone()
        return 0 if found is None else int(found[0])

    def next_answered(self, side: int, busy: Iterable[int], most: int) -> list[Answered]:
        """Return answers or refusals that are not being read yet, at most `most`; `busy` are those that are."""
        taken = set(busy)
        found: list[int] = []
        for state in ("answered", "refused"):
            query = "SELECT data_index FROM rows WHERE state = ? AND side = ? ORDER BY data_index LIMIT ?"
            waiting = self._do(query, (state, side, len(taken) + most))  # the index alone is read
            found += [int(index) for (index,) in waiting if index not in taken]
        return [self._answered(side, index) for index in found[:most]]

    def _answered(self, side: int, index: int) -> Answered:
        query = "SELECT attempts, answer FROM rows WHERE side = ? AND data_index = ?"
        attempts, blob = self._do(query, (side, index)).fetchone()
        return Answered(index, int(attempts), blob)

    def count(self, side: int, state: str) -> int:
        """Return how many rows are in a state."""
        found = self._do("SELECT COUNT(*) FROM rows WHERE side = ? AND state = ?", (side, state)).fetchone()
        return int(found[0])

    def rows(self, side: int) -> Iterator[JSONObject]:
        """Yield the rows of the results, by their number; another cursor may write meanwhile."""
        query = "SELECT row FROM rows WHERE side = ? AND state IN ('done', 'failed') ORDER BY data_index"
        for (blob,) in self._do(query, (side,)):
            yield _unpacked(blob)

    def trace(self, side: int, index: int) -> JSONObject | None:
        """Return the whole run of a row, as the document of a bundle."""
        found = self._do("SELECT trace FROM rows WHERE side = ? AND data_index = ?", (side, index)).fetchone()
        return None if found is None or found[0] is None else open_dense(_unpacked(found[0]))

    def row(self, side: int, index: int) -> JSONObject | None:
        """Return one row of the results."""
        found = self._do("SELECT row FROM rows WHERE side = ? AND data_index = ?", (side, index)).fetchone()
        return None if found is None or found[0] is None else _unpacked(found[0])

    def _do(self, query: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(query, values)
        except sqlite3.Error as error:
            raise _failure(self.path, error) from None

    def _do_all(self, script: str) -> None:
        try:
            self._db.executescript(script)
        except sqlite3.Error as error:
            raise _failure(self.path, error) from None


def _failure(path: Path, error: sqlite3.Error) -> DebuggerError:
    """Return why a statement failed; what was committed before it stays."""
    further = "The answers so far are in the journal: the same command continues from there."
    fault = fault_of(error, f"writing the journal {str(path)!r}", further=further)
    return fault or RequestError(f"The journal {str(path)!r} cannot be used: {error}.", field="--journal")


def _refusal(path: Path, error: Exception) -> DebuggerError:
    fault = fault_of(error, f"opening the journal {str(path)!r}")
    if fault is not None:
        return fault
    if "locked" in str(error):
        return RequestError(
            f"Another process is using the journal {str(path)!r}.", "Wait for it, or choose another with --journal."
        )
    return RequestError(f"Cannot use {str(path)!r} as a journal: {error}", field="--journal")


def pack_document(document: JSONObject) -> bytes:
    """Return a document as the journal keeps it."""
    text = json.dumps(document, separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 1)


def _unpacked(blob: bytes) -> JSONObject:
    document: JSONObject = json.loads(unpack(blob))
    return document
