"""What the scripts share that generate pages of docs: their option, and writing a page or checking it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path


def is_check(description: str | None, arguments: Sequence[str]) -> bool:
    """Read the options of a script; whether `--check` is among them. `--help` prints the description and exits."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say what is out of date, exit 1 if anything is")
    is_asked: bool = parser.parse_args(arguments).check
    return is_asked


def write_or_check(page: Path, text: str, *, summary: str, checks: bool) -> int:
    """Write a page and print a summary, or only return whether the page is out of date; the exit status."""
    if checks:
        is_stale = not page.is_file() or page.read_text(encoding="utf-8") != text
        if is_stale:
            print(f"Out of date: docs/{page.name}. Run `make docs`.", file=sys.stderr)
        return int(is_stale)
    page.write_text(text, encoding="utf-8")
    print(f"{summary} → docs/{page.name}")
    return 0
