"""The known name that is closest to a mistyped one, for *did you mean*, found in bounded time.

A name may also differ in its prefix alone, as gateways and MCP clients put one before a tool's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MAX_ASKED = 20  # names of one report for which a close name is looked up
_MAX_KNOWN = 500
_MIN_BARE = 3  # characters of a name to which others may add a prefix
_PARTS = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# The tools that an error lists: `Available tools: a, b.`, `try one of [a, b]`.
LIST_BEGINS = r"(?:[Aa]vailable tools(?: are)?:|try one of)"
_LISTED = re.compile(
    rf"{LIST_BEGINS} {{0,2}}\[?"
    r"(?P<names>(?:[^\]\n]|(?:(?<=,)|(?<=, )|(?<=>))\n){1,8000})"
)
LEFT_OUT = re.compile(r"<[^<>\n]{1,60}>")  # what a person wrote in place of some of them
_LISTED_NAME = re.compile(r"[\w./:-]{1,80}(?<![.:])")
_MIN_UNIT = 4  # characters of a name whose repetition is no accident
_MAX_CHARS = 80  # of a name; nobody mistypes a longer one


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is closest to a name; `None` where none is close, or the name is too long.

    >>> closest("cty", ["city", "unit"]), closest("x" * 200, ["x" * 201])
    ('city', None)
    """
    if len(name) > _MAX_CHARS:
        return None
    short = islice((one for one in known if len(one) <= _MAX_CHARS), _MAX_KNOWN)
    return next(iter(get_close_matches(name, short, n=1)), None)


def listed_tools(words: str) -> tuple[str, ...]:
    """Return the tools that an error lists as the available ones.

    >>> listed_tools("Unknown tool 'a'. Available tools: read, mcp__web__get.")
    ('read', 'mcp__web__get')
    """
    found = _LISTED.search(words)
    names = "" if found is None else LEFT_OUT.sub("", found["names"])
    return tuple(_LISTED_NAME.findall(names)[:_MAX_KNOWN])


def repeated_name(name: str) -> str:
    """Return the name of which a name is several copies; "" if it is not.

    >>> repeated_name("get_timeget_time"), repeated_name("get_time"), repeated_name("tomtom")
    ('get_time', '', '')
    """
    period = (name + name).find(name, 1)
    return name[:period] if _MIN_UNIT <= period < len(name) else ""


def but_for_prefix(name: str, known: Iterable[str]) -> str | None:
    """Return the only known name that differs from a name in prefix, case or separators alone.

    >>> but_for_prefix("memory:read_graph", ["read", "mcp__Memory__read_graph"]), but_for_prefix("readme", ["read"])
    ('mcp__Memory__read_graph', None)
    """
    words = _words(name)
    others = {one: _words(one) for one in islice(known, _MAX_KNOWN) if one != name}
    equal = [one for one, parts in others.items() if parts and "".join(parts) == "".join(words)]
    found = equal or [one for one, parts in others.items() if _is_end(words, parts)]
    return found[0] if len(found) == 1 else None


def _words(name: str) -> list[str]:
    parts = _PARTS.findall(_HUMPS.sub("_", name[:_MAX_CHARS]))
    return [part.lower() for part in parts]


def _is_end(one: list[str], other: list[str]) -> bool:
    """Return whether the words of one name are the last words of the other one."""
    shorter, longer = sorted((one, other), key=len)
    return len("".join(shorter)) >= _MIN_BARE and longer[-len(shorter) :] == shorter
