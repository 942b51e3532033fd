"""Every file of this project that a page of documentation names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATH = re.compile(r"`((?:core|ui|assets|tests|scripts|benchmarks)/[\w./-]+)`")
TO_BE_WRITTEN = re.compile(r"\b(?:NAME|CODE)\b")  # in a guide, by whoever follows it
# Of other projects, for which a fix is written.
ELSEWHERE = frozenset({"tests/test-chat.cpp", "tests/tool_parsers/", "tests/test_tool_parsing.py"})


def missing(text: str) -> list[str]:
    named = [path for path in PATH.findall(text) if path not in ELSEWHERE and TO_BE_WRITTEN.search(path) is None]
    return [path for path in named if not (ROOT / path).exists()]


def test_files_that_the_docs_name_are_there():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

    assert {page.name: gone for page in pages if (gone := missing(page.read_text(encoding="utf-8")))} == {}


def test_a_file_that_is_gone_is_found():
    assert missing("See `core/gone.py`, `core/formats/NAME.py` and `tests/test-chat.cpp`.") == ["core/gone.py"]
