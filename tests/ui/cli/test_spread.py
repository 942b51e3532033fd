"""Cutting a file for a cluster, what its workers may do, and what is said where none can be had."""

import json
import sys
from contextlib import contextmanager

import pytest

from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.cli.spread.cases import _Answering, pieces_of
from prompt_debugger.ui.cli.spread.keeper import Keeper, journal_paths
from tests.core.tools.verify.counting_server import body
from tests.core.tools.verify.running import Verification
from tests.ui.cli.test_bulk import breaking_out


def test_pieces_are_whole_lines_and_the_whole_file(tmp_path):
    file = tmp_path / "lines.jsonl"
    lines = [f"{'x' * (number % 700)}\n" for number in range(3000)] + ["the last has no end"]
    file.write_text("".join(lines))

    pieces = list(pieces_of(str(file), 4))

    text = file.read_bytes()
    parts = [text[piece.start : piece.stop] for piece in pieces]
    assert len(pieces) > 4
    assert b"".join(parts) == text
    assert all(part.endswith(b"\n") for part in parts[:-1])
    assert [piece.first_number for piece in pieces] == [
        1 + b"".join(parts[:index]).count(b"\n") for index in range(len(parts))
    ]


def test_an_empty_file_has_no_pieces(tmp_path):
    file = tmp_path / "empty.jsonl"
    file.write_text("")

    assert list(pieces_of(str(file), 4)) == []


class Batch:
    """Rows as a worker of the cluster gets them."""

    def __init__(self, *rows):
        self.rows = list(rows)

    def to_pylist(self):
        return self.rows


def test_the_lines_of_a_piece_are_read_in_a_locked_process(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    file = tmp_path / "cases.jsonl"
    file.write_text('{"n": 1}\n')
    [piece] = pieces_of(str(file), 1)

    answered = _Answering(breaking_out, breaking_out)(Batch({"name": str(file), **piece._asdict()}))

    document = json.loads(answered["text"][0])
    assert document["done"] == ["read our code"]
    assert "OPENAI_API_KEY" not in document["names"]


def test_a_line_that_asks_for_helpers_gets_them_on_a_cluster_too():
    answered = _Answering(breaking_out_unasked, breaking_out)(Batch({"raw": "x", "id": 1, "do": "ask"}))

    assert "run" in json.loads(answered["text"][0])["done"]


@contextmanager
def breaking_out_unasked():
    with breaking_out() as answer:
        yield lambda case: answer({**case, "do": None})


def test_a_shard_gets_its_own_lines_under_their_own_numbers(tmp_path):
    dataset = tmp_path / "rows.jsonl"
    dataset.write_bytes(b"a\n\nb\nc\nd\n")
    keeper = Keeper(dataset, [tmp_path / "1.sqlite", tmp_path / "2.sqlite"])

    first, second = keeper.lines(1, 0), keeper.lines(2, 0)

    keeper.close()
    assert first == (b"a\n\nb\n0\nd\n", None)
    assert second == (b"0\n\n0\nc\n0\n", None)


def test_as_many_shards_as_were_begun_with_go_on(tmp_path):
    first = journal_paths(tmp_path / "results.sqlite", 2)
    first[1].touch()

    again = journal_paths(tmp_path / "results.sqlite", 16)

    assert len(first) == 4
    assert again == first


@pytest.mark.parametrize("command", ["verify", "parse", "watch"])
def test_without_ray_one_is_told_how_to_get_it(tmp_path, capsys, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "ray", None)
    run = Verification(tmp_path, [body("say")])
    asked = {
        "verify": [*run.arguments, "--endpoint", "http://127.0.0.1:1/v1"],
        "parse": ["parse", "--cases", str(run.dataset)],
        "watch": ["watch", "--upstream", "http://127.0.0.1:1/v1", "--store", str(tmp_path / "watch.sqlite")],
    }[command]

    status = main([*asked, "--ray", "auto"])

    assert status == 2
    assert "prompt-debugger[ray]" in capsys.readouterr().err


BAD = {
    "no endpoint": (["verify", "ROWS", "--ray", "auto"], "--endpoint"),
    "a shard": (["verify", "ROWS", "--endpoint", "http://127.0.0.1:1", "--shard", "1/2", "--ray", "auto"], "shards"),
    "no cases": (["parse", "ROWS", "--ray", "auto"], "--cases"),
    "standard input": (["parse", "--cases", "-", "--ray", "auto"], "--cases"),
}


@pytest.mark.parametrize("name", BAD)
def test_options_that_do_not_go_together_are_refused(tmp_path, capsys, name):
    arguments, said = BAD[name]
    run = Verification(tmp_path, [body("say")])

    status = main([str(run.dataset) if one == "ROWS" else one for one in arguments])

    assert status == 2
    assert said in capsys.readouterr().err
