"""Find the constants that plug a file in: one file, nothing registered elsewhere."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from prompt_debugger.core.base.errors import PluginError


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
            raise PluginError(f"`{module.__name__}` defines no `{constant}`", f"Define `{constant}` in that file.")
        found[info.name] = getattr(module, constant)
    return found
