"""What a page about a rule says, no matter who the rule belongs to: a run, or `check`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.tools.check.template.catalogue import TEMPLATE_RULES, TemplateRule

HEADINGS = ("What it finds", "Why it matters", "Bad", "Good", "Source")
_SECTION = re.compile(rf"^({'|'.join(HEADINGS)}):\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RulePage:
    """A page about one rule."""

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
    """Return the pages of all rules by their code: those of a run, then those of `check`.

    Raises:
        PluginError: A docstring has not the headings that a page is made of.
    """
    return {
        **{code: page_of_rule(rule) for code, rule in RULES.items()},
        **{code: _page_of_template_rule(rule) for code, rule in TEMPLATE_RULES.items()},
    }


def rule_docstring(rule: Rule) -> str:
    """Return the docstring of the file that defines a rule."""
    module = _module_of(rule)
    return inspect.cleandoc((module.__doc__ if module else None) or "")


def read_sections(docstring: str) -> dict[str, str]:
    """Return the text under each heading, and the first line under ""."""
    first, *rest = _SECTION.split(docstring)
    sections = {"": first.strip()}
    for heading, text in zip(rest[::2], rest[1::2], strict=True):
        sections[heading] = textwrap.dedent(text).strip()
    return sections


def _module_of(rule: Rule) -> ModuleType | None:
    """Return the file that defines a rule: that of its function, since all rules are of one class."""
    return inspect.getmodule(getattr(rule, "find", rule.check))


def page_of_rule(rule: Rule) -> RulePage:
    """Return the page of a rule of a run.

    Raises:
        PluginError: The docstring of its file has not the headings that a page is made of.
    """
    sections = read_sections(rule_docstring(rule))
    missing = [f"`{heading}:`" for heading in HEADINGS if not sections.get(heading)]
    if missing:
        module = _module_of(rule)
        where = f"core/diagnose/rules/{module.__name__.rpartition('.')[2] if module else rule.code}.py"
        raise PluginError(
            f"The docstring of `{where}` has no text under {', '.join(missing)}.",
            f"Its headings, each on a separate line, are {', '.join(f'`{heading}:`' for heading in HEADINGS)}.",
        )
    links = tuple(getattr(rule, "links", ()))
    cases = f"tests/rules/{rule.code}.yml"
    return RulePage(rule.code, rule.name, rule.severity.value, rule.stage.value, sections, links, cases)


def _page_of_template_rule(rule: TemplateRule) -> RulePage:
    severity = " or ".join(one.value for one in rule.severities)
    cases = "tests/core/tools/check/"
    sections = read_sections(rule.text)
    return RulePage(rule.code, rule.name, severity, rule.stage.value, sections, (), cases, is_of_a_run=False)
