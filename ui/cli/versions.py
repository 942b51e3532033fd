"""Which versions work here: what a bug report needs first."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from prompt_debugger import __version__
from prompt_debugger.core.complete import ENGINES

_LIBRARIES = ("gradio", "transformers", "tokenizers", "httpx")


def versions() -> str:
    """Return the program's version on the first line, then those of what it stands on."""
    engines = (name for engine in ENGINES.values() for name in engine.distributions)
    lines = [
        f"prompt-debugger {__version__}",
        f"Python {sys.version.split()[0]} on {platform.system()} {platform.machine()}",
        *(f"{name} {found}" for name, found in _installed((*_LIBRARIES, *engines))),
    ]
    return "\n".join(lines) + "\n"


def _installed(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
