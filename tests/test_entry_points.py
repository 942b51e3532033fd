"""Families and rules of others, installed from a wheel: found by entry points, used like ours, blamed by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.core.formats.test_records import NEW_FAMILY
from tests.programs import run_in

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "mint-debugging"
version = "1.0"

[project.entry-points."prompt_debugger.families"]
mint = "mint_debugging.family"

[project.entry-points."prompt_debugger.rules"]
mint_city = "mint_debugging.rule"

[tool.hatch.build.targets.wheel]
only-include = ["mint_debugging"]
"""
RULE = '''
"""A call asks for the weather of a city that is not there."""

from prompt_debugger.core.base.types import Severity, Stage
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule


def find(trace):
    """Report calls that name Atlantis."""
    for call in () if trace.parse is None else trace.parse.parsed.calls:
        if "Atlantis" in call.arguments:
            yield Report("The call asks for Atlantis.", "There is no such city.", fix="Ask for another city.")


def broken(trace, finding):
    """Fail, as a fix with a slip in it does."""
    raise KeyError("city")


FIXES = (RequestFix("never offered", broken), RequestFix("another seed", setting(seed=7)))
RULE = TraceRule("PD599", "mint-city", Severity.WARNING, Stage.CONTRACT, find, fixes=FIXES)
'''
OFFERED = """
from prompt_debugger.core.base.types import Finding, Request, Severity, Stage, Trace
from prompt_debugger.core.tools.fixes.offered import fixes_of

finding = Finding("PD599", "mint-city", Severity.WARNING, Stage.CONTRACT, "", "")
for code, fix in fixes_of(Trace(Request({"messages": []}, ""), findings=(finding,))).items():
    print(code, fix.kind, fix.name, fix.patch, fix.alternatives)
"""
CALL = '<mint:call>{{"name": "get_weather", "arguments": {{"city": "{}"}}}}</mint:call><mint:end>'


@pytest.fixture(name="packages", scope="module")
def fixture_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which a wheel with a family and a rule is installed."""
    folder = tmp_path_factory.mktemp("mint")
    module = folder / "mint_debugging"
    module.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (module / "__init__.py").write_text("", encoding="utf-8")
    (module / "family.py").write_text(NEW_FAMILY, encoding="utf-8")
    (module / "rule.py").write_text(RULE, encoding="utf-8")
    run_in(folder, [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    (wheel,) = folder.glob("*.whl")
    packages = folder / "packages"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index"]
    run_in(folder, [*pip, "--target", str(packages), str(wheel)])
    return packages


def _parse(text: str, path: Path | None) -> subprocess.CompletedProcess[str]:
    return run_in(ROOT, [sys.executable, "app.py", "parse", "-", "--json"], text, path)


def test_a_family_and_a_rule_of_a_wheel_are_used_like_ours(packages: Path) -> None:
    lost = json.loads(_parse(CALL.format("Atlantis"), packages).stdout)
    fine = json.loads(_parse(CALL.format("Paris"), packages).stdout)

    assert (lost["format"], [call["name"] for call in lost["calls"]]) == ("mint", ["get_weather"])
    assert [finding["code"] for finding in lost["findings"]] == ["PD599"]
    assert (fine["format"], fine["findings"]) == ("mint", [])


def test_a_fix_comes_with_its_rule_and_one_that_fails_hides_no_other(packages: Path) -> None:
    done = run_in(ROOT, [sys.executable, "-c", OFFERED], packages=packages)

    added = {"op": "add", "path": "/seed", "value": 7}
    assert (done.stdout, done.stderr) == (f"PD599 request another seed ({added},) ()\n", "")


def test_without_the_wheel_no_one_knows_them() -> None:
    parsed = json.loads(_parse(CALL.format("Atlantis"), None).stdout)

    assert parsed["format"] != "mint"
    assert "PD599" not in [finding["code"] for finding in parsed["findings"]]


def test_a_package_that_cannot_be_imported_is_named_in_one_line(packages: Path, tmp_path: Path) -> None:
    broken = tmp_path / "packages"
    run_in(tmp_path, ["cp", "-r", str(packages), str(broken)])
    (broken / "mint_debugging" / "rule.py").write_text("import nothing_that_exists\n", encoding="utf-8")

    done = _parse(CALL.format("Paris"), broken)

    assert done.returncode == 2
    assert "`mint_city` of `prompt_debugger.rules` in `mint-debugging` cannot be imported" in done.stderr
    assert "Traceback" not in done.stderr
