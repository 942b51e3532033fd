"""Which renderer this release of vLLM uses for a model: the chat template, or one of its own that never reads it.

All of it is read from the release: the renderers from its registry, the modes by architecture from the source of its
configuration, and for a Mistral folder its own code decides by the files.
"""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TEMPLATE = "hf"


def renderer_of(order: dict[str, Any]) -> dict[str, Any]:
    """Return the tokenizer mode of a model, and the renderer of each mode that does not use a template.

    Raises:
        ImportError: This release has no registry of renderers.
    """
    known = importlib.import_module("vllm.renderers.registry").RENDERER_REGISTRY.renderers
    own = {mode: ".".join(where) for mode, where in known.items() if where != known[_TEMPLATE]}
    by_architecture = _modes()
    mode = next((by_architecture[one] for one in order["architectures"] if one in by_architecture), "")
    reason = "architecture" if mode else ""
    if not mode and order.get("tokenizer"):
        registry = importlib.import_module("vllm.tokenizers.registry")
        mode = registry.resolve_tokenizer_args(order["tokenizer"], tokenizer_mode="auto")[0]
        reason = "files"
    named = {one: [name for name, its_mode in by_architecture.items() if its_mode == one] for one in own}
    return {"mode": mode, "reason": reason, "own": own, "architectures": named}


@functools.cache
def _modes() -> dict[str, str]:
    """Return the mode that the release's configuration takes for an architecture, by its source."""
    module = importlib.import_module("vllm.config.model")
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    return {
        architecture: mode
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and (mode := _mode_set_in(branch)) is not None
        for architecture in _architectures_in(branch.test)
    }


def _mode_set_in(branch: ast.If) -> str | None:
    for line in branch.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            target = line.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == "tokenizer_mode":
                return str(line.value.value)
    return None


def _architectures_in(test: ast.expr) -> Iterator[str]:
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id.startswith("arch"):
        for one in ast.walk(test.comparators[0]):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value
