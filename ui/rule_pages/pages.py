"""What a page about a rule says, whoever the rule belongs to: a run, or `check`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from prompt_debugger.core.check.template.catalogue import TEMPLATE_RULES, TemplateRule
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.protocols import Rule

HEADINGS = ("What it finds", "Why it matters", "Bad", "Good", "Source")
_SECTION = re.compile(rf"^({'|'.join(HEADINGS)}):\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RulePage:
    """A page about one rule.

    Attributes:
        code: Such as PD401.
        name: In kebab case.
        severity: Its severities in words, worst first.
        stage: Where the fault lies.
        sections: The text under each heading, and the first sentence under "".
        links: Threads in which it was reported.
        cases: The file that proves it, from the top of the checkout.
        is_of_a_run: Whether a run can have it; otherwise only `check` says it.
    """

    code: str
    name: str
    severity: str
    stage: str
    sections: Mapping[str, str]
    links: tuple[str, ...]
    cases: str
    is_of_a_run: bool = True


@cache
def rule_pages() -> Mapping[str, RulePage]:
    """Return the pages of all rules by their code: those of a run, then those of `check`."""
    return {
        **{code: _of_rule(rule) for code, rule in RULES.items()},
        **{code: _of_template_rule(rule) for code, rule in TEMPLATE_RULES.items()},
    }


def rule_docstring(rule: Rule) -> str:
    """Return the docstring of the file that defines a rule."""
    find = getattr(rule, "find", rule.check)
    module = inspect.getmodule(find)
    return inspect.cleandoc((module.__doc__ if module else None) or "")


def read_sections(docstring: str) -> dict[str, str]:
    """Return the text under each heading, and the first line under ""."""
    first, *rest = _SECTION.split(docstring)
    sections = {"": first.strip()}
    for heading, text in zip(rest[::2], rest[1::2], strict=True):
        sections[heading] = textwrap.dedent(text).strip()
    return sections


def _of_rule(rule: Rule) -> RulePage:
    sections = read_sections(rule_docstring(rule))
    links = tuple(getattr(rule, "links", ()))
    cases = f"tests/rules/{rule.code}.yml"
    return RulePage(rule.code, rule.name, rule.severity.value, rule.stage.value, sections, links, cases)


def _of_template_rule(rule: TemplateRule) -> RulePage:
    severity = " or ".join(one.value for one in rule.severities)
    cases = "tests/core/check/"
    sections = read_sections(rule.text)
    return RulePage(rule.code, rule.name, severity, rule.stage.value, sections, (), cases, is_of_a_run=False)
