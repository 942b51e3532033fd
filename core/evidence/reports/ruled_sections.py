"""Outputs that a script prints between lines that name them, one after the other.

--- Stream Output ---
[{"name": "get_weather", …
--- End Stream ---
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_HEAD = re.compile(
    r"[ \t]{0,8}[-=*]{3,40} {0,2}(?!end\b)(?:[\w-]{1,20} ){0,3}(?:output|response|completion|answer|generation)s?"
    r"(?: [\w#:.-]{1,20}){0,3} {0,2}:? {0,2}[-=*]{3,40}[ \t]*",
    re.IGNORECASE,
)
_RULE = re.compile(r"[ \t]{0,8}[-=*]{3,40}(?: [^\n]{1,80} {0,2}[-=*]{3,40})?[ \t]*")
_MARKUP = ("{", "[", "<")
_MAX_LINES = 500


class Section(NamedTuple):
    """What is between two such lines, and the number of the second one."""

    text: str
    end: int


def has_sections(text: str) -> bool:
    """Return whether a text has such a section."""
    lines = text.split("\n")
    return any(section_at(lines, at) is not None for at in range(len(lines)))


def section_at(lines: Sequence[str], at: int) -> Section | None:
    r"""Return the section that the line at a place names, if it begins with markup or JSON; else `None`.

    >>> section_at(["--- Output ---", "[TOOL_CALLS]f{}", "--- End ---"], 0)
    Section(text='[TOOL_CALLS]f{}', end=2)
    >>> section_at(["--- Output ---", "It rains.", "---"], 0)
    """
    if _HEAD.fullmatch(lines[at]) is None:
        return None
    for number in range(at + 1, min(len(lines), at + _MAX_LINES)):
        if _RULE.fullmatch(lines[number]) is not None:
            text = "\n".join(lines[at + 1 : number]).strip()
            return Section(text, number) if text.startswith(_MARKUP) else None
    return None
