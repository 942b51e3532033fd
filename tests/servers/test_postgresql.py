"""Several proxies share a real PostgreSQL: each exchange is there once, and nothing is lost while it is away."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from prompt_debugger.core.base import clock
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.tools.verify.stored import open_stored
from prompt_debugger.core.tools.watch import open_watched
from prompt_debugger.core.tools.watch.kept import Bounds
from prompt_debugger.core.tools.watch.shared import Copier, prepare, save, shown
from prompt_debugger.ui.cli.main import main
from tests.core.complete.faulty_server import answer, faulty_server
from tests.core.tools.capture.capturing import patient_client
from tests.core.tools.watch.test_watch import ASKED, HEALTHY, KEY, LEAKS
from tests.core.tools.watch.watching import watching
from tests.patience import PATIENCE_S
from tests.servers import postgresql

pytestmark = [
    pytest.mark.servers,
    pytest.mark.slow,
    pytest.mark.skipif(postgresql.find() is None, reason="PostgreSQL is not installed: `make postgresql`"),
]
psycopg: Any = pytest.importorskip("psycopg", reason="psycopg is not installed: `make setup`")

INSERT = (
    "INSERT INTO prompt_debugger_exchanges (proxy, number, at, upstream, client, state, reason, size) "
    "SELECT 'p', n, EXTRACT(EPOCH FROM now()) - n, 'u', '', 'unread', 'r', 1000 FROM generate_series(1, 1000) n"
)


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Database]:
    with postgresql.database() as running:
        yield running


@pytest.fixture
def url(server: postgresql.Database) -> str:
    """An empty database."""
    with psycopg.connect(server.url) as connection:
        connection.execute("DROP TABLE IF EXISTS prompt_debugger_exchanges")
    return server.url


def count(url: str) -> int:
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT to_regclass('prompt_debugger_exchanges')").fetchone()[0] is None:
            return 0
        return int(connection.execute("SELECT COUNT(*) FROM prompt_debugger_exchanges").fetchone()[0])


async def test_two_proxies_share_it_and_each_exchange_is_there_once(tmp_path: Path, url: str) -> None:
    headers: Any = {"authorization": f"Bearer {KEY}", "user-agent": "client\u00e9".encode("latin-1")}
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    async with (
        faulty_server({"/v1/chat/completions": answer(200, HEALTHY)}) as healthy,
        faulty_server({"/v1/chat/completions": answer(200, LEAKS)}) as leaking,
        watching(healthy.base_url, one, shared=url) as first,
        watching(leaking.base_url, two, shared=url) as second,
        patient_client() as client,
    ):
        for watch, times in ((first, 3), (second, 2)):
            for _ in range(times):
                got = await client.post(f"{watch.base_url}/chat/completions", json=ASKED, headers=headers)
                assert got.status_code == 200

    assert count(url) == 5
    assert save(url, tmp_path / "all.sqlite") == 5
    counts = open_watched(str(tmp_path / "all.sqlite"))
    document: Any = counts.document()
    assert (document["exchanges"], document["read"], document["counts"]["leaked"]) == (5, 5, 2)
    (stored,) = open_stored(str(tmp_path / "all.sqlite"))
    numbers = [int(str(row["data_index"])) for row in stored.rows()]
    assert len({*numbers}) == 5
    assert all(stored.trace(number) for number in numbers)
    assert {*stored.clients().values()} == {"client\u00e9"}
    with psycopg.connect(url) as connection:
        kept = connection.execute("SELECT answer, result, trace, client FROM prompt_debugger_exchanges").fetchall()
    assert KEY.encode() not in b"".join(part for row in kept for part in row if isinstance(part, bytes))


async def test_what_passes_while_it_is_away_is_copied_when_it_is_back(
    tmp_path: Path, url: str, server: postgresql.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prompt_debugger.core.tools.watch.shared._AGAIN_S", 0.2)
    async with (
        faulty_server({"/v1/chat/completions": answer(200, HEALTHY)}) as healthy,
        watching(healthy.base_url, tmp_path / "watch.sqlite", shared=url) as watch,
        patient_client() as client,
    ):
        server.stop()
        try:
            for _ in range(3):
                got = await client.post(f"{watch.base_url}/chat/completions", json=ASKED)
                assert got.json() == HEALTHY
            await watch.until(lambda counts: counts.read == 3)
            async with asyncio.timeout(PATIENCE_S):
                while not watch.problems:
                    await asyncio.sleep(0.05)
        finally:
            server.start()
        await client.post(f"{watch.base_url}/chat/completions", json=ASKED)

    assert count(url) == 4
    assert "s3cret" not in "".join(watch.problems)
    assert [shown(url) in problem for problem in watch.problems] == [True, True]


async def test_what_was_not_copied_is_at_the_next_start(tmp_path: Path, url: str) -> None:
    store = tmp_path / "watch.sqlite"
    async with (
        faulty_server({"/v1/chat/completions": answer(200, HEALTHY)}) as healthy,
        patient_client() as client,
    ):
        async with watching(healthy.base_url, store) as watch:
            await client.post(f"{watch.base_url}/chat/completions", json=ASKED)
        async with watching(healthy.base_url, store, shared=url) as watch:
            await client.post(f"{watch.base_url}/chat/completions", json=ASKED)

    assert count(url) == 2


def test_the_oldest_go_by_age_and_size(tmp_path: Path, url: str) -> None:
    prepare(url)
    for bounds, left in ((Bounds(1 << 30, 500.0), range(400, 501)), (Bounds(300_000, 1e9), range(250, 301))):
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM prompt_debugger_exchanges")
            connection.execute(INSERT)
            connection.commit()
            Copier(url, tmp_path / "none.sqlite", "u", bounds, print)._leave(connection)
        assert count(url) in left


@pytest.mark.parametrize("hours", [10, -10])
def test_none_goes_because_the_clock_of_the_proxy_was_set(
    tmp_path: Path, url: str, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(url)
    copier = Copier(url, tmp_path / "none.sqlite", "u", Bounds(1 << 30, 3_600.0), print)
    set_s = time.time() + 3_600.0 * hours
    monkeypatch.setattr(clock, "time", SimpleNamespace(time=lambda: set_s, monotonic=time.monotonic))
    with psycopg.connect(url) as connection:
        connection.execute(INSERT)
        connection.commit()
        copier._leave(connection)

    assert count(url) == 1_000


def test_the_command_counts_and_saves_what_it_holds(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "--open", url]) == 2
    assert "holds no exchanges" in capsys.readouterr().err

    prepare(url)
    assert main(["watch", "--open", url]) == 2
    assert "holds no exchanges yet" in capsys.readouterr().err

    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO prompt_debugger_exchanges (proxy, number, at, upstream, client, state, reason, size) "
            "VALUES ('p', 7, 0, 'u', '', 'unread', 'too long', 9)"
        )
    file = tmp_path / "all.sqlite"
    assert main(["watch", "--open", url, "--save", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["unread_because"] == {"too long": 1}
    assert main(["watch", "--open", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document


@pytest.mark.parametrize(
    "wrong", ["postgresql://watcher:s3cret-word@127.0.0.1:1/x", "postgresql://watcher:s3cret-word@[::1"]
)
def test_a_database_that_is_not_there_is_one_sentence_without_the_password(wrong: str) -> None:
    with pytest.raises(RequestError) as refused:
        prepare(wrong)

    assert "s3cret" not in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.hint
