"""Count classes that mirror another: their fields are, for the most part, those of a class that already exists.

python scripts/mirrors.py [ROOT]    print each mirror with the class whose fields it has, and how many there are

A class counts with its annotated fields, own and inherited, from three on. It mirrors another one where at least seven
of ten of its fields are fields of that one, and that one's of it; of such a pair one is made for a document, and is
the mirror. Classes that inherit one from the other share their fields by that and are not mirrors.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHARE = 0.7
_FEWEST = 3
_DOCUMENTS = ("report/wire", "documents.py", "document.py", "results.py")  # where shapes of documents are written


class Fields(NamedTuple):
    """A class as it is written: where, its bases, and its fields."""

    file: str
    name: str
    bases: tuple[str, ...]
    own: frozenset[str]


def classes(root: Path = ROOT) -> list[Fields]:
    """Return the classes of the program that have fields."""
    found = []
    for folder in ("core", "ui"):
        for file in sorted((root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    bases = tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)
                    found.append(Fields(str(file.relative_to(root)), node.name, bases, frozenset(_fields(node))))
    return found


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for line in node.body:
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        if "ClassVar" not in ast.unparse(line.annotation) and not line.target.id.startswith("_"):
            yield line.target.id


def mirrors(found: list[Fields]) -> list[tuple[Fields, Fields]]:
    """Return each mirror, with the class that it mirrors most."""
    by_name = {one.name: one for one in found}
    whole = {one: _whole(one, by_name) for one in found}
    known = [one for one in found if len(whole[one]) >= _FEWEST]
    pairs = []
    for one in filter(_is_document, known):
        like = [
            (_share(whole[one], whole[other]), other)
            for other in known
            if not _is_document(other)
            and one.name not in _line(other, by_name)
            and other.name not in _line(one, by_name)
        ]
        share, other = max(like, key=lambda pair: pair[0], default=(0.0, one))
        if share >= SHARE:
            pairs.append((one, other))
    return pairs


def _whole(one: Fields, by_name: Mapping[str, Fields]) -> frozenset[str]:
    return frozenset(field for name in _line(one, by_name) if name in by_name for field in by_name[name].own)


def _line(one: Fields, by_name: Mapping[str, Fields], seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names of a class and of all that it inherits from."""
    names = {one.name}
    for base in one.bases:
        if base in by_name and base not in seen | names:
            names |= _line(by_name[base], by_name, seen | names)
    return frozenset(names)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one), len(other))


def _is_document(one: Fields) -> bool:
    return any(part in one.file for part in _DOCUMENTS)


def main(arguments: list[str]) -> int:
    """Print each mirror, and how many there are."""
    found = mirrors(classes(Path(arguments[0]) if arguments else ROOT))
    for one, other in sorted(found):
        print(f"{one.file}:{one.name} mirrors {other.file}:{other.name}")
    print(f"{len(found)} mirrors")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
