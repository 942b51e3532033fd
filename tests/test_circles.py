"""No module and no script needs itself: neither through plain imports nor through those that are made by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.conftest import ROOT

_PACKAGE = "prompt_debugger"
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.DOTALL)
_SCRIPT = re.compile(r"\b(?:from|import)\s*\(?\s*\"(\.{1,2}/[^\"]+)\"")


def circles(needs: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups whose members need each other, by Tarjan's algorithm, each sorted."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        path.append(name)
        for other in sorted(needs.get(name, ())):
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in path:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            group = path[path.index(name) :]
            del path[path.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(needs):
        if name not in order:
            visit(name)
    return found


def scripts_needed(folder: Path) -> dict[str, set[str]]:
    """Return which script imports which; types that a comment names are no import."""
    needs = {}
    for file in folder.rglob("*.js"):
        code = _COMMENT.sub("", file.read_text(encoding="utf-8"))
        targets = {(file.parent / target).resolve() for target in _SCRIPT.findall(code)}
        needs[str(file.relative_to(folder))] = {
            str(target.relative_to(folder.resolve())) for target in targets if target.is_relative_to(folder.resolve())
        }
    return needs


def modules_needed(root: Path) -> dict[str, set[str]]:
    """Return which module imports which, at its beginning, inside a function, or by a name that it spells out."""
    files = {_name(file, root): file for folder in ("core", "ui") for file in (root / folder).rglob("*.py")}
    return {
        name: {one for one in _targets(ast.parse(file.read_text(encoding="utf-8")), files) if one != name}
        for name, file in files.items()
    }


def _name(file: Path, root: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join((_PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _targets(node: ast.AST, files: Mapping[str, Path]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(child, ast.Import):
            yield from (one.name for one in child.names if one.name in files)
        elif isinstance(child, ast.ImportFrom) and child.module:
            inside = [f"{child.module}.{one.name}" for one in child.names]
            yield from (one for one in inside if one in files)
            if child.module in files and any(one not in files for one in inside):
                yield child.module
        elif isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module") and child.args:
            yield from (one for one in files if isinstance(child.args[0], ast.Constant) and one == child.args[0].value)
        yield from _targets(child, files)


def test_no_script_of_the_page_needs_itself() -> None:
    assert circles(scripts_needed(ROOT / "assets" / "js")) == []


def test_no_module_needs_itself() -> None:
    assert circles(modules_needed(ROOT)) == []


def test_a_circle_is_found_also_where_it_is_made_by_name(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text("from prompt_debugger.core.b import x\n", encoding="utf-8")
    (tmp_path / "core" / "b.py").write_text(
        'import importlib\n\n\ndef load():\n    return importlib.import_module("prompt_debugger.core.a")\n',
        encoding="utf-8",
    )
    (tmp_path / "core" / "c.py").write_text("from prompt_debugger.core import a\n", encoding="utf-8")

    assert circles(modules_needed(tmp_path)) == [["prompt_debugger.core.a", "prompt_debugger.core.b"]]


def test_a_circle_of_scripts_is_found_and_a_type_in_a_comment_makes_none(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\n', encoding="utf-8")
    (tmp_path / "b.js").write_text('/** @type {import("./a.js").A} */\nexport const b = 1;\n', encoding="utf-8")
    assert circles(scripts_needed(tmp_path)) == []

    (tmp_path / "b.js").write_text('import { a } from "./a.js";\n', encoding="utf-8")
    assert circles(scripts_needed(tmp_path)) == [["a.js", "b.js"]]
