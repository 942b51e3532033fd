"""Every finding of `check` is in the catalogue as it is made, and a test plants it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from prompt_debugger.core.tools.check.template.catalogue import CODES, TEMPLATE_RULES
from tests.conftest import ROOT

CHECK = ROOT / "core" / "tools" / "check"
TESTS = Path(__file__).parent


def made() -> set[tuple[str, frozenset[str]]]:
    """Return name and severities of each call of `found`; no severities where they are no literals."""
    calls = []
    for path in CHECK.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "found":
                calls.append(node)
    return {(ast.literal_eval(one.args[0]), frozenset(severities(one.args[1]))) for one in calls}


def severities(node):
    return (one.attr.lower() for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr.isupper())


def test_what_is_made_and_what_is_reported_are_the_same():
    assert {name for name, _ in made()} == set(CODES)
    assert len(CODES) == len(TEMPLATE_RULES)


@pytest.mark.parametrize(("name", "how"), sorted(made(), key=str))
def test_a_finding_has_a_severity_that_is_reported(name, how):
    shown = {one.value for one in TEMPLATE_RULES[CODES[name]].severities}

    assert how <= shown


@pytest.mark.parametrize("name", CODES)
def test_a_finding_is_planted_by_a_test(name):
    others = [path for path in TESTS.glob("test_*.py") if path != Path(__file__)]

    assert [path.name for path in others if re.search(rf'"{name}"', path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("rule", TEMPLATE_RULES.values(), ids=lambda rule: rule.code)
def test_its_code_is_one_that_no_run_has(rule):
    assert re.fullmatch(r"PD8\d\d", rule.code)
