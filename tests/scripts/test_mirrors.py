"""No further class may mirror one that is there: the value itself is the document."""

from __future__ import annotations

from pathlib import Path

from scripts.mirrors import classes, mirrors

# What stood when they were counted: their documents pick, rename or compute what the value has otherwise.
MAX_MIRRORS = 6
MIRROR = """
class Pair:
    left: int
    right: int
    note: str


class PairDocument:
    left: int
    right: int
    note: str
    sentence: str


class OtherDocument:
    left: int
    sentence: str
    reason: str
"""


def test_no_further_document_mirrors_a_value() -> None:
    found = mirrors(classes())

    assert len(found) <= MAX_MIRRORS, [f"{one.name} mirrors {other.name}" for one, other in found]


def test_a_document_with_the_fields_of_a_value_is_found_and_one_with_others_is_not(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    value, _, documents = MIRROR.partition("\n\n\nclass PairD")
    (tmp_path / "core" / "pairs.py").write_text(value, encoding="utf-8")
    (tmp_path / "core" / "documents.py").write_text(f"class PairD{documents}", encoding="utf-8")

    assert [(one.name, other.name) for one, other in mirrors(classes(tmp_path))] == [("PairDocument", "Pair")]
