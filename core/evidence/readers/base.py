"""What every reader is made of: how it knows its form, and how it reads it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.values.json_of import json_of

_MAX_EARLIER = 10  # answers that are looked at besides the newest one


@dataclass(frozen=True)
class Paste:
    """A pasted text, or one block of it.

    Attributes:
        text: As it was pasted.
        row: Which line or recorded exchange is wanted, from 1.
    """

    text: str
    row: int = field(default=1)

    @cached_property
    def value(self) -> JSON:
        """Its value if it is JSON, parsed once; `None` if it is not."""
        return json_of(self.text) if self.text.lstrip("\ufeff \t\r\n\u200b").startswith(("{", "[", '"')) else None


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one form in which people bring evidence.

    Attributes:
        form: What it takes a text for.
        finds: How surely a text is of this form: 0 not at all, 1 certainly. Looks at the text's shape alone, in time
            that grows with its length at most linearly, and raises nothing.
        read: Reads a text of this form; raises `RequestError` where the text is not what it seemed.
    """

    form: Form
    finds: Callable[[Paste], float]
    read: Callable[[Paste], Evidence]


def checked_row(row: int, count: int) -> int:
    """Return the number of an entry, from 1.

    Raises:
        RequestError: There are fewer entries.
    """
    if row > count:
        raise RequestError(f"There is no entry {row}: there are {count:,}.", "Choose a lower number.")
    return row


def read_newest(paste: Paste, count: int, read: Callable[[int], Evidence]) -> Evidence:
    """Return the answer that is wanted; with the newest, those before it, for where nothing is wrong with it.

    Args:
        paste: Says which answer is wanted.
        count: How many answers there are.
        read: Reads one by its number, counted from the newest, which is 1.
    """
    evidence = read(checked_row(paste.row, count))
    if paste.row > 1:
        return evidence
    found: list[Evidence] = []
    for row in range(2, min(count, _MAX_EARLIER + 1) + 1):
        note = f"Answer {count - row + 1} of {count:,} is shown: no problem was found in those after it."
        with suppress(RequestError):
            one = read(row)
            found.append(replace(one, notes=(note, *one.notes)))
    return replace(evidence, others=tuple(found))
