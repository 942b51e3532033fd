"""The pages of docs/rules say what the rules' docstrings say."""

from __future__ import annotations

import re

import pytest

from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.diagnose.invariants import INVARIANTS
from prompt_debugger.core.diagnose.rules import duplicate_stop
from prompt_debugger.ui.rule_pages import HEADINGS, page_of_rule, read_sections, rule_docstring, rule_pages
from scripts import rule_docs
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


def test_every_rule_is_documented_under_the_fixed_headings() -> None:
    for code, page in rule_pages().items():
        assert list(page.sections) == ["", *HEADINGS], code
        assert all(page.sections.values()), code
        assert page.sections[""].endswith("."), code


def test_a_docstring_without_a_heading_is_refused_with_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES["PD107"]
    monkeypatch.setattr(duplicate_stop, "__doc__", str(duplicate_stop.__doc__).replace("Bad:", "Badd:"))

    with pytest.raises(PluginError, match=r"`core/diagnose/rules/duplicate_stop\.py` has no text under `Bad:`"):
        page_of_rule(rule)


def test_make_docs_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise PluginError("The docstring of `x.py` has no text under `Bad:`.", "Its headings are these.")

    monkeypatch.setattr(rule_docs, "write_pages", refuse)

    assert rule_docs.main([]) == 2
    assert capsys.readouterr().err == "The docstring of `x.py` has no text under `Bad:`. Its headings are these.\n"


def test_every_source_names_its_tier() -> None:
    sources = {code: page.sections["Source"] for code, page in rule_pages().items()}

    tiers = r"(publisher|tracker|community|derived): "
    assert [code for code, source in sources.items() if not re.match(tiers, source)] == []


def test_every_linked_thread_is_named_among_the_sources() -> None:
    for code, rule in RULES.items():
        source = read_sections(rule_docstring(rule))["Source"]
        threads = [re.sub(r"https://github\.com/(.+)/issues/(\d+)", r"\1#\2", link) for link in rule.links]

        assert [thread for thread in threads if thread not in source and "github.io" not in thread] == [], code


def test_a_code_says_its_stage() -> None:
    """The third character of a code is its stage's digit."""
    assert [code for code, rule in RULES.items() if code[2] != STAGE_DIGITS[rule.stage]] == []


def test_names_are_unique_and_kebab_case() -> None:
    names = [page.name for page in rule_pages().values()]

    assert [name for name in names if names.count(name) > 1] == [], "names of two pages: rename one of the rules"
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_explanations_name_rules_that_exist() -> None:
    named = {code for rule in RULES.values() for code in rule.explains}

    assert named - set(RULES) == set()


def test_every_invariant_is_watched_by_rules_that_exist() -> None:
    assert len(INVARIANTS) == 10
    for invariant in INVARIANTS:
        assert invariant.codes
        assert set(invariant.codes) <= set(RULES)
