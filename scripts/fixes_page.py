"""Give each rule its row in docs/fixes.md: its fix in the words of its first case, and whether it was tried.

python scripts/fixes_page.py            write the rows, remove those of rules that are gone
python scripts/fixes_page.py --check    say whether the page is out of date, exit 1 if so

Whether a fix was tried is written by hand and verified by `tests/test_fixes.py`; a new row says *not tried*.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.diagnose import RULES  # noqa: E402  # the checkout comes first on the path
from scripts.generated import is_check, write_or_check  # noqa: E402
from tests.core.diagnose.cases import build_trace, load_rule_cases  # noqa: E402  # likewise

PAGE = ROOT / "docs" / "fixes.md"
_ROW = re.compile(r"^\| (PD\d{3}) .*\| (.*?) \|\n", re.MULTILINE)


def fill_rows(page: str) -> str:
    """Return the page with one row for each rule, in the order of their codes."""
    tried = {row[1]: row[2] for row in _ROW.finditer(page)}
    head, tail = page[: page.index("| PD")], page[max(row.end() for row in _ROW.finditer(page)) :]
    return head + "".join(_row(code, tried.get(code, "not tried")) for code in sorted(RULES)) + tail


def _row(code: str, tried: str) -> str:
    fixes = (
        finding.fix
        for case in load_rule_cases()
        if case.code == code and case.fires
        for finding in RULES[code].check(build_trace(case.case))
    )
    fix = " ".join(next(fixes, "").split()).replace("|", "\\|")
    return f"| {code} {RULES[code].name} | {fix} | {tried} |\n"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    checks = is_check(__doc__, arguments)
    whole = fill_rows(PAGE.read_text(encoding="utf-8"))
    return write_or_check(PAGE, whole, summary=f"{len(RULES)} rules", checks=checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
