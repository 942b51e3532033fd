"""What became of calls and characters, in words: the same on the page, in the terminal and in reports."""

from __future__ import annotations

import re

from prompt_debugger.core.base.account import CallCounts, count_calls, count_characters, is_compared
from prompt_debugger.core.base.types import Ledger, Parse

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ")


def calls_words(ledger: Ledger) -> str:
    """Return how many calls were written, and how many did not simply come through.

    How many were returned is said only where it does not follow from the rest: no number is given twice.
    """
    calls = count_calls(ledger)
    if ledger.comparability is None:
        return f"{_calls(calls.written)} in the raw text, no message"
    if not is_compared(ledger):
        return f"{_calls(calls.written)} in the raw text, {calls.returned:,} returned · outcome unknown"
    reported = ", ".join(f"{count:,} {word}" for count, word in _counted(calls) if count)
    written = f"{_calls(calls.written)} written"
    if not _follows(calls):
        written += f", {calls.returned:,} returned"
    elif not reported and calls.written:
        return f"{written} and returned"
    return f"{written} · {reported}" if reported else written


def _follows(calls: CallCounts) -> bool:
    """Whether the calls returned are those written, less what was dropped or a draft, and what was invented."""
    is_known = not calls.unknown and not calls.cut
    return is_known and calls.returned == calls.written - calls.dropped - calls.draft + calls.invented


def characters_words(parse: Parse, ledger: Ledger) -> str:
    """Return what became of the characters: the number that the verdict gives."""
    counts = count_characters(parse.raw, ledger)
    if counts is None:
        size = len(parse.raw)
        return f"{size:,} character{'' if size == 1 else 's'}, not compared with a message"
    return f"{counts.accounted:,} of {counts.total:,} characters accounted for"


def moment_words(started: str) -> str:
    """Return the moment of a run to the minute; whatever else a bundle says there stays as it is.

    >>> moment_words("2026-07-01T12:30:59Z")
    '2026-07-01 12:30 UTC'
    """
    moment = _MOMENT.fullmatch(started)
    return f"{moment[1]} {moment[2]} UTC" if moment else started


def _calls(count: int) -> str:
    return f"{count:,} call{'' if count == 1 else 's'}"


def _counted(calls: CallCounts) -> tuple[tuple[int, str], ...]:
    return (
        (calls.dropped, "dropped"),
        (calls.altered, "altered"),
        # Quoted in a sentence it stands in the output, which is for the finding to say.
        (calls.invented, f"returned but not written as {'a call' if calls.invented == 1 else 'calls'}"),
        (calls.draft, "left as a draft"),
        (calls.cut, "cut"),
    )
