"""An engine's packages made empty, so that importing its parsers does not import the engine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import types
from collections.abc import Sequence
from pathlib import Path


def empty_packages(names: Sequence[str]) -> Path:
    """Register packages whose `__init__` is not run; return the folder of the first, which contains the others."""
    spec = importlib.util.find_spec(names[0])
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(next(iter(spec.submodule_search_locations)))
    for name in names:
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    return folder


def version_next_to(folder: Path) -> str:
    """Return the version of the wheel that a package's folder came from, else of the one that is installed."""
    for found in sorted(folder.parent.glob(f"{folder.name}-*.dist-info")):
        return found.name.removesuffix(".dist-info").partition("-")[2]
    return importlib.metadata.version(folder.name)
