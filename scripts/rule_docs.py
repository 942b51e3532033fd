"""Write docs/rules from the docstrings of the rules: one page each, and an index.

python scripts/rule_docs.py            write
python scripts/rule_docs.py --check    say what is out of date, exit 1 if anything is
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.diagnose import RULES  # noqa: E402  # the checkout comes first on the path
from prompt_debugger.core.diagnose.blame import BLAME_ORDER  # noqa: E402
from prompt_debugger.core.diagnose.invariants import INVARIANTS  # noqa: E402
from prompt_debugger.core.protocols import Rule  # noqa: E402

FOLDER = ROOT / "docs" / "rules"
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


def all_pages() -> dict[str, str]:
    """Return every page by file name."""
    return {"README.md": index_page(), **{page_name(rule): rule_page(rule) for rule in RULES.values()}}


def stale_pages(folder: Path = FOLDER) -> list[str]:
    """Return the names of pages that are missing, out of date or left over."""
    pages = all_pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in pages.keys() | there.keys() if pages.get(name) != there.get(name))


def write_pages(folder: Path = FOLDER) -> None:
    """Write every page and remove those that belong to no rule."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = all_pages()
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    if "--check" in arguments:
        stale = stale_pages()
        if stale:
            print("Out of date: " + ", ".join(stale) + ". Run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    write_pages()
    print(f"{len(RULES)} rules → {FOLDER.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
