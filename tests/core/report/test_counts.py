"""What became of the calls, in words: each number once, and the calls returned wherever they do not follow."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import CallMatch, CallOutcome, Certainty, Comparability, Ledger
from prompt_debugger.core.report import calls_words

KEPT = CallMatch(0, 0, (), CallOutcome.KEPT)
ALTERED = CallMatch(1, 1, ("arguments",), CallOutcome.ALTERED)
DROPPED = CallMatch(0, None, (), CallOutcome.DROPPED)
DRAFT = CallMatch(1, None, (), CallOutcome.DRAFT)
INVENTED = CallMatch(None, 1, (), CallOutcome.INVENTED)
CUT, CUT_AND_RETURNED = CallMatch(0, None, (), CallOutcome.CUT), CallMatch(0, 0, (), CallOutcome.CUT)
UNKNOWN = CallMatch(0, None)


@pytest.mark.parametrize(
    ("matches", "words"),
    [
        ((), "0 calls written"),
        ((KEPT,), "1 call written and returned"),
        ((KEPT, CallMatch(1, 1, (), CallOutcome.KEPT)), "2 calls written and returned"),
        ((DROPPED,), "1 call written · 1 dropped"),
        ((KEPT, ALTERED), "2 calls written · 1 altered"),
        ((DROPPED, DRAFT), "2 calls written · 1 dropped, 1 left as a draft"),
        ((INVENTED,), "0 calls written · 1 returned but not written as a call"),
        ((KEPT, INVENTED), "1 call written · 1 returned but not written as a call"),
        ((CUT,), "1 call written, 0 returned · 1 cut"),
        ((CUT_AND_RETURNED,), "1 call written, 1 returned · 1 cut"),
        ((UNKNOWN,), "1 call written, 0 returned"),
    ],
)
def test_no_number_is_there_twice_and_none_is_missing(matches: tuple[CallMatch, ...], words: str) -> None:
    assert calls_words(Ledger((), matches, comparability=Comparability(Certainty.OBSERVED))) == words


def test_where_nothing_was_compared_nothing_is_reported_of_what_became_of_a_call() -> None:
    unlike = Comparability(None, "two runs")

    assert calls_words(Ledger((), (UNKNOWN,), comparability=unlike)) == (
        "1 call in the raw text, 0 returned · outcome unknown"
    )
    assert calls_words(Ledger((), (UNKNOWN,))) == "1 call in the raw text, no message"
