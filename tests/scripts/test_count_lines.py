"""Lines are counted as what they are."""

from __future__ import annotations

from pathlib import Path

from scripts.count_lines import count_lines, count_packages

MODULE = '''"""What it is.

More.
"""

import json
from os import (
    path,
)

# why
TEXT = """first

third"""


def f():
    """Return one."""
    return 1
'''


def test_each_line_is_of_one_kind() -> None:
    assert count_lines(MODULE) == {"docstrings": 5, "imports": 4, "comments": 1, "code": 5, "blank": 4}


def test_packages_of_the_program_are_counted_and_nothing_else(tmp_path: Path) -> None:
    for name in ("core/parse/deep/a.py", "core/tools/lab/b.py", "ui/c.py", "tests/d.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text("one = 1\n", encoding="utf-8")

    packages = count_packages(tmp_path)

    assert {name: counts["code"] for name, counts in packages.items()} == dict.fromkeys(
        ["core/parse", "core/tools/lab", "ui"], 1
    )
