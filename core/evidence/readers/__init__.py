"""One file per form in which people bring evidence; each defines `READER`, and nothing is registered elsewhere."""

from __future__ import annotations

import sys
from functools import lru_cache

from prompt_debugger.core.base.discover import discover_typed
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

__all__ = ["READERS", "Paste", "Reader", "find_reader", "find_readers"]

_MIN_REMEMBERED = 200_000  # characters


def find_reader(paste: Paste, wanted: Form | None = None) -> tuple[Reader, float] | None:
    """Return the reader that knows a text best, and how surely; `None` if none does.

    Args:
        paste: The text.
        wanted: The form that it must be taken for; `None` for any.
    """
    known = [(name, reader) for name, reader in READERS.items() if wanted in (None, reader.form)]
    scored = [(_score(name, paste), -index, reader) for index, (name, reader) in enumerate(known)]
    best = max(scored, key=lambda item: item[:2], default=None)
    return None if best is None or best[0] <= 0 else (best[2], best[0])


def find_readers(paste: Paste, least: float) -> list[Reader]:
    """Return all readers that are at least this sure of a text, the surest first: a log may also contain an error."""
    scored = [
        (-score, index, reader)
        for index, (name, reader) in enumerate(READERS.items())
        if (score := _score(name, paste)) >= least
    ]
    return [reader for _, _, reader in sorted(scored, key=lambda item: item[:2])]


def _score(name: str, paste: Paste) -> float:
    """Return how surely a text has a reader's form; the score of a long text that is not JSON is cached."""
    is_long = len(paste.text) >= _MIN_REMEMBERED and paste.value is None
    return _score_of_text(name, paste.text) if is_long else READERS[name].finds(paste)


@lru_cache(maxsize=64)
def _score_of_text(name: str, text: str) -> float:
    return READERS[name].finds(Paste(text))


READERS = discover_typed(sys.modules[__name__], "READER", Reader, "core/evidence/readers/base.py")
