"""Tests in processes that split off: each runs once and is told as in one process, whatever becomes of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

FINE = """
import os
import pytest
{begin}
SEEN = []

@pytest.fixture(scope="session")
def place(tmp_path_factory):
    yield tmp_path_factory.mktemp("place")
    print("torn down")

@pytest.mark.parametrize("number", range(20))
def test_number(number, place):
    SEEN.append(os.getpid())
    assert set(SEEN) == {{os.getpid()}} and len(SEEN) == number + 1

def test_words_of_its_own():
    print("said before it failed")
    raise AssertionError("it failed")

@pytest.mark.skip(reason="no need")
def test_skipped(): ...

@pytest.fixture
def broken(): raise OSError("no fixture")

def test_setup(broken): ...
"""
DYING = """
import os, signal
def test_first(): ...
def test_dying(): os.kill(os.getpid(), signal.SIGKILL)
def test_behind_it(): ...
"""


def told_of(folder: Path, *arguments: str, **files: str) -> tuple[int, str]:
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.spread", "--processes=3", "-rA", *arguments, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_every_test_runs_once_beside_those_of_its_file(tmp_path: Path) -> None:
    status, told = told_of(tmp_path, fine=FINE.format(begin=""), other=FINE.format(begin="OTHER = 1"))

    assert status == 1
    assert re.search(r"^=+ 2 failed, 40 passed, 2 skipped, 2 errors in", told, re.MULTILINE), told
    assert told.count("said before it failed\n") == 2
    assert told.count("OSError: no fixture\n") >= 2
    assert sorted(re.findall(r"PASSED \S*(test_\w+\.py::\S+)", told)) == sorted(
        f"test_{name}.py::test_number[{number}]" for name in ("fine", "other") for number in range(20)
    )


def test_a_process_that_dies_fails_its_test_and_the_run_says_what_it_left_out(tmp_path: Path) -> None:
    files = {f"sound_{number}": "def test_sound(): ..." for number in range(8)}
    status, told = told_of(tmp_path, dying=DYING, **files)

    assert status == 1
    assert re.search(r"^=+ 1 failed, 9 passed in", told, re.MULTILINE), told
    assert "the process of this test ended with -9" in told
    assert "1 tests were not run" in told


def test_the_first_failure_ends_the_run_where_that_is_asked_for(tmp_path: Path) -> None:
    status, told = told_of(tmp_path, "-x", fine=FINE.format(begin=""), other=FINE.format(begin=""))

    assert (status, told.count("FAILED ")) == (1, 1), told
    assert "stopping after 1 failures" in told


def test_what_reading_the_tests_started_is_refused(tmp_path: Path) -> None:
    begin = "import subprocess, sys; CHILD = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)"
    status, told = told_of(tmp_path, fine=FINE.format(begin=begin))

    assert status == 4
    assert "reading the tests left threads or processes" in told
