"""Write docs/reports.md: classes of public bug reports, what the program says of each, and the reports.

python scripts/reports_page.py            write the page
python scripts/reports_page.py --check    say whether it is out of date, exit 1 if so

What is said comes from the first case of each rule (`tests/rules`), which is our own artefact; the reports are
the rule's own `threads`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.types import Finding, Stage  # noqa: E402  # the checkout comes first on the path
from prompt_debugger.core.diagnose import RULES  # noqa: E402  # likewise
from prompt_debugger.core.diagnose.rules.base import TraceRule  # noqa: E402  # likewise
from scripts.generated import is_check, write_or_check  # noqa: E402
from tests.core.diagnose.cases import build_trace, load_rule_cases  # noqa: E402  # likewise

PAGE = ROOT / "docs" / "reports.md"
HEAD = """# Known reports, by class

Made by `scripts/reports_page.py`. Each row is a class of public bug reports: what this program says of an artefact of
that class (made by us, not copied from a report), and reports of the same class. `inspect` says it of what you paste.
Sentences of servers, vendors and clients, with their threads, have a separate page:
[known errors](known-errors.md).
"""


def page() -> str:
    """Return the page, one table for each stage."""
    said = dict(_said())
    parts = [HEAD]
    for stage in Stage:
        rows = [_row(rule, said[code]) for code, rule in _reported_rules() if code in said and rule.stage is stage]
        if rows:
            parts.append(
                f"\n## {stage.value.capitalize()}\n\n| rule | what is said | reports |\n|---|---|---|\n" + "".join(rows)
            )
    return "".join(parts)


def _reported_rules() -> list[tuple[str, TraceRule]]:
    return [(code, rule) for code, rule in RULES.items() if rule.threads]


def _said() -> Iterator[tuple[str, Finding]]:
    """Yield what each rule says of its first case."""
    seen: set[str] = set()
    for case in load_rule_cases():
        if not case.fires or case.code in seen:
            continue
        finding = next(iter(RULES[case.code].check(build_trace(case.case))), None)
        if finding is not None:
            seen.add(case.code)
            yield case.code, finding


def _row(rule: TraceRule, finding: Finding) -> str:
    links = ", ".join(f"[{thread}]({link})" for thread, link in zip(rule.threads, rule.links, strict=True))
    title = " ".join(finding.title.split()).replace("|", "\\|")
    return f"| [{rule.code}](rules/{rule.code}-{rule.name}.md) | {title} | {links} |\n"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    checks = is_check(__doc__, arguments)
    text = page()
    return write_or_check(PAGE, text, summary=f"{text.count(chr(10) + '| [')} classes", checks=checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
