"""What became of calls and characters, in words: the same on the page, in the terminal and in reports."""

from __future__ import annotations

from core.account import CallCounts, count_calls, count_characters
from core.types import Ledger, Parse


def calls_words(ledger: Ledger) -> str:
    """Return how many calls were written and returned, and how many did not simply come through."""
    calls = count_calls(ledger)
    told = ", ".join(f"{count} {word}" for count, word in _counted(calls) if count)
    written = f"{calls.written:,} call{'' if calls.written == 1 else 's'} written, {calls.returned:,} returned"
    return f"{written} · {told}" if told else written


def characters_words(parse: Parse, ledger: Ledger) -> str:
    """Return what became of the characters: the number that the verdict gives."""
    counts = count_characters(parse.raw, ledger)
    if counts is None:
        size = len(parse.raw)
        return f"{size:,} character{'' if size == 1 else 's'}, not held against a message"
    return f"{counts.accounted:,} of {counts.total:,} characters accounted for"


def _counted(calls: CallCounts) -> tuple[tuple[int, str], ...]:
    return (
        (calls.dropped, "dropped"),
        (calls.altered, "altered"),
        (calls.invented, "invented"),
        (calls.draft, "left as a draft"),
        (calls.cut, "cut"),
        (calls.unknown, "of unknown outcome"),
    )
