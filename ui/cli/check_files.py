"""Files around a check: a parser under development, brought to the helper, and what is watched."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.ui.cli.output import read_input

# Run in the helper: what is next to the module is forgotten, so that a changed file is read again.
_SHIM = """import importlib, os, sys
for name, module in list(sys.modules.items()):
    if os.path.dirname(getattr(module, "__file__", None) or "") == {folder!r}:
        del sys.modules[name]
sys.path.insert(0, {entry!r})
importlib.invalidate_caches()
try:
    importlib.import_module({module!r})
finally:
    sys.path.remove({entry!r})
"""


def plugin_text(file: str | None, module: str | None) -> str:
    """Return the source that registers the parsers of a file or of a module.

    Raises:
        RequestError: The file cannot be read.
        EngineError: There is no such module.
    """
    if file is not None:
        return read_input(file)
    assert module is not None
    return _SHIM.format(folder=str(module_file(module).parent), entry=str(module_entry(module)), module=module)


def module_entry(module: str) -> Path:
    """Return the folder that a module is imported from.

    Raises:
        EngineError: There is no such module here.
    """
    found = module_file(module)
    return found.parents[len(module.split(".")) - (found.name != "__init__.py")]


def module_file(module: str) -> Path:
    """Return where a module lies, without importing it or what is around it.

    Raises:
        EngineError: There is no such module here.
    """
    path: Sequence[str] = _search_path()
    found: importlib.machinery.ModuleSpec | None = None
    for part in module.split("."):
        importlib.machinery.PathFinder.invalidate_caches()
        found = importlib.machinery.PathFinder.find_spec(part, path)
        if found is None:
            break
        path = list(found.submodule_search_locations or ())
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        raise EngineError(
            f"There is no Python module {module!r} in this folder or on the path.",
            "Run the command where `python -c 'import …'` finds it, or give the file with --parser-file.",
        )
    return Path(found.origin)


def _search_path() -> list[str]:
    return [str(Path.cwd()), *(entry for entry in sys.path if entry and Path(entry).is_dir())]


def stamps(names: Sequence[str | None], module: str | None) -> list[tuple[str, int, int]]:
    """Return the watched files with their times and sizes; of a module all that is next to it."""
    files = [file for name in names if name for file in (Path(name), Path(name) / "chat_template.jinja")]
    if module is not None:
        files += _next_to(module)
    return [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()]


def _next_to(module: str) -> Iterator[Path]:
    try:
        file = module_file(module)
    except EngineError:  # it may come back
        return
    yield from sorted(file.parent.glob("*.py")) if "." in module or file.name == "__init__.py" else [file]


def is_model(name: str) -> bool:
    """Return whether a name is a model's or a template's, and no lock's: those are JSON files, or standard input."""
    if Path(name).is_dir() or Path(name).suffix in (".jinja", ".jinja2", ".j2"):
        return True
    return "/" in name and not name.endswith(".json") and not Path(name).is_file()


def write_file(name: str, text: str) -> None:
    """Write a file.

    Raises:
        RequestError: It cannot be written.
    """
    write_named(name, (text,))
