"""Exchanges lie where they were to be put, whole, numbered once, and for their owner alone."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.tools.capture.store import Store


def test_a_folder_gets_a_file_each_and_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        with closing(Store(folder)) as store:
            store.write(store.take_number(), "chat-completions", "{}")

    assert sorted(path.name for path in folder.iterdir()) == [
        "0001-chat-completions.json",
        "0002-chat-completions.json",
    ]
    assert (folder / "0001-chat-completions.json").read_text() == "{}\n"
    assert (folder / "0001-chat-completions.json").stat().st_mode & 0o777 == 0o600


def test_a_file_gets_a_line_each_and_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    for _ in range(2):
        with closing(Store(file)) as store:
            number = store.take_number()
            store.write(number, "responses", json.dumps({"id": number}))

    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == [1, 2]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_line_that_was_cut_by_a_kill_spoils_no_other(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text('{"id": 1}\n{"id"')
    with closing(Store(file)) as store:
        store.write(store.take_number(), "responses", '{"id": 3}')

    assert file.read_text() == '{"id": 1}\n{"id"\n{"id": 3}\n'


@pytest.mark.parametrize("name", ["folder", "all.jsonl"])
def test_two_captures_do_not_write_to_one_place(name: str, tmp_path: Path) -> None:
    with closing(Store(tmp_path / name)), pytest.raises(RequestError, match="Another capture is writing"):
        Store(tmp_path / name)
    with closing(Store(tmp_path / name)) as store:
        assert store.next_number == 1


@pytest.mark.parametrize("name", ["folder", "all.jsonl"])
def test_nothing_is_written_beyond_the_limit(name: str, tmp_path: Path) -> None:
    with closing(Store(tmp_path / name, most_bytes=10)) as store:
        store.write(1, "responses", "1234")
        with pytest.raises(RequestError, match="would contain more than 10 bytes"):
            store.write(2, "responses", "123456")
        store.write(3, "responses", "1234")

    with (
        closing(Store(tmp_path / name, most_bytes=10)) as store,
        pytest.raises(RequestError, match="would contain more"),
    ):
        store.write(4, "responses", "1")


@pytest.mark.parametrize("place", ["file/below", "file", "folder.jsonl"])
def test_a_place_that_cannot_be_written_is_reported(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()

    with pytest.raises(RequestError, match="Cannot write exchanges to") as raised:
        Store(tmp_path / place)

    assert "--out" in raised.value.hint


def test_a_link_in_the_place_of_a_part_is_not_followed(tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("gold")
    with closing(Store(tmp_path / "folder")) as store:
        (tmp_path / "folder" / ".0001-responses.json.part").symlink_to(treasure)
        with pytest.raises(RequestError, match="Cannot write"):
            store.write(1, "responses", "{}")

    assert treasure.read_text() == "gold"
