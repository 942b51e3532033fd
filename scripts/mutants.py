"""Change the code in small ways, one at a time, and see whether a test notices.

    python scripts/mutants.py                       the sample that docs/testing.md reports
    python scripts/mutants.py --sample 40 --group ledger

Mutmut makes the changes and finds the tests for each. Here is decided what is
changed, by which tests it may be caught, and which of the thousands of changes
are tried: a sample drawn with a seed, so that two runs try the same ones while
the code stays the same. Everything happens in a copy of the checkout.

Left out are changes to the words of a sentence (a text that contains a space):
tests hold what a sentence tells, not how it is put. Left out as well is what
changes nothing: the type that `cast` is told, which nothing reads as the
program runs, and a default that is left out or written as another falsehood.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "prompt_debugger"


class Group(NamedTuple):
    """Files that belong together.

    Attributes:
        files: What is changed; a star takes folders, too.
        tests: What has to notice.
        spared: What of `files` is left alone.
    """

    files: tuple[str, ...]
    tests: str
    spared: tuple[str, ...] = ()


GROUPS = {
    "ledger": Group(
        ("core/parse/ledger.py", "core/parse/matching.py", "core/base/account.py", "core/base/comparable.py"),
        "parse/test_ledger.py parse/test_ledger_edges.py parse/test_ledger_properties.py parse/test_matching.py "
        "base/test_account.py base/test_comparable.py",
    ),
    "reading": Group(
        ("core/parse/reading.py", "core/parse/tiling.py", "core/parse/mentions.py"),
        "formats/test_goldens.py formats/test_kimi_k2.py formats/test_readings.py parse/test_ledger.py",
    ),
    "evidence": Group(
        ("core/complete/evidence.py", "core/complete/own_run.py"),
        "complete/test_asked.py complete/test_completeness.py complete/test_contradictions.py "
        "complete/test_engines.py complete/test_evidence.py complete/test_ladder.py "
        "complete/test_llama_cpp_python.py complete/test_logprob_text.py complete/test_prompt_ids.py "
        "complete/test_refusals.py complete/test_second_sampling.py",
    ),
    "completeness": Group(
        ("core/complete/completeness.py",),
        "complete/test_completeness.py complete/test_contradictions.py complete/test_engines.py "
        "complete/test_evidence.py complete/test_refusals.py",
    ),
    # As the interpreter asks it; that it asks is tried in separate processes, which mutmut does not reach.
    "egress": Group(("core/base/egress.py",), "base/test_egress_rules.py"),
    "verdict": Group(
        ("core/diagnose/*.py",),
        "diagnose/test_advice.py diagnose/test_advice_by_software.py diagnose/test_arguments_as_content.py "
        "diagnose/test_broken_arguments.py diagnose/test_calls_as_text.py diagnose/test_changed_values.py "
        "diagnose/test_client_calls.py diagnose/test_departing_calls.py diagnose/test_diagnose.py "
        "diagnose/test_fixes.py diagnose/test_lost_arguments.py diagnose/test_markers.py "
        "diagnose/test_open_reasoning.py diagnose/test_other_forms.py diagnose/test_output_limit.py "
        "diagnose/test_own_names.py diagnose/test_parser_setup.py diagnose/test_promised.py "
        "diagnose/test_python_calls.py diagnose/test_readers.py diagnose/test_refusal_words.py "
        "diagnose/test_refusals.py diagnose/test_refused_fields.py diagnose/test_repeated_calls.py "
        "diagnose/test_request_alone.py diagnose/test_rules.py diagnose/test_schema_uses.py diagnose/test_schemas.py "
        "diagnose/test_shown.py diagnose/test_stream_lacks.py diagnose/test_thinking.py diagnose/test_trace_queries.py "
        "diagnose/test_unparsed_calls.py diagnose/test_verdict.py diagnose/test_verdict_sentences.py "
        "diagnose/test_written_calls.py evidence/test_healthy_forms.py evidence/test_shown_calls.py "
        "evidence/test_wild_calls.py evidence/test_wild_clients.py evidence/test_wild_leftovers.py",
        spared=("core/diagnose/rules/*.py",),
    ),
    "rules": Group(
        ("core/diagnose/rules/*.py",), "diagnose/test_diagnose.py diagnose/test_rules.py diagnose/test_shown.py"
    ),
    # What runs in the page's own process: mutmut does not reach the processes that the sandbox starts.
    "sandbox": Group(
        (
            *("core/sandbox/values.py", "core/sandbox/frames.py", "core/sandbox/fairness.py"),
            "core/sandbox/threads.py",
        ),
        "sandbox/test_values.py sandbox/test_fairness.py sandbox/test_threads.py",
    ),
}
# Mutmut tries each change in a copy of a process that has run the tests before: what it remembers would hide changes.
# Pytest remembers the ids that a function gave (`ids=repr`), and escapes them again in the next run: a test whose id
# has a backslash or is not ASCII is then found under another name than the one that mutmut asks for.
FORGETTING = """\
import functools
import gc

from _pytest.mark.structures import Mark


def pytest_sessionstart(session):
    gc.unfreeze()  # what was frozen meanwhile is not among the objects
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper):
            one.cache_clear()
        elif type(one) is Mark:
            object.__setattr__(one, "_param_ids_generated", None)
"""
# Mutmut does not reach the sandbox's processes: their jobs run in the tests' own, as a job does that a job asks for.
IN_PLACE = """\


def pytest_collection(session):
    from prompt_debugger.core.sandbox import sandbox

    sandbox.is_inside = lambda: True
"""
NOT_HEAVY = "not lab and not vllm and not browser and not network and not servers"
KILLED = (1, 3, 24, -24, 36, 152, 255)  # a test failed, or the change made it run forever (mutmut's codes)


def main() -> int:
    """Run the sample and print the score and the changes that no test noticed."""
    options = _options()
    top = Path(options.folder or tempfile.mkdtemp(prefix="mutants-"))
    groups = options.group or list(GROUPS)
    found = {group: _changes(top / group, group, options.jobs) for group in groups}
    draw = random.Random(options.seed)
    chosen = {group: sorted(draw.sample(names, min(options.sample, len(names)))) for group, names in found.items()}
    possible, tried = (sum(map(len, names.values())) for names in (found, chosen))
    print(f"{possible} changes could be made, {tried} are tried in {top}.", flush=True)
    codes: dict[str, int | None] = {}
    for group in groups:
        mine = chosen[group]
        for start in range(0, len(mine), 100):
            _mutmut(top / group, "run", "--max-children", str(options.jobs), *mine[start : start + 100])
        reported = _exit_codes(top / group)
        codes |= {name: reported[name] for name in mine}
        for name in mine:
            if reported[name] not in KILLED:
                _show(top / group, name)
    _print_score(codes)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=100, help="how many changes to try in each group (100)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (1)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--group", action="append", choices=GROUPS, help="change only these files; may be repeated")
    parser.add_argument("--folder", help="where to put the copy; default: a new temporary folder, which stays")
    return parser.parse_args()


def _changes(folder: Path, group: str, jobs: int) -> list[str]:
    """Copy the checkout, let mutmut make all changes of a group, and return their names."""
    files, tests, spared = GROUPS[group]
    _copy_checkout(folder)
    (folder / "tests" / "for_mutants.py").write_text(FORGETTING + IN_PLACE, encoding="utf-8")
    others = (path.name for path in folder.iterdir() if path.name not in ("pyproject.toml", PACKAGE, "tests"))
    values = {
        "source_paths": [PACKAGE],
        "only_mutate": [f"{PACKAGE}/{file}" for file in files],
        "do_not_mutate": [f"{PACKAGE}/{file}" for file in spared],
        "also_copy": sorted(others),
        "pytest_add_cli_args_test_selection": [f"tests/core/{test}" for test in tests.split()],
        "pytest_add_cli_args": [
            *("-m", NOT_HEAVY, "-p", "no:cacheprovider"),
            *("-p", "no:xdist", "-p", "tests.for_mutants"),
        ],
    }
    lines = (f"{key} = {json.dumps(value)}" for key, value in values.items())
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n".join(["", "[tool.mutmut]", *lines, ""]))
    # Mutmut makes all changes before it tries the first one: ask for those to one file's functions alone.
    one = max((folder / PACKAGE).glob(files[0])).relative_to(folder).with_suffix("")
    _mutmut(folder, "run", "--max-children", str(jobs), f"{'.'.join(one.parts)}.*__mutmut_1")
    return [name for name in sorted(_exit_codes(folder)) if not _is_idle(folder, name)]


def _copy_checkout(folder: Path) -> None:
    """Copy what git knows of, with the package's folders in it instead of links to them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for link in (ROOT / PACKAGE).iterdir():
        if link.is_symlink():
            shutil.copytree(folder / link.name, folder / PACKAGE / link.name, dirs_exist_ok=True)


def _mutmut(folder: Path, *arguments: str) -> str:
    # In CI's way, properties try the same examples every time: a change is caught always or never.
    environment = {**os.environ, "CI": "true"}
    command = [sys.executable, "-m", "mutmut", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"mutmut {arguments[0]} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def _exit_codes(folder: Path) -> dict[str, int | None]:
    """Return mutmut's exit codes by name of the change; `None` for what was not tried."""
    codes: dict[str, int | None] = {}
    for path in (folder / "mutants").rglob("*.py.meta"):
        codes |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


def _show(folder: Path, name: str) -> None:
    lines = _mutmut(folder, "show", name).splitlines()
    changed = [line for line in lines if line[:1] in ("-", "+") and line[:3] not in ("---", "+++")]
    print("\n".join(["", f"not noticed: {name}", *changed]), flush=True)


_FUNCTIONS: dict[Path, dict[str, ast.FunctionDef | ast.AsyncFunctionDef]] = {}


def _is_idle(folder: Path, name: str) -> bool:
    """Return whether a change is one of words alone, a text with a space in it, or changes nothing that runs."""
    module, _, function = name.rpartition(".")
    place = folder / "mutants" / Path(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if path not in _FUNCTIONS:
        tree = _WithoutIdle().visit(ast.parse(path.read_text(encoding="utf-8")))
        found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        _FUNCTIONS[path] = {node.name: node for node in found}
    functions = _FUNCTIONS[path]
    changed, original = functions[function], functions[function.rpartition("__mutmut_")[0] + "__mutmut_orig"]
    return _written(changed) == _written(original)


class _WithoutIdle(ast.NodeTransformer):
    """Takes out of code what has no effect, so that changes to it show no difference."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # the name that `ast` looks for
        """Forget the type that `cast` is told, and a `strict` of `zip` that is as good as its default."""
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called == "cast" and node.args:
            node.args[0] = ast.Constant("a type")
        if called == "zip":
            node.keywords = [one for one in node.keywords if not (one.arg == "strict" and _is_false(one.value))]
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Forget the words of a sentence."""
        is_sentence = isinstance(node.value, str) and " " in node.value
        return ast.Constant("…") if is_sentence else node


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _written(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return "\n".join(map(ast.dump, (function.args, *function.body)))


def _print_score(codes: dict[str, int | None]) -> None:
    killed, tried = Counter[str](), Counter[str]()
    for name, code in codes.items():
        module = name.rpartition(".")[0].removeprefix(f"{PACKAGE}.")
        module = "core.diagnose.rules" if module.startswith("core.diagnose.rules.") else module
        tried[module] += 1
        killed[module] += code in KILLED
    print("\n| module | tried | killed | |\n|---|---|---|---|")
    for module in [*sorted(tried), "all"]:
        tried_here = tried.total() if module == "all" else tried[module]
        killed_here = killed.total() if module == "all" else killed[module]
        print(f"| `{module}` | {tried_here} | {killed_here} | {100 * killed_here / tried_here:.0f} % |")


if __name__ == "__main__":
    raise SystemExit(main())
