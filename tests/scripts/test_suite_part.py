"""A test that fails twice fails its part; one that passes the second time is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "suite_part.py"
STEADY = "def test_steady():\n    pass\n"
UNSTEADY = """
from pathlib import Path
def test_unsteady():
    before = Path("before")
    was_there = before.exists()
    before.touch()
    assert was_there
"""
BROKEN = "def test_broken():\n    assert False\n"


def run_part(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_part.py").write_text(tests)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, str(SCRIPT), "part", "-p", "no:playwright", "test_part.py"]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("tests", "status", "is_repeated", "is_named"),
    [
        (STEADY, 0, False, False),
        (STEADY + UNSTEADY, 0, True, True),
        (STEADY + UNSTEADY + BROKEN, 1, True, False),
        ("raise SystemError", 2, False, False),  # an error of collection
        ("", 5, False, False),  # nothing was collected
    ],
)
def test_what_fails_is_run_once_more(
    tmp_path: Path, tests: str, status: int, is_repeated: bool, is_named: bool
) -> None:
    part = run_part(tmp_path, tests)

    assert part.returncode == status, part.stdout
    assert ("once more" in part.stdout) is is_repeated
    assert ("They are unsteady" in part.stdout) is is_named
    assert ("PASSED test_part.py::test_unsteady" in part.stdout) is ("test_unsteady" in tests)
