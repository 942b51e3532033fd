"""Functions and classes of an engine's file that cannot be imported here, as the engine wrote them. No engine here."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any


def definitions(file: Path, names: Collection[str], around: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return some top-level functions and classes of a file, which is not run besides.

    Args:
        file: A Python file.
        names: What is wanted of it.
        around: What these definitions use of the rest of the file and of its imports.

    Returns:
        The definitions by name; `None` where the file lacks one of them.
    """
    if not file.is_file():
        return None
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name in names]
    if len({one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}) < len(set(names)):
        return None
    namespace = dict(around)
    code = compile(tree, str(file), "exec", flags=annotations.compiler_flag)
    exec(code, namespace)
    return {name: namespace[name] for name in names}
