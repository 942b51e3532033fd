"""docs/reports.md names what is said now, and links only to reports that rules name."""

from __future__ import annotations

import re

from prompt_debugger.core.diagnose import RULES
from scripts.reports_page import PAGE, page
from tests.core.diagnose.cases import load_rule_cases


def test_the_page_says_what_the_rules_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_every_rule_with_reports_and_a_case_of_its_own_has_a_row() -> None:
    fired = {case.code for case in load_rule_cases() if case.fires}
    expected = {code for code, rule in RULES.items() if rule.threads and code in fired}

    assert set(re.findall(r"^\| \[(PD\d{3})\]", page(), re.MULTILINE)) == expected
