"""The note that a text contains several requests, answers, raw outputs or commands, and one was read."""

from __future__ import annotations

import re

_SEVERAL = re.compile(r"The text contains \d{1,9} (?P<kind>[a-z ]{1,20}?)s; only one was read\.")


def note_of_several(count: int, kind: str) -> str:
    """Return the note, for a kind such as `request`."""
    return f"The text contains {count} {kind}s; only one was read."


def is_note_of_several(note: str, kind: str | None = None) -> bool:
    """Return whether a note says so, of a kind or of any."""
    found = _SEVERAL.fullmatch(note)
    return found is not None and kind in (None, found["kind"])
