"""The scripts in `assets/js/` are ES modules: which of them an entry needs, and these as one script for a file."""

from __future__ import annotations

import posixpath
import re
from functools import cache

from prompt_debugger.core.base.assets import assets_dir

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.{1,2}/[\w./]+)";\n', re.MULTILINE)
_LIST = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_DECLARED = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_TYPES = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)  # comments for the type checker alone
_LEFT = re.compile(r"^\s*(import|export)\b|\bimport\(", re.MULTILINE)


@cache  # and so at hand where no file can be opened any more
def read_script(name: str) -> str:
    """Return the text of a module by its path in `assets/js/`, such as `lib/dom.js`."""
    return (assets_dir() / "js" / name).read_text(encoding="utf-8")


def imports_of(name: str) -> tuple[str, ...]:
    """Return the modules that a module imports, by their paths in `assets/js/`."""
    return tuple(_resolved(name, match[2]) for match in _IMPORT.finditer(read_script(name)))


def needed_by(entry: str) -> tuple[str, ...]:
    """Return an entry and all that it imports, whatever is imported before what imports it."""
    order: dict[str, None] = {}
    begun: set[str] = set()

    def visit(name: str) -> None:
        if name in begun:
            return
        begun.add(name)
        for other in imports_of(name):
            visit(other)
        order[name] = None

    visit(entry)
    return tuple(order)


def one_script(entry: str) -> str:
    """Return an entry and all that it imports as one classic script, for a file that may ask for no other.

    The script is an expression: an object of each module's exports, by the module's name. Every module keeps a scope
    of its own.

    Args:
        entry: It and what it imports must not import each other in a circle, nor export what changes (`let`).

    Raises:
        ValueError: One of them does.
    """
    names = needed_by(entry)
    for place, name in enumerate(names):
        if late := [other for other in imports_of(name) if other not in names[:place]]:
            raise ValueError(f"{name} and {late[0]} import each other in a circle")
    parts = "".join(f"// {name}\nmodules[{name!r}] = (() => {{\n{_scoped(name)}}})();\n" for name in names)
    return f'(() => {{\n"use strict";\nconst modules = {{}};\n{parts}return modules;\n}})()'


def _scoped(name: str) -> str:
    exports: list[str] = []

    def list_out(match: re.Match[str]) -> str:
        exports.extend(_pairs(match[1], "{1}: {0}"))
        return ""

    def declared(match: re.Match[str]) -> str:
        exports.append(match[1])
        return ""

    def taken(match: re.Match[str]) -> str:
        names = _pairs(match[1] or "", "{0}: {1}")
        return f"const {{ {', '.join(names)} }} = modules[{_resolved(name, match[2])!r}];\n" if names else ""

    text = _DECLARED.sub(declared, _LIST.sub(list_out, _IMPORT.sub(taken, _TYPES.sub("", read_script(name)))))
    if left := _LEFT.search(text):
        raise ValueError(f"{name}: cannot be put into one script: {left[0].strip()}")
    return f"{text}return {{ {', '.join(exports)} }};\n"


def _resolved(name: str, imported: str) -> str:
    """Return the path of a module that another imports by a path from its own folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), imported))


def _pairs(text: str, form: str) -> list[str]:
    """Return the names of an import or export, each `a as b` in the form that an object has for it."""
    words = [one.split(" as ") for one in (part.strip() for part in text.split(",")) if one]
    return [one[0] if len(one) == 1 else form.format(*one) for one in words]
