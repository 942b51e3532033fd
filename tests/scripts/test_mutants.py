"""What the script for mutants asks of pytest holds in each of the runs that one process makes."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.mutants import FORGETTING
from tests.programs import output_in

_TESTS = """\
import pytest


@pytest.mark.parametrize("text", ["a\\nb", "\u25c1"], ids=repr)
def test_it(text):
    pass
"""
_TWO_RUNS = """\
import gc

import pytest


class Names:
    def pytest_collection_finish(self, session):
        self.found = [item.nodeid for item in session.items]


names = Names()
quiet = ["-qqq", "-p", "no:cacheprovider", "-p", "forgetting", "--import-mode=importlib"]
assert pytest.main([*quiet, "--collect-only", "test_odd.py"], plugins=[names]) == 0
gc.freeze()  # as our sandboxes do
assert pytest.main([*quiet, *names.found]) == 0
"""


def test_a_test_keeps_its_name_in_the_next_run_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "forgetting.py").write_text(FORGETTING, encoding="utf-8")
    (tmp_path / "test_odd.py").write_text(_TESTS, encoding="utf-8")
    (tmp_path / "two_runs.py").write_text(_TWO_RUNS, encoding="utf-8")

    output_in(tmp_path, [sys.executable, "two_runs.py"])
