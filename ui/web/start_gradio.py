"""Import gradio without the two things that take half of the time and serve no page.

Gradio keeps type stubs for editors: at import it parses the source of each of its
components twice and writes files next to them. And it imports the MCP library where that is
installed, for a server that this page never starts. Call `start_gradio` before the first
`import gradio`; after that nothing is out of the ordinary.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_STUB_KEEPER = "gradio.component_meta"
_OPTIONAL = "mcp"


def start_gradio() -> None:
    """Import gradio; does nothing if that has happened."""
    if "gradio" in sys.modules:
        return
    finder = WithoutStubs()
    hides_mcp = _OPTIONAL not in sys.modules
    sys.meta_path.insert(0, finder)
    if hides_mcp:
        sys.modules[_OPTIONAL] = None  # type: ignore[assignment]  # `import mcp` fails, as where it is not installed
    try:
        importlib.import_module("gradio")
    finally:
        sys.meta_path.remove(finder)
        if hides_mcp:
            del sys.modules[_OPTIONAL]


class WithoutStubs(MetaPathFinder):
    """Finds the one module that keeps the stubs, and takes their upkeep out of it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec with a loader around its own."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == _STUB_KEEPER else None
        if spec is not None and spec.loader is not None:
            spec.loader = _StublessLoader(spec.loader)
        return spec


class _StublessLoader(Loader):
    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._own.exec_module(module)
        vars(module)["create_or_modify_pyi"] = _keep_no_stub


def _keep_no_stub(component_class: type, class_name: str, events: object) -> None:
    """Stand in for gradio's upkeep of stubs."""
