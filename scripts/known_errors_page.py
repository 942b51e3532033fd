"""Write docs/known-errors.md from the tables of known sentences.

python scripts/known_errors_page.py            write
python scripts/known_errors_page.py --check    say whether it is out of date, exit 1 if so
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.known_errors import ERROR_CLASSES, KNOWN_ERRORS, KnownError  # noqa: E402  # the checkout comes first
from scripts.generated import is_check, write_or_check  # noqa: E402

PAGE = ROOT / "docs" / "known-errors.md"
_HEAD = """\
# Known errors

Sentences that servers, vendors, chat templates and clients are known to say when a chat request fails. Paste one, with
or without its context, into the page or into `prompt-debugger inspect -`: it says who says it, at which
stage, what it means and what helps. With the request, the field or message that it is about is looked up.

{count} sentences of {makers} makers. Parts in braces vary. *Tried* means that the sentence was raised on that release
for this table; the others were read in the source that is named, and their wording may have changed since. A maker is
a file in `core/known_errors/`; `scripts/known_errors_page.py` writes this page.
"""
_CLASSES_HEAD = """
## Sentences that are in no table

They belong to a class by what their words mean, wherever they come from: gateways' wrapped bodies, escaped and cut
JSON, exceptions at the end of a traceback, lines of a log. What is said then holds for the whole class, names the field
or message that the words name, and is marked as inferred. The first class that fits counts. A sentence of no class is
shown whole, with who reported it and at which stage where a traceback shows that; an error of another program gets one
sentence and no finding.
"""


def page() -> str:
    """Return the page."""
    count = sum(map(len, KNOWN_ERRORS.values()))
    parts = [_HEAD.format(count=count, makers=len(KNOWN_ERRORS))]
    for maker, errors in sorted(KNOWN_ERRORS.items(), key=lambda item: item[0].lower()):
        parts.append(f"\n## {maker[:1].upper()}{maker[1:]}\n\n{_table(errors)}")
    return "".join([*parts, _classes()])


def _classes() -> str:
    """Return the classes of sentences that no one wrote down."""
    rows = "".join(
        f"| {error.subject} | {error.stage.value} | {_plain(error.means)} | {_plain(error.remedy)} |\n"
        for error in ERROR_CLASSES
    )
    return f"{_CLASSES_HEAD}\n| class | stage | what it means | what helps |\n|---|---|---|---|\n{rows}"


def _plain(text: str) -> str:
    """Return a sentence of a class with what it says where the words name no part."""
    return re.sub(r"\{\w+\|([^}]*)\}", r"\1", text).replace("|", chr(92) + "|")


def _table(errors: tuple[KnownError, ...]) -> str:
    head = "| sentence | stage | what it means | what helps | source |\n|---|---|---|---|---|\n"
    return head + "".join(_row(error) for error in errors)


def _row(error: KnownError) -> str:
    field = f" Field: `{error.field}`." if error.field else ""
    source = f"[thread]({error.link})" if error.link else f"`{error.source}`"
    tried = f"; tried on {error.tried}" if error.tried else ""
    cells = (
        _code(error.says),
        error.stage.value,
        f"{error.means}{field}",
        error.remedy or "Not known.",
        source + tried,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    checks = is_check(__doc__, arguments)
    count = sum(map(len, KNOWN_ERRORS.values()))
    return write_or_check(PAGE, page(), summary=f"{count} sentences", checks=checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
