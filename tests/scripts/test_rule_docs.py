"""The pages of docs/rules say what the rules' docstrings say."""

from __future__ import annotations

import re

import pytest

from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.diagnose.invariants import INVARIANTS
from prompt_debugger.core.types import Stage
from prompt_debugger.ui.rule_pages import HEADINGS, read_sections, rule_docstring, rule_pages
from scripts.rule_docs import stale_pages

STAGE_DIGITS = {
    Stage.REQUEST: "1",
    Stage.RENDER: "2",
    Stage.COMPLETE: "3",
    Stage.PARSE: "4",
    Stage.CONTRACT: "5",
}


def test_the_pages_are_up_to_date() -> None:
    assert stale_pages() == [], "run `make docs`"


@pytest.mark.parametrize("code", rule_pages())
def test_every_rule_is_documented_under_the_fixed_headings(code: str) -> None:
    sections = rule_pages()[code].sections

    assert list(sections) == ["", *HEADINGS]
    assert all(sections.values())
    assert sections[""].endswith(".")


@pytest.mark.parametrize("code", rule_pages())
def test_every_source_names_its_tier(code: str) -> None:
    source = rule_pages()[code].sections["Source"]

    assert re.match(r"(publisher|tracker|community|derived): ", source)


@pytest.mark.parametrize("code", RULES)
def test_every_linked_thread_is_named_among_the_sources(code: str) -> None:
    source = read_sections(rule_docstring(RULES[code]))["Source"]
    links = RULES[code].links  # type: ignore[attr-defined]  # our rules are `TraceRule`
    threads = [re.sub(r"https://github\.com/(.+)/issues/(\d+)", r"\1#\2", link) for link in links]

    assert [thread for thread in threads if thread not in source and "github.io" not in thread] == []


@pytest.mark.parametrize("code", RULES)
def test_a_code_says_its_stage(code: str) -> None:
    assert re.fullmatch(r"PD[1-5]\d\d", code)
    assert code[2] == STAGE_DIGITS[RULES[code].stage]


def test_names_are_unique_and_kebab_case() -> None:
    names = [page.name for page in rule_pages().values()]

    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_explanations_name_rules_that_exist() -> None:
    named = {code for rule in RULES.values() for code in rule.explains}  # type: ignore[attr-defined]

    assert named - set(RULES) == set()


def test_every_invariant_is_watched_by_rules_that_exist() -> None:
    assert len(INVARIANTS) == 10
    for invariant in INVARIANTS:
        assert invariant.codes
        assert set(invariant.codes) <= set(RULES)
