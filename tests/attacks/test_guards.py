"""The table of guards in docs/security.md names files and tests that exist."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

ROWS = re.findall(
    r"^\| (.+) \| ((?:`[\w/]+\.py`(?:, )?)+) \| `(tests/[\w/]+\.py)::(\w+)` \|$",
    (ROOT / "docs" / "security.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_the_table_is_read_whole() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = text.partition("| guard | where | test |\n|---|---|---|\n")[2].partition("\n\n")[0]

    assert len(ROWS) == len(table.splitlines()) > 40
    assert len({guard for guard, *_ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("guard", "where", "file", "test"), ROWS, ids=[row[3] for row in ROWS])
def test_a_guard_and_its_test_are_there(guard: str, where: str, file: str, test: str) -> None:
    assert all((ROOT / path).is_file() for path in re.findall(r"`(.+?)`", where)), guard
    assert re.search(rf"^(?:async )?def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), guard
