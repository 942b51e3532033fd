"""Write the plugin: one file that carries the readers it is made of."""

from __future__ import annotations

import ast
import pkgutil
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import prompt_debugger
from prompt_debugger.core import formats
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.formats import FORMATS

PARSER_NAME = "prompt_debugger"
_INSIDE = "_prompt_debugger_plugin"
_ALWAYS = ("generic",)


def write_plugin(family: str = "all") -> str:
    """Return the source of a plugin for vLLM that reads one family, or `all`.

    Returns:
        One file; it needs what vLLM has installed and nothing else.

    Raises:
        RequestError: There is no such family.
    """
    if family != "all" and family not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise RequestError(
            f"There is no family {family!r}.", f"Known families: {known}, or `all` for any.", field="--family"
        )
    sources = modules_needed([f"{_package()}.tools.plugin.inside.vllm_parsers", *_formats(family)])
    parts = [f"    {_inside(name)!r}: {_literal(source)}," for name, source in sources.items()]
    wanted = "auto" if family == "all" else family
    reported = "any family, detected from the output" if family == "all" else f"the family `{family}`"
    head = _HEAD.format(version=prompt_debugger.__version__, reported=reported, parser=PARSER_NAME)
    return "".join([head, "_SOURCES = {\n", "\n".join(parts), "\n}\n", _LOADER, _CALL.format(PARSER_NAME, wanted)])


def _package() -> str:
    return formats.__name__.rpartition(".")[0]


def _formats(family: str) -> list[str]:
    """Return the modules of the formats to carry: all, or one and the reader of plain text."""
    every = [info.name for info in pkgutil.iter_modules(formats.__path__)]
    wanted = [name for name in every if family == "all" or name in (family, *_ALWAYS)]
    return [f"{formats.__name__}.{name}" for name in wanted]


def _inside(text: str) -> str:
    return text.replace("prompt_debugger.core", f"{_INSIDE}.core")


def _literal(source: str) -> str:
    quoted = _inside(source).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\\\n{quoted}"""'


_HEAD = '''\
# ruff: noqa
# mypy: ignore-errors
"""A tool parser and a reasoning parser for vLLM 0.11 to 0.32, for {reported}.

    vllm serve MODEL --enable-auto-tool-choice \\\\
        --tool-parser-plugin THIS_FILE.py --tool-call-parser {parser} \\\\
        --reasoning-parser-plugin THIS_FILE.py --reasoning-parser {parser}

Leave the last line out for a model that does not reason, or on releases without that flag.
Written by Prompt Debugger {version} (`prompt-debugger plugin`); it needs nothing but vLLM.
The texts below are that program's own readers, each a module; write the file anew
rather than change it.
"""

import importlib
import importlib.machinery
import sys

'''

_LOADER = f'''
_ROOT = {_INSIDE!r}
_PLACE = "prompt-debugger-plugin:"


class _Modules:
    """Finds and loads the modules in `_SOURCES`, for one package each."""

    def __init__(self, path):
        if not path.startswith(_PLACE):
            raise ImportError(path)
        self._package = path[len(_PLACE):]

    def find_spec(self, name, target=None):
        if name not in _SOURCES or name.rpartition(".")[0] != self._package:
            return None
        is_package = any(other.startswith(name + ".") for other in _SOURCES)
        spec = importlib.machinery.ModuleSpec(name, self, origin=name, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [_PLACE + name]
        return spec

    def iter_modules(self, prefix=""):
        for name in _SOURCES:
            package, _, last = name.rpartition(".")
            if package == self._package:
                yield prefix + last, any(other.startswith(name + ".") for other in _SOURCES)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(_SOURCES[module.__name__], f"<{{module.__name__}}>", "exec"), module.__dict__)


def _load():
    """Run the modules in this process, once."""
    if _ROOT not in sys.modules:
        sys.path_hooks.append(_Modules)
        root = type(sys)(_ROOT)
        root.__path__ = [_PLACE + _ROOT]
        sys.modules[_ROOT] = root
    return importlib.import_module(_ROOT + ".core.tools.plugin.inside.vllm_parsers")


'''

_CALL = "_load().register({!r}, {!r})\n"


_ROOT = "prompt_debugger"
_PARSING = threading.Lock()


def modules_needed(names: Iterable[str]) -> dict[str, str]:
    """Return the sources of some modules and of all that they import, by name, in sorted order.

    The packages around a module belong to it; the root package, which has nothing in it, is left out.
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
    """Yield what a module imports when it runs; what is under `TYPE_CHECKING` is for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_for_types(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(f"{_ROOT}."):
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from _imports(node)


def _is_for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
