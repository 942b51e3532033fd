"""The modules of this project that some modules need, by the imports in their source."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import prompt_debugger

_ROOT = "prompt_debugger"
_PARSING = threading.Lock()


def modules_needed(names: Iterable[str]) -> dict[str, str]:
    """Return the sources of some modules and of all that they import, by name, in sorted order.

    The packages around a module belong to it; the root package, which has nothing in it, is left out.

    Args:
        names: Full names of modules of this project.
    """
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name == _ROOT or (path := _source_of(name)) is None:
            continue
        source = path.read_text(encoding="utf-8")
        found[name] = source
        waiting.append(name.rpartition(".")[0])
        waiting += _imports(_parsed(source))
    return dict(sorted(found.items()))


def _parsed(source: str) -> ast.Module:
    """Return the syntax tree; one thread at a time: CPython 3.11 counts the depth of all trees as one."""
    with _PARSING:
        return ast.parse(source)


def _source_of(name: str) -> Path | None:
    """Return the file of a module of this project; `None` if the name is of something inside a module.

    Looked up by place: Python's own search would import what lies around the module, vLLM among it.
    """
    place = Path(prompt_debugger.__path__[0], *name.split(".")[1:])
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield what a module imports when it runs; what stands under `TYPE_CHECKING` is for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_for_types(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(f"{_ROOT}."):
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from _imports(node)


def _is_for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
