"""Write docs/rules from the docstrings of the rules and the texts of `check`: one page each, and an index.

python scripts/rule_docs.py            write
python scripts/rule_docs.py --check    say what is out of date, exit 1 if anything is
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.errors import PluginError  # noqa: E402  # the checkout comes first on the path
from prompt_debugger.ui.rule_pages import (  # noqa: E402  # the checkout comes first on the path
    index_page,
    page_name,
    rule_page,
    rule_pages,
)
from scripts.generated import is_check  # noqa: E402

FOLDER = ROOT / "docs" / "rules"
_WRITTEN = """Written by `scripts/rule_docs.py` from the docstrings in `core/diagnose/rules`, and from the texts in
`core/tools/check/template/catalogue.py`."""


def all_pages() -> dict[str, str]:
    """Return every page by file name; each says where in the repository it comes from."""
    pages = {page_name(page): f"{rule_page(page)}\nCases: `{page.cases}`\n" for page in rule_pages().values()}
    return {"README.md": index_page().replace("# Rules\n", f"# Rules\n\n{_WRITTEN}\n", 1), **pages}


def stale_pages() -> list[str]:
    """Return the names of pages that are missing, out of date or left over."""
    pages = all_pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(name for name in pages.keys() | there.keys() if pages.get(name) != there.get(name))


def write_pages() -> None:
    """Write every page and remove those that belong to no rule."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = all_pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    try:
        return _run(arguments)
    except PluginError as error:
        print(f"{error.message} {error.hint}", file=sys.stderr)
        return 2


def _run(arguments: list[str]) -> int:
    if is_check(__doc__, arguments):
        stale = stale_pages()
        if stale:
            print("Out of date: " + ", ".join(stale) + ". Run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    write_pages()
    print(f"{len(rule_pages())} rules → {FOLDER.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
