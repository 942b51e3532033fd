"""The known name that is closest to a mistyped one, for *did you mean*, found in bounded time."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MAX_ASKED = 20  # names of one report for which a close name is looked up
_MAX_KNOWN = 500
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
