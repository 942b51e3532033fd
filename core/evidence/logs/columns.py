r"""Entries of a log that its handler broke to fit a column → one line each.

    2026-03-01 10:00:00 ERROR    Error from the API: 400. {'error': {'code': 400,
    2026-03-01 10:00:00          'message': 'Invalid value at 'tools[0].type''}}
    [03/01/26 10:00:00] ERROR    Error from the API
                                 of a model
    ERROR    Error from the API: 400                 as Rich writes it without times
             of a model

A continued line begins at the column at which the words of its entry began, with or without the time before it. A line
that fills the column was broken within a word.
"""

from __future__ import annotations

import re

_HEAD = re.compile(
    r"(?m:^)(?:(?:ERROR {4}|WARNING {2}|INFO {5}|DEBUG {4}|CRITICAL )(?=[^\s:])"
    r"|(\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\d.,]{0,8}\]?"
    r"|\[\d\d/\d\d/\d\d \d\d:\d\d:\d\d\]) (?:[A-Z]{4,8}) +(?=\S))"
)
_BOX = re.compile("[\u2500-\u257f]")
_MIN_BLANK = 6  # characters before the column: as wide as the name of a level
_MIN_BROKEN = 2


def joined_entries(text: str) -> str | None:
    """Return a log with each entry on one line; `None` if no entry continues in a column."""
    first = _HEAD.search(text)
    if first is None or (first[1] and text[: first.start()].strip()):
        return None
    kept: list[str] = []
    count = 0
    time, column, is_full = "", 0, False
    lines = text.split("\n")
    width = max((len(line) for line in lines if _BOX.search(line) is None), default=0)
    for line in lines:
        head = _HEAD.match(line)
        if head is None and kept and _goes_on(line, time, column):
            kept[-1] = f"{kept[-1].rstrip()}{'' if is_full else ' '}{line[column:].rstrip()}"
            count += 1
        else:
            time, column = ("", 0) if head is None else (head[1] or "", head.end())
            kept.append(line)
        is_full = len(line) == width and not line.endswith(" ")
    return "\n".join(kept) if count >= _MIN_BROKEN else None


def _goes_on(line: str, time: str, column: int) -> bool:
    """Return whether a line continues the column of the entry above it."""
    before = line[:column]
    is_blank = not before.removeprefix(time).strip() and before.endswith(" " * _MIN_BLANK)
    return column > 0 and is_blank and line[column : column + 1].strip() != ""
