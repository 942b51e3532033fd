"""What holds the shape of the project together: names, places, promises of the README."""

import ast
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter

from tests.conftest import ROOT

CODE = [path for folder in ("core", "ui") for path in (ROOT / folder).rglob("*.py")]
TRACKED_TEXT = [
    path
    for path in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if not path.endswith((".safetensors", ".png", ".woff2")) and not (ROOT / path).is_dir()  # nor links to folders
]


def test_no_module_outgrows_its_idea():  # docs/adr/0012-six-hundred-lines.md
    assert [str(path) for path in CODE if len(path.read_text().splitlines()) > 600] == []


def test_no_modules_import_one_another_in_a_circle():
    """Imports inside functions and for type checking alone count too: a circle is one idea in several files."""
    names = {_name_of(path): path for path in CODE}
    graph = {
        name: {one for one in _imports(path) if one in names and one != name} - _LATER.get(name, set())
        for name, path in names.items()
    }

    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_every_function_is_named_by_what_it_does():
    """`with_x` and `without_x` have no verb: `add_x`, `drop_x`, `replace_x` say what happens."""
    folders = ("core", "ui", "scripts", "benchmarks", "tests")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in (one for folder in folders for one in (ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.lstrip("_").startswith(("with_", "without_"))
    ]

    assert not found


# What pydantic asks a type about itself, imported when it asks.
_LATER = {"prompt_debugger.core.base.types.base": {"prompt_debugger.core.base.types.outside"}}


def _name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("prompt_debugger", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = ROOT.joinpath(*node.module.split(".")[1:])
            for alias in node.names:
                is_module = (module / f"{alias.name}.py").is_file() or (module / alias.name).is_dir()
                yield f"{node.module}.{alias.name}" if is_module else node.module


def test_every_module_says_what_it_is():
    beginnings = ('"""', 'r"""', "#")

    assert [str(path) for path in CODE if not path.read_text().lstrip().startswith(beginnings)] == []


def test_nothing_names_a_registry_or_a_folder_of_some_machine():
    hosts = re.compile(r"pypi\.org|pythonhosted|deb\.debian\.org|registry\.npmjs|/ro" + r"ot/|/wo" + r"rk/")

    bad = [path for path in TRACKED_TEXT if hosts.search((ROOT / path).read_text("utf-8", "replace"))]

    assert [path for path in bad if path != "tests/test_architecture.py"] == []


def test_the_core_does_not_import_the_page_or_heavy_libraries():
    heavy = ("gradio", "torch", "vllm", "prompt_debugger.ui")
    code = f"import prompt_debugger.core.pipeline, sys; print([m for m in {heavy} if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_the_examples_of_the_contract_exist():
    from prompt_debugger.core.pipeline import EXAMPLE_NAMES

    assert set(EXAMPLE_NAMES) == {
        "healthy-call", "parallel-calls", "missing-generation-prompt", "polluted-content", "dropped-call",
        "truncated-call", "wrong-parser", "answer-swallowed-as-reasoning", "tutorial-tool-types",
    }  # fmt: skip
    for name in EXAMPLE_NAMES:
        case = json.loads((ROOT / "assets" / "examples" / f"{name}.json").read_text())
        assert case["name"] == name
        assert case["title"]
        assert case["story"]


def test_every_target_of_the_makefile_is_described():
    targets = re.findall(r"^([a-z-]+):(?!=)(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert [name for name, rest in targets if "##" not in rest and name != "lint"] == []


def test_make_goldens_runs_every_test_of_the_core_that_writes_them():
    option = "update_" + "goldens"
    writers = {
        str(path.relative_to(ROOT)) for path in (ROOT / "tests/core").rglob("test_*.py") if option in path.read_text()
    }
    listed = re.search(r"^GOLDENS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert listed
    assert set(listed[1].split()) == writers


def test_the_lock_holds_names_and_versions_only():
    lines = (ROOT / "requirements.lock").read_text().splitlines()

    assert [
        line
        for line in lines
        if not re.fullmatch(r'[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+( ; python_version >= "3\.\d+")?', line)
    ] == []


def test_what_needs_a_browser_lies_in_one_folder():
    """`make test` looks for such tests nowhere else."""
    mark = "mark." + "browser"
    marked = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py") if mark in path.read_text()]

    assert marked
    assert [str(path) for path in marked if path.parent.name != "browser"] == []
