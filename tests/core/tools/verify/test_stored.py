"""A verification is read again from whatever it left, and never written."""

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.tools.verify import Journal, open_stored
from tests.core.tools.verify.made import ROWS, make_lossy

pytestmark = pytest.mark.slow  # makes two verifications, each in a process of its own


@pytest.fixture(scope="module")
def lossy(tmp_path_factory) -> Path:
    return make_lossy(tmp_path_factory.mktemp("made"))


def test_a_journal_gives_rows_runs_and_the_server(lossy):
    before = (lossy / "results.sqlite").read_bytes()

    [stored] = open_stored(str(lossy))

    assert stored.path == lossy / "results.sqlite"
    assert stored.endpoint.startswith("http://127.0.0.1")
    assert [row["data_index"] for row in stored.rows()] == [*range(1, len(ROWS) + 1)]
    assert trace_from_json(stored.trace(9)).verdict.sentence.startswith("The model wrote 1 tool call")
    assert stored.trace(99) is None
    assert (lossy / "results.sqlite").read_bytes() == before


def test_results_alone_give_rows_and_no_runs(lossy):
    [stored] = open_stored(str(lossy / "results.jsonl"))

    assert len(list(stored.rows())) == len(ROWS)
    assert stored.trace(9) is None
    assert stored.row(9)["finish_reason"] == "stop"


def test_a_report_leads_to_the_journal_next_to_it(lossy):
    report = lossy / "report"
    report.mkdir(exist_ok=True)
    (report / "index.html").write_text("")

    assert open_stored(str(report / "index.html"))[0].path == lossy / "results.sqlite"
    assert open_stored(str(report))[0].path == lossy / "results.sqlite"


@pytest.mark.parametrize("name", ["nothing", "nothing.sqlite", "template.jinja"])
def test_what_is_not_a_verification_is_refused(tmp_path, name):
    with pytest.raises(RequestError, match="no verification"):
        open_stored(str(tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_and_another_programs_file_are_refused(tmp_path):
    with pytest.raises(RequestError, match="no results"):
        open_stored(str(tmp_path))
    (tmp_path / "results.sqlite").write_text("no database, but long enough to be looked at" * 40)
    with pytest.raises(RequestError, match="is not a journal"):
        open_stored(str(tmp_path))
    sqlite3.connect(tmp_path / "other.sqlite").close()
    with pytest.raises(RequestError):
        open_stored(str(tmp_path / "other.sqlite"))


def test_a_journal_that_a_verification_holds_is_not_waited_for(tmp_path):
    with Journal(tmp_path / "results.sqlite") as journal:
        journal.note_fact("held", value=True)

        with pytest.raises(RequestError, match="A verification is using"):
            open_stored(str(tmp_path))


def test_a_damaged_row_is_named(lossy, tmp_path):
    copy = tmp_path / "results.sqlite"
    copy.write_bytes((lossy / "results.sqlite").read_bytes())
    with sqlite3.connect(copy) as journal:
        journal.execute("UPDATE rows SET row = ? WHERE data_index = 2", (b"not packed",))
    journal.close()

    with pytest.raises(RequestError, match="cannot be read"):
        list(open_stored(str(copy))[0].rows())


@pytest.mark.parametrize(
    "row",
    [zlib.compress(b'{"a": "' + b"x" * 5_000_000 + b'"}'), zlib.compress(b'{"a":' * 200_000)],
    ids=["unpacks to much", "nested deep"],
)
def test_a_row_that_someone_forged_is_refused(lossy, tmp_path, monkeypatch, row):
    monkeypatch.setattr("prompt_debugger.core.tools.verify.stored._MAX_BYTES", 4_000_000)
    copy = tmp_path / "results.sqlite"
    copy.write_bytes((lossy / "results.sqlite").read_bytes())
    with closing(sqlite3.connect(copy)) as journal, journal:
        journal.execute("UPDATE rows SET row = ? WHERE data_index = 2", (row,))

    with pytest.raises(RequestError, match="cannot be read"):
        list(open_stored(str(copy))[0].rows())


def test_rows_that_are_computed_without_end_are_refused(tmp_path):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS side FROM n"
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as journal, journal:
        journal.execute("CREATE TABLE meta (key, value)")
        journal.execute(f"CREATE VIEW rows AS {endless}")

    with pytest.raises(RequestError, match="are computed"):
        open_stored(str(tmp_path))


@pytest.mark.parametrize("said", ["no JSON", '{"a":' * 200_000], ids=["no JSON", "nested deep"])
def test_a_journal_whose_facts_someone_forged_is_refused(tmp_path, said):
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as journal, journal:
        journal.execute("CREATE TABLE meta (key, value)")
        journal.execute("CREATE TABLE rows (side, data_index, state, row, trace)")
        journal.execute("INSERT INTO meta VALUES ('identity', ?)", (said,))

    with pytest.raises(RequestError, match="cannot be read"):
        open_stored(str(tmp_path))


def test_no_more_servers_are_read_of_a_journal_than_there_can_be(tmp_path):
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as journal, journal:
        journal.execute("CREATE TABLE meta (key, value)")
        journal.execute("CREATE TABLE rows (side, data_index, state, row, trace)")
        journal.executemany("INSERT INTO rows (side) VALUES (?)", [("one",), *((side,) for side in range(1_000))])

    assert [stored.side for stored in open_stored(str(tmp_path))] == [0, 1, 2]
