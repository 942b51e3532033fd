"""The pages about the rules, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_debugger.core.diagnose.blame import BLAME_ORDER
from prompt_debugger.core.diagnose.invariants import INVARIANTS
from prompt_debugger.ui.rule_pages.pages import HEADINGS, RulePage, rule_pages


def page_name(page: RulePage) -> str:
    """Return the file name of a rule's page."""
    return f"{page.code}-{page.name}.md"


def rule_page(page: RulePage) -> str:
    """Return the page of one rule."""
    lines = [f"# {page.code} {page.name}", "", page.sections[""], ""]
    note = "" if page.is_of_a_run else " · reported by `check` only"
    lines += [f"Severity: **{page.severity}** · stage: **{page.stage}**{note}", ""]
    for heading in HEADINGS:
        lines += [f"## {heading}", "", page.sections[heading], ""]
    if page.links:
        lines += ["## Known reports", "", *(f"* <{link}>" for link in page.links), ""]
    return "\n".join(lines)


def index_page() -> str:
    """Return the index: the order of blame, the rules of a run, the invariants, and the findings of `check`."""
    order = " → ".join(stage.value for stage in BLAME_ORDER[:-1])
    pages = rule_pages()
    lines = [
        "# Rules",
        "",
        f"Order of blame: {order}, and {BLAME_ORDER[-1].value} if nothing after it broke.",
        "",
        *_table(page for page in pages.values() if page.is_of_a_run),
    ]
    lines += ["", "A rule that crashes is reported as PD900 `rule-crashed`, and the others still run.", ""]
    lines += ["## Ten invariants and the rules that check them", ""]
    lines += ["| invariant | what holds in a healthy run | rules | not covered yet |", "|---|---|---|---|"]
    for invariant in INVARIANTS:
        codes = " ".join(f"[{code}]({page_name(pages[code])})" for code in invariant.codes)
        lines.append(f"| {invariant.name} | {invariant.statement} | {codes} | {invariant.gap} |")
    lines += ["", "## What `check` reports about a template", ""]
    lines += ["Found by rendering, without a run.", ""]
    lines += _table(page for page in pages.values() if not page.is_of_a_run)
    return "\n".join([*lines, ""])


def _table(pages: Iterable[RulePage]) -> list[str]:
    lines = ["| code | name | severity | stage | what it reports |", "|---|---|---|---|---|"]
    for page in pages:
        sentence = page.sections[""].replace("|", "\\|")
        lines.append(
            f"| [{page.code}]({page_name(page)}) | {page.name} | {page.severity} | {page.stage} | {sentence} |"
        )
    return lines
