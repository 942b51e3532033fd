r"""A text in the cell of a Markdown table → the text: `<br>` are its line ends, and its `|` are escaped.

    | version | output                         |
    | ------- | ------------------------------ |
    | 0.11    | <tool_call><br>{"name": "f"}<br></tool_call><\|im_end\|> |

Only cells that contain several lines are taken; the others name a release or a setting.
"""

from __future__ import annotations

import re

_RULE = re.compile(r"[ \t]*+\|?(?:[ \t]*+:?-{2,}+:?[ \t]*+(?:\||\Z))++[ \t]*+\Z")  # the line below the heads
_CELL = re.compile(r"(?<![\\<])\|(?!>)")  # the others are escaped, or within a token such as `<|end|>`
_END = re.compile(r"(?<!\\)\|[ \t]*+\Z")
_BREAK = "<br>"
_DATA = re.compile(r"`\{[^`]{20,}\}`")  # in a cell, as code


def unfold_tables(text: str) -> str | None:
    """Return a text with each table replaced by its cells of several lines; `None` if it has no such cells."""
    if "|" not in text or "--" not in text or "<" not in text:
        return None
    lines = text.split("\n")
    kept: list[str] = []
    at = 0
    is_changed = False
    while at < len(lines):
        stop = _end_of_table(lines, at)
        cells = _cells(lines[at:stop])
        is_changed = is_changed or bool(cells)
        kept += ["\n\n".join(cells)] if cells else lines[at : max(stop, at + 1)]
        at = max(stop, at + 1)
    return "\n".join(kept) if is_changed else None


def _end_of_table(lines: list[str], at: int) -> int:
    """Return the line after a table that begins at a line; the line itself where none does."""
    if not lines[at].lstrip().startswith("|") or at + 1 >= len(lines) or _RULE.match(lines[at + 1]) is None:
        return at
    stop = at + 2
    while stop < len(lines) and lines[stop].strip():
        is_row = lines[stop].lstrip().startswith("|")
        if not is_row and _END.search(lines[stop - 1]) is not None:
            break  # the row above is complete, so this line belongs to no row
        stop += 1
    return stop


def _cells(lines: list[str]) -> list[str]:
    """Return the cells of a table that have several lines, each with its line ends; a terminal may have broken rows."""
    rows: list[str] = []
    for line in lines[2:]:
        if rows and _END.search(rows[-1]) is None:
            rows[-1] += line
        else:
            rows.append(line)
    cells = [cell.strip() for row in rows for cell in _CELL.split(row)]
    shown = [cell.strip("`") if _DATA.fullmatch(cell) else cell for cell in cells]
    return [
        bare.replace("\\|", "|").replace(_BREAK, "\n")
        for cell, bare in zip(cells, shown, strict=True)
        if _BREAK in cell or bare != cell
    ]
