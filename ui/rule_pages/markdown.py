"""The pages about the rules, as Markdown: made from the docstrings of the files that define them."""

from __future__ import annotations

import inspect
import re
import textwrap

from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.diagnose.blame import BLAME_ORDER
from prompt_debugger.core.diagnose.invariants import INVARIANTS
from prompt_debugger.core.protocols import Rule

HEADINGS = ("What it finds", "Why it matters", "Bad", "Good", "Source")
_SECTION = re.compile(rf"^({'|'.join(HEADINGS)}):\n", re.MULTILINE)


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


def page_name(rule: Rule) -> str:
    """Return the file name of a rule's page."""
    return f"{rule.code}-{rule.name}.md"


def rule_page(rule: Rule) -> str:
    """Return the page of one rule."""
    sections = read_sections(rule_docstring(rule))
    lines = [f"# {rule.code} {rule.name}", "", sections[""], ""]
    lines += [f"Severity: **{rule.severity.value}** · stage: **{rule.stage.value}**", ""]
    for heading in HEADINGS:
        lines += [f"## {heading}", "", sections[heading], ""]
    links = getattr(rule, "links", ())
    if links:
        lines += ["## Known reports", "", *(f"* <{link}>" for link in links), ""]
    lines += [f"Cases: `tests/rules/{rule.code}.yml`", ""]
    return "\n".join(lines)


def index_page() -> str:
    """Return the index: the rules, the order of blame, the invariants."""
    order = " → ".join(stage.value for stage in BLAME_ORDER[:-1])
    lines = [
        "# Rules",
        "",
        "Written by `scripts/rule_docs.py` from the docstrings in `core/diagnose/rules`.",
        "",
        f"Order of blame: {order}, and {BLAME_ORDER[-1].value} where nothing behind it broke.",
        "",
        "| code | name | severity | stage | what it says |",
        "|---|---|---|---|---|",
    ]
    for rule in RULES.values():
        sentence = read_sections(rule_docstring(rule))[""].replace("|", "\\|")
        link = f"[{rule.code}]({page_name(rule)})"
        lines.append(f"| {link} | {rule.name} | {rule.severity.value} | {rule.stage.value} | {sentence} |")
    lines += ["", "A rule that crashes is reported as PD900 `rule-crashed`, and the others still run.", ""]
    lines += ["## Ten invariants and who watches over them", ""]
    lines += ["| invariant | what holds in a healthy run | rules | not seen yet |", "|---|---|---|---|"]
    for invariant in INVARIANTS:
        codes = " ".join(f"[{code}]({page_name(RULES[code])})" for code in invariant.codes)
        lines.append(f"| {invariant.name} | {invariant.statement} | {codes} | {invariant.gap} |")
    return "\n".join([*lines, ""])
