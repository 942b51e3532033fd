"""Count the lines of the program by what they are: code, docstrings, imports, comments, blank.

python scripts/count_lines.py [ROOT]        one line a package, and the sum
python scripts/count_lines.py --sum [ROOT]  the sum alone

The program is the Python under core/ and ui/, without tests and scripts. A line of a text that runs over several lines
counts as what the text is: a docstring's blank lines are docstring, those of a template in the code are code.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
KINDS = ("code", "docstrings", "imports", "comments", "blank")


def count_lines(source: str) -> Counter[str]:
    """Return how many lines of each of KINDS a module has."""
    tree = ast.parse(source)
    kind_by_line: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kind_by_line |= dict.fromkeys(_lines(node), "imports")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            kind_by_line = dict.fromkeys(_lines(node), "code") | kind_by_line
    for node in ast.walk(tree):
        if isinstance(node, _Documented) and ast.get_docstring(node):
            kind_by_line |= dict.fromkeys(_lines(node.body[0]), "docstrings")
    lines = enumerate(source.splitlines(), 1)
    return Counter(kind_by_line.get(number) or _kind(line.strip()) for number, line in lines)


def _lines(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _kind(line: str) -> str:
    return "comments" if line.startswith("#") else "code" if line else "blank"


def count_packages(root: Path = ROOT) -> dict[str, Counter[str]]:
    """Return the counts by package (core/tools and ui one level deeper), with the number of modules as `modules`."""
    packages: dict[str, Counter[str]] = {}
    for file in sorted(file for folder in ("core", "ui") for file in (root / folder).rglob("*.py")):
        folders = file.relative_to(root).parts[:-1]
        package = "/".join(folders[: 3 if folders[:2] == ("core", "tools") else 2])
        counts = packages.setdefault(package, Counter())
        counts.update(count_lines(file.read_text(encoding="utf-8")))
        counts["modules"] += 1
    return packages


def main(arguments: list[str]) -> None:
    """Print the table, or its last line alone."""
    root = next((Path(one) for one in arguments if not one.startswith("--")), ROOT)
    packages = count_packages(root)
    total = sum(packages.values(), Counter[str]())
    print(f"{'':24}{'modules':>9}{'lines':>9}" + "".join(f"{kind:>12}" for kind in KINDS))
    for name, counts in (({} if "--sum" in arguments else packages) | {"all": total}).items():
        line = sum(counts[kind] for kind in KINDS)
        print(f"{name:24}{counts['modules']:9,}{line:9,}" + "".join(f"{counts[kind]:12,}" for kind in KINDS))


if __name__ == "__main__":
    main(sys.argv[1:])
