"""Find the constants that plug a file in: one file, nothing registered elsewhere.

Our own files are in a package; those of others are named by the entry points of what is installed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TypeVar

from prompt_debugger.core.base.errors import PluginError

_Value = TypeVar("_Value")


def discover(package: ModuleType, constant: str) -> dict[str, object]:
    """Import every public module of a package and take one constant from each.

    Args:
        package: The package to walk; modules starting with `_`, and `base`, are skipped.
        constant: Name of the constant that each module must define, such as `RULE`.

    Returns:
        The constants by module name, in sorted order.

    Raises:
        PluginError: A module lacks the constant.
    """
    found: dict[str, object] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_") or info.name == "base":
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, constant):
            raise PluginError(f"`{module.__name__}` defines no `{constant}`.", f"Define `{constant}` in that file.")
        found[info.name] = getattr(module, constant)
    return found


def discover_typed(package: ModuleType, constant: str, kind: type[_Value], example: str) -> dict[str, _Value]:
    """Return the constants of a package that are all of one class; `example` is the file that describes it.

    Raises:
        PluginError: A module lacks the constant, or has it of another class.
    """
    found: dict[str, _Value] = {}
    for name, value in discover(package, constant).items():
        if not isinstance(value, kind):
            place = f"{package.__name__}.{name}"
            raise PluginError(f"`{constant}` of `{place}` is not a `{kind.__name__}`.", f"See {example}.")
        found[name] = value
    return found


def discover_installed(group: str, constant: str, taken: Iterable[str] = ()) -> dict[str, object]:
    """Return what installed packages bring under a group of entry points, each a module with one constant.

    Returns:
        The constants by the entry points' names, in sorted order.

    Raises:
        PluginError: A module cannot be imported or lacks the constant, or two bear one name; it names the package.
    """
    known = dict.fromkeys(taken, "Prompt Debugger")
    found: dict[str, object] = {}
    for entry in sorted(_entry_points(group), key=lambda one: (one.name, one.value)):
        package = entry.dist.name if entry.dist is not None else "an installed package"
        if entry.name in known:
            raise PluginError(
                f"`{entry.name}` of `{group}` is defined by both `{package}` and `{known[entry.name]}`.",
                f"Uninstall `{package}`, or have its authors choose another name.",
            )
        known[entry.name] = package
        try:
            loaded = entry.load()
        except Exception as error:  # code of others may fail in any way
            raise PluginError(
                f"`{entry.name}` of `{group}` in `{package}` cannot be imported: {type(error).__name__}: {error}",
                f"Update or uninstall `{package}`.",
            ) from error
        value = getattr(loaded, constant, None) if isinstance(loaded, ModuleType) else loaded
        if value is None:
            raise PluginError(f"`{entry.value}` of `{package}` defines no `{constant}`.", f"Update `{package}`.")
        found[entry.name] = value
    return found


@cache  # to look through what is installed takes some milliseconds
def _entry_points(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))
