"""A verification that was made: its journal or its results, read and never written.

results.sqlite   rows of up to two servers, and the whole run of each
results.jsonl    rows alone, ours or K2VV's
a report         the folder or page of `--report`: the journal or results next to it
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.packed import unpack
from prompt_debugger.core.base.types import JSON, Api, JSONObject
from prompt_debugger.core.report.wire import open_dense
from prompt_debugger.core.tools.verify.pairs import read_results

JOURNALS = (".sqlite", ".db")
_RESULTS = (".jsonl", ".json")
_WAIT_S = 2.0
_MAX_SIDES = 3  # chat completions, Responses and Messages
_MAX_BYTES = 256 << 20  # of one row, unpacked


@dataclass(frozen=True, slots=True)
class Stored:
    """One server's rows of a verification; in a journal side 1 is what the server, side 0, was compared with."""

    path: Path
    side: int = 0
    endpoint: str = ""
    started_at: str = ""
    api: Api | None = None

    @property
    def is_journal(self) -> bool:
        """Whether it holds whole runs."""
        return self.path.suffix in JOURNALS

    @property
    def name(self) -> str:
        """What it is called where two are side by side."""
        name = f"{self.path.absolute().parent.name}/{self.path.name}"
        if self.api is not None:
            return f"{name}, {self.api.label}"
        return f"{name}, second server" if self.side else name

    def rows(self) -> Iterator[JSONObject]:
        """Yield the rows by their number.

        Raises:
            RequestError: The file cannot be read, or contains no rows.
        """
        if not self.is_journal:
            yield from read_results(self.path)
            return
        query = "SELECT row FROM rows WHERE side = ? AND state IN ('done', 'failed') AND row IS NOT NULL"
        with _opened(self.path) as journal:
            for (blob,) in _asked(journal, self.path, f"{query} ORDER BY data_index", (self.side,)):
                yield _unpacked(blob, self.path)

    def trace(self, index: int) -> JSONObject | None:
        """Return the whole run of a row, as the document of a bundle; `None` if it is not kept."""
        if not self.is_journal:
            return None
        query = "SELECT trace FROM rows WHERE side = ? AND data_index = ? AND trace IS NOT NULL"
        with _opened(self.path) as journal:
            found = list(_asked(journal, self.path, query, (self.side, index)))
        if not found:
            return None
        try:
            return open_dense(_unpacked(found[0][0], self.path))
        except ValueError:
            raise _damage("a run", self.path) from None

    def row(self, index: int) -> JSONObject | None:
        """Return one row; `None` if there is none of that number."""
        return next((row for row in self.rows() if row.get("data_index") == index), None)

    def clients(self) -> dict[int, str]:
        """Return what clients call themselves, by row; only `watch` keeps that."""
        return {int(str(index)): str(client) for index, client in self._watched("data_index, client FROM seen")}

    def unread(self) -> dict[str, int]:
        """Return how many exchanges `watch` did not read, by reason."""
        reasons = "CASE WHEN reason = '' THEN 'not read yet' ELSE reason END"
        states = "WHERE state IN ('answered', 'unread')"
        query = f"{reasons}, COUNT(*) FROM seen JOIN rows USING (data_index) {states} GROUP BY 1"
        return {str(reason): int(str(count)) for reason, count in self._watched(query)}

    def unread_lines(self) -> Iterator[str]:
        """Yield exchanges that `watch` did not read, as `capture` writes them."""
        for (blob,) in self._watched("answer FROM seen JOIN rows USING (data_index) WHERE answer IS NOT NULL"):
            yield json.dumps(_unpacked(blob, self.path))

    def _watched(self, query: str) -> Iterator[tuple[JSON, ...]]:
        if not self.is_journal:
            return
        with _opened(self.path) as journal:
            if list(journal.execute("SELECT 1 FROM sqlite_master WHERE name = 'seen' AND type = 'table'")):
                yield from _asked(journal, self.path, f"SELECT {query}")


def open_stored(source: str) -> tuple[Stored, ...]:
    """Return the sides of a verification: one, two servers, or one server by up to three APIs.

    The source is a journal, a file of results, or a folder with one of them.

    Raises:
        RequestError: There is none.
    """
    path = _found(Path(source).expanduser())
    if path.suffix in _RESULTS:
        return (Stored(path),)
    with _opened(path) as journal:
        meta = {key: _read_meta(value, path) for key, value in _asked(journal, path, "SELECT key, value FROM meta")}
        query = "SELECT DISTINCT side FROM rows WHERE typeof(side) = 'integer' ORDER BY side LIMIT ?"
        sides = [int(str(side)) for (side,) in _asked(journal, path, query, (_MAX_SIDES,))]
    identity = as_object(meta.get("identity"))
    endpoints, apis = (_texts(identity.get(name)) for name in ("endpoints", "apis"))
    if not sides:
        raise RequestError(f"The journal {str(path)!r} has no rows yet.", "Wait for the first answers.")
    return tuple(
        Stored(
            path,
            side,
            endpoints[side] if side < len(endpoints) else "",
            str(meta.get("started_at") or ""),
            Api(apis[side]) if side < len(apis) and apis[side] in [*Api] else None,
        )
        for side in sides
    )


def _texts(value: JSON) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _read_meta(value: JSON, path: Path) -> JSON:
    try:
        read: JSON = json.loads(str(value))
        return read
    except (ValueError, RecursionError):
        raise _damage("The metadata", path) from None


def _found(path: Path) -> Path:
    """Return the file that a path means."""
    if path.is_file() and path.suffix in (*JOURNALS, *_RESULTS):
        return path
    folder = path if path.is_dir() else path.parent if path.suffix == ".html" and path.is_file() else None
    if folder is None:
        raise RequestError(
            f"There is no verification at {str(path)!r}.",
            "Give the results.sqlite or results.jsonl that `verify` wrote.",
        )
    places = [place / name for place in (folder, folder.parent) for name in ("results.sqlite", "results.jsonl")]
    if found := next((place for place in places if place.is_file()), None):
        return found
    raise RequestError(f"There is no results.sqlite in {str(folder)!r}.", "Give the journal that `verify` wrote.")


def _opened(path: Path) -> closing[sqlite3.Connection]:
    """Open a journal, which someone else may have made: its rows are in tables, and none is longer than is read."""
    try:
        journal = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
        journal.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
        made = dict(journal.execute("SELECT name, sql FROM sqlite_master WHERE name IN ('meta', 'rows', 'seen')"))
        if not all(str(sql).upper().startswith("CREATE TABLE") for sql in made.values()):  # a view could run forever
            journal.close()
            raise sqlite3.DatabaseError("its rows are computed")
    except sqlite3.Error as error:
        raise _refusal(path, error) from None
    return closing(journal)


def _asked(
    journal: sqlite3.Connection, path: Path, query: str, values: tuple[int, ...] = ()
) -> Iterator[tuple[JSON, ...]]:
    try:
        yield from journal.execute(query, values)
    except sqlite3.Error as error:
        raise _refusal(path, error) from None


def _refusal(path: Path, error: sqlite3.Error) -> RequestError:
    if "locked" in str(error):
        return RequestError(f"A verification is using {str(path)!r}.", "Open it when the verification has ended.")
    return RequestError(
        f"{str(path)!r} is not a journal of `verify`: {error}", "Give the results.sqlite that it wrote."
    )


def _unpacked(blob: JSON, path: Path) -> JSONObject:
    try:
        document: JSON = json.loads(unpack(blob, _MAX_BYTES))  # type: ignore[arg-type]  # sqlite gives bytes
    except (TypeError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise _damage("A row", path)
    return document


def _damage(damage: str, path: Path) -> RequestError:
    return RequestError(
        f"{damage} of {str(path)!r} cannot be read.", "The file is damaged, or was written by another program."
    )
