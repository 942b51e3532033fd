"""Exchanges of several proxies in one PostgreSQL: each copies there what it has read in its own file.

    proxy ──► its SQLite file ──► read ──► Copier ──► PostgreSQL ──► save ──► a SQLite file, which everything opens

The file comes first, so a database that is away for a while loses nothing and holds no one up: what is missing there
is copied when it is back, or at the next start. A row has the proxy's name and the number that the exchange has there,
so nothing is copied twice.
"""

from __future__ import annotations

import importlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from prompt_debugger.core.base.clock import Age
from prompt_debugger.core.base.egress import open_egress
from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.packed import unpack
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.watch.kept import Bounds, Finished, KeptExchanges, WatchJournal

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[object, ...]]

SCHEMES = ("postgresql://", "postgres://")
_TABLES = """
CREATE TABLE IF NOT EXISTS prompt_debugger_exchanges (
  id BIGSERIAL UNIQUE, proxy TEXT NOT NULL, number BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL,
  upstream TEXT NOT NULL, client TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  answer BYTEA, result BYTEA, trace BYTEA, size BIGINT NOT NULL, PRIMARY KEY (proxy, number)
);
CREATE INDEX IF NOT EXISTS prompt_debugger_exchanges_at ON prompt_debugger_exchanges (at);
"""
_INSERT = (
    "INSERT INTO prompt_debugger_exchanges (proxy, number, at, upstream, client, state, reason, answer, result, trace, "
    "size) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (proxy, number) DO NOTHING"
)
_ALL = "SELECT id, at, client, state, reason, answer, result, trace FROM prompt_debugger_exchanges ORDER BY id"
_NO_BOUNDS = Bounds(1 << 50, 1e12)
_DELETE = (
    "DELETE FROM prompt_debugger_exchanges WHERE id IN (SELECT id FROM prompt_debugger_exchanges ORDER BY at LIMIT %s)"
)
_MAKING = 0x7064  # of the lock under which tables are made
_LEAVING = 0x7065  # of the one under which the oldest are deleted
_AT_ONCE = 100
_EVERY_S = 1.0
_AGAIN_S = 5.0
_LOOK_EVERY_S = 60.0  # at size and age: the sizes of all exchanges are added up for it
_CONNECT_S = 10
_END_S = 20.0


def is_shared(store: str) -> bool:
    """Return whether a store is a database that several proxies share."""
    return store.startswith(SCHEMES)


def shown(url: str) -> str:
    """Return the address of a database without its user, password and options."""
    place = url.partition("://")[2].partition("?")[0]
    return f"postgresql://{place.rpartition('@')[2]}"


def _psycopg() -> ModuleType:
    try:
        return importlib.import_module("psycopg")
    except ImportError:
        raise RequestError(
            "A PostgreSQL database needs `psycopg`, which is not installed.",
            "`pip install 'prompt-debugger[postgresql]'` installs it.",
            field="--store",
        ) from None


@contextmanager
def _connected(url: str, field: str) -> Iterator[Connection]:
    """Give an open connection; what goes wrong with the database is a `RequestError`."""
    psycopg = _psycopg()
    connection = None
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
        with open_egress("database", *str(parts.get("host") or "localhost").split(",")):
            connection = psycopg.connect(url, connect_timeout=_CONNECT_S)
        with connection:
            yield connection
    except psycopg.Error as error:
        # What does not parse is quoted, password and all.
        reason = (
            "it is not an address"
            if isinstance(error, psycopg.ProgrammingError) and connection is None
            else _first_words(error)
        )
        raise RequestError(
            f"The database {shown(url)} cannot be used: {reason}.",
            "Check that it runs, and that user and password are right (`PGUSER`, `PGPASSWORD`).",
            field=field,
        ) from None


def _first_words(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def prepare(url: str) -> None:
    """Make the tables, unless they are there.

    Raises:
        RequestError: The database cannot be used.
    """
    with _connected(url, "--store") as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        connection.execute(_TABLES)


class Copier:
    """Copies what a proxy has read to the database, in its own thread; says once that it is away, or back."""

    def __init__(self, url: str, file: Path, upstream: str, bounds: Bounds, report: Callable[[str], None]) -> None:
        self._url, self._file, self._upstream, self._bounds, self._report = url, file, upstream, bounds, report
        self._is_over = Event()
        self._age = Age()
        self._is_away = False
        self._next_look_s = 0.0
        self._thread = Thread(target=self._run, name="watch-copier", daemon=True)

    def start(self) -> None:
        """Begin.

        Raises:
            RequestError: The database cannot be used now, at the start.
        """
        prepare(self._url)
        self._thread.start()

    def end(self) -> None:
        """Copy what is left and end; what cannot be copied now is copied at the next start."""
        self._is_over.set()
        self._thread.join(_END_S)

    def _run(self) -> None:
        with KeptExchanges(self._file) as kept:
            kept.open_outbox()
            name = str(kept.fact("proxy") or uuid4().hex)
            kept.note_fact("proxy", name)
            while True:
                is_last = self._is_over.is_set()
                try:
                    with _connected(self._url, "--store") as connection:
                        self._back()
                        self._copy_until_end(kept, name, connection, is_last=is_last)
                        return
                except DebuggerError as error:
                    self._away(error)
                if is_last or self._is_over.wait(_AGAIN_S):
                    return

    def _copy_until_end(self, kept: KeptExchanges, name: str, connection: Connection, *, is_last: bool) -> None:
        while True:
            numbers, exchanges = kept.in_outbox(_AT_ONCE)
            if numbers:
                with connection.cursor() as cursor:
                    cursor.executemany(_INSERT, [self._values(name, one) for one in exchanges])
                connection.commit()
                kept.take_out(numbers)
                if monotonic() >= self._next_look_s:
                    self._next_look_s = monotonic() + _LOOK_EVERY_S
                    self._leave(connection)
            elif is_last:
                return
            else:
                is_last = self._is_over.wait(_EVERY_S)

    def _values(self, name: str, one: Finished) -> tuple[object, ...]:
        # No text of a database contains a NUL.
        texts = [text.replace("\0", "\ufffd") for text in (one.client, one.state, one.reason)]
        blobs = (one.answer, one.row, one.trace)
        return name, one.number, one.at, self._upstream, *texts, *blobs, sum(len(blob or b"") for blob in blobs)

    def _leave(self, connection: Connection) -> None:
        """Let the oldest go until size and age are kept; one proxy at a time looks."""
        if _one(connection, "SELECT pg_try_advisory_xact_lock(%s)", _LEAVING) is True:
            connection.execute(
                "DELETE FROM prompt_debugger_exchanges WHERE at < %s", (self._age.before(self._bounds.most_age_s),)
            )
            while (
                int(str(_one(connection, "SELECT COALESCE(SUM(size), 0) FROM prompt_debugger_exchanges")))
                > self._bounds.most_bytes
                and connection.execute(_DELETE, (_AT_ONCE,)).rowcount
            ):
                pass
        connection.commit()

    def _away(self, error: DebuggerError) -> None:
        if not self._is_away:
            self._report(f"{error.message} Exchanges stay in {self._file} until it can be used again.")
        self._is_away = True

    def _back(self) -> None:
        if self._is_away:
            self._report(f"The database {shown(self._url)} can be used again.")
        self._is_away = False


def save(url: str, path: Path) -> int:
    """Write what a database holds into a file of `watch`, which everything opens; return how many exchanges.

    Args:
        url: The database.
        path: The file; exchanges have the numbers that they have in the database.

    Raises:
        RequestError: The database cannot be used or contains no exchanges, or the file already exists.
    """
    if path.exists():
        raise RequestError(f"{str(path)!r} already exists.", "Choose another with --save.", field="--save")
    count = 0
    with _connected(url, "--open") as connection:
        if _one(connection, "SELECT to_regclass('prompt_debugger_exchanges')") is None:
            message = f"The database {shown(url)} holds no exchanges of `watch`."
            raise RequestError(message, "Give the address that `watch --store` was given.", field="--open")
        with WatchJournal(path, shown(url), _NO_BOUNDS) as journal, connection.cursor("exchanges") as cursor:
            cursor.execute(_ALL)  # by name, so that the server keeps what is not read yet
            for one in starmap(Finished, cursor):
                journal.put(one if one.row is None else one._replace(row=_numbered(one.row, one.number)))
                count += 1
    return count


def _one(connection: Connection, query: str, *values: object) -> object:
    found = connection.execute(query.encode("ascii"), values).fetchone()
    return None if found is None else found[0]


def _numbered(blob: bytes, number: int) -> bytes:
    row: JSONObject = json.loads(unpack(bytes(blob)))
    return zlib.compress(json.dumps({**row, "data_index": number}, separators=(",", ":")).encode("ascii"), 1)
