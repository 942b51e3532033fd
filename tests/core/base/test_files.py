"""What is named on a command line is looked at before it is read, and a file is written whole or not at all."""

from __future__ import annotations

import os
import pty
import threading
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import MachineError, RequestError
from prompt_debugger.core.base.files import read_named, write_named


def test_a_file_within_the_limit_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * 100)

    assert read_named(str(file), most_bytes=100) == b"x" * 100


def test_a_longer_one_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "a"
    with file.open("wb") as opened:
        opened.truncate(1 << 40)

    with pytest.raises(RequestError, match="longer than 256 MB"):
        read_named(str(file))


@pytest.mark.parametrize(("name", "word"), [("/dev/zero", "device"), ("/dev/random", "device"), ("/", "folder")])
def test_a_device_or_folder_is_not_read(name: str, word: str) -> None:
    with pytest.raises(RequestError, match=word):
        read_named(name)


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert read_named(os.devnull) == b""


def test_a_terminal_may_be_typed_at() -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"typed\n\x04")
    try:
        assert read_named(os.ttyname(theirs)) == b"typed\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_pipe_is_read_to_its_end_and_no_further_than_the_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb") as opened:
            opened.write(b"a" * 1_000)

    for most, is_read in ((1_000, True), (999, False)):
        writer = threading.Thread(target=write)
        writer.start()
        if is_read:
            assert read_named(str(pipe), most_bytes=most) == b"a" * 1_000
        else:
            with pytest.raises(RequestError, match="longer"):
                read_named(str(pipe), most_bytes=most)
        writer.join()


def test_a_pipe_that_no_one_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(RequestError, match="Nothing was received through the pipe"):
        read_named(str(pipe), writer_s=0.0)


def test_what_stood_in_a_file_stays_when_the_disk_is_full(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.write_text("before")

    def parts():
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(MachineError) as caught:
        write_named(file, parts(), subject="the report")

    assert caught.value.kind == "disk-full"
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]


def test_a_pipe_that_is_written_to_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(read_named(str(pipe))))
    reader.start()
    write_named(pipe, ("through",))
    reader.join()

    assert (read, pipe.is_fifo()) == ([b"through"], True)
