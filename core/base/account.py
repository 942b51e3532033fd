"""What the ledger says in numbers. Every count of calls or characters that anyone shows comes from here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from prompt_debugger.core.base.types import (
    CallMatch,
    CallOutcome,
    CallStatus,
    Fate,
    Ledger,
    Parse,
    ParserOutcome,
    Place,
)
from prompt_debugger.core.base.types.frozen import value

_MISSING = (Fate.LOST, Fate.ALTERED)


class CallCounts(NamedTuple):
    """How many calls were written and returned, and how many met each outcome.

    Attributes:
        written: Calls of the raw output.
        returned: Calls of the message.
        kept: Returned as written.
        altered: Returned with another name or other arguments.
        dropped: Written and not returned.
        draft: Written inside reasoning and not returned, which is not a loss.
        cut: Calls inside which the output ends.
        invented: Returned and not written.
        unknown: Calls of either side that cannot be judged.
    """

    written: int
    returned: int
    kept: int
    altered: int
    dropped: int
    draft: int
    cut: int
    invented: int
    unknown: int

    @property
    def wrong(self) -> int:
        """How many did not come through as written, or were never written."""
        return self.dropped + self.altered + self.invented


@value(frozen=True, slots=True)
class CharacterCounts:
    """Where the characters of a raw output ended up, in numbers.

    Attributes:
        total: All of them.
        lost: In no field of the message; a stretch of whitespace alone does not count.
        altered: Replaced by something else; a stretch of whitespace alone does not count.
        blank: Whitespace that is lost or altered as a whole stretch.
        accounted: Where they belong, or what servers take out: markup, end tokens.
    """

    total: int
    lost: int
    altered: int
    blank: int
    accounted: int

    @property
    def missing(self) -> int:
        """Characters that are lost or altered, whitespace alone not counted."""
        return self.lost + self.altered


@value(frozen=True, slots=True)
class ParserTally:
    """How other parsers fared on one raw output.

    Attributes:
        asked: All that were asked.
        ran: Those that gave a result.
        reading: Names of those that give every call as it was written, and no other.
    """

    asked: int
    ran: int
    reading: tuple[str, ...]


def count_calls(ledger: Ledger) -> CallCounts:
    """Return how many calls met each outcome."""
    return _count_matches(ledger.matches)


def count_characters(raw: str, ledger: Ledger) -> CharacterCounts | None:
    """Return what became of the characters; `None` where there is no message, or nothing can be said."""
    if not is_compared(ledger):
        return None
    counts: Counter[Fate] = Counter()
    blank = 0
    for entry in ledger.entries:
        if entry.fate not in _MISSING:
            continue
        start, stop = entry.char_span
        if raw[start:stop].strip():
            counts[entry.fate] += stop - start
        else:
            blank += stop - start
    lost, altered = counts[Fate.LOST], counts[Fate.ALTERED]
    return CharacterCounts(len(raw), lost, altered, blank, len(raw) - lost - altered - blank)


def is_compared(ledger: Ledger) -> bool:
    """Return whether the ledger compares the raw output with a message at all."""
    return ledger.comparability is not None and ledger.comparability.certainty is not None


def readable_calls(parse: Parse) -> int:
    """Return how many calls a parser has to give: those outside reasoning inside which the output does not end."""
    return sum(call.place is Place.BODY and call.status is not CallStatus.TRUNCATED for call in parse.parsed.calls)


def outcomes_of_calls(parse: Parse) -> Mapping[int, CallOutcome]:
    """Return what became of every call of the census, by its index."""
    found = {match.raw_index: match.outcome for match in parse.ledger.matches if match.raw_index is not None}
    return {index: found.get(index, CallOutcome.UNKNOWN) for index in range(len(parse.parsed.calls))}


def tally_parsers(outcomes: Mapping[str, ParserOutcome]) -> ParserTally:
    """Return how many parsers were asked, gave a result, and read the output."""
    ran = {name: outcome for name, outcome in outcomes.items() if outcome.error is None}
    reading = tuple(name for name, outcome in ran.items() if outcome.account is not None and outcome.account.is_right)
    return ParserTally(len(outcomes), len(ran), reading)


def _count_matches(matches: tuple[CallMatch, ...]) -> CallCounts:
    counts = Counter(match.outcome for match in matches)
    return CallCounts(
        written=sum(match.raw_index is not None for match in matches),
        returned=sum(match.message_index is not None for match in matches),
        kept=counts[CallOutcome.KEPT],
        altered=counts[CallOutcome.ALTERED],
        dropped=counts[CallOutcome.DROPPED],
        draft=counts[CallOutcome.DRAFT],
        cut=counts[CallOutcome.CUT],
        invented=counts[CallOutcome.INVENTED],
        unknown=counts[CallOutcome.UNKNOWN],
    )
