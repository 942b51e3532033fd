"""Folders of a program go with it, however it ends; those of others stay."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prompt_debugger.core.base import scratch as module
from prompt_debugger.core.base.scratch import drop_scratch, new_scratch, scratch
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
OTHER = """
import sys
from prompt_debugger.core.base.scratch import new_scratch
print(new_scratch("test", most_kept=int(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where all folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield tmp_path
    for folder in tuple(module._held):
        if folder.parent == tmp_path:
            drop_scratch(folder)


@contextmanager
def another_program(most_kept: int = 0) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    command = [sys.executable, "-c", OTHER, str(most_kept)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_a_folder_goes_at_the_end_of_its_block_also_after_an_error(place: Path) -> None:
    def fail_within() -> None:
        with scratch("test") as folder:
            (folder / "file").write_text("x")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail_within()

    assert [*place.iterdir()] == []


def test_the_folder_of_a_program_that_ends_goes_with_it(place: Path) -> None:
    with another_program() as (process, folder):
        was_there = folder.is_dir()
        process.communicate("", timeout=PATIENCE_S)

    assert was_there
    assert [*place.iterdir()] == []


@pytest.mark.parametrize("most_kept", [0, 5])
def test_the_folder_of_a_program_that_runs_stays_and_of_one_that_was_killed_goes(place: Path, most_kept: int) -> None:
    with another_program(most_kept) as (process, folder):
        ours = new_scratch("test")
        stays = folder.is_dir()
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        left_behind = folder.is_dir()
        another = new_scratch("test")

    assert stays
    assert left_behind
    assert {*place.iterdir()} == {ours, another}


def test_of_results_that_someone_was_told_of_the_newest_stay(place: Path) -> None:
    for number in range(6):
        folder = new_scratch("test", most_kept=3)
        os.utime(folder, ns=(number, number))
        os.close(module._held.pop(folder))  # as at the end of its process

    last = new_scratch("test", most_kept=3)

    times = sorted(one.stat().st_mtime_ns for one in place.iterdir() if one != last)
    assert times == [3, 4, 5]


def test_a_fork_that_ends_takes_no_folder_of_its_parent_along() -> None:
    folder = new_scratch("test")

    child = os.fork()
    if child == 0:
        module._drop_all()
        os._exit(0)
    os.waitpid(child, 0)

    assert folder.is_dir()


def test_what_is_not_ours_stays(place: Path) -> None:
    """Folders of another kind, without our file, and links to somewhere else."""
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".in-use").touch()
    (place / "prompt-debugger-test-link0000").symlink_to(elsewhere)
    (place / "prompt-debugger-test-nomark00").mkdir()
    other_kind = place / "prompt-debugger-tests-abcdefgh"
    shutil.copytree(elsewhere, other_kind)
    before = {*place.iterdir()}

    folder = new_scratch("test")

    assert {*place.iterdir()} == before | {folder}
    assert (elsewhere / ".in-use").exists()
