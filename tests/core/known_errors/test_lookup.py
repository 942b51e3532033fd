"""The sentences that are looked for in a text are exactly those whose fixed parts it has."""

from __future__ import annotations

import pytest

from prompt_debugger.core.known_errors import KNOWN_ERRORS
from prompt_debugger.core.known_errors._lookup import SentenceIndex

INDEX = SentenceIndex(KNOWN_ERRORS)
ALL = [error for errors in KNOWN_ERRORS.values() for error in errors]


@pytest.mark.parametrize("sentences", [INDEX.exact, INDEX.bare], ids=["exact", "bare"])
@pytest.mark.parametrize(
    "of_two",
    ["{} {}", "«{}{}»", "x{}x\n{}", "_{}-{}0"],
    ids=["apart", "joined", "within words", "beside signs of a word"],
)
def test_nothing_is_overlooked_and_nothing_else_is_looked_for(sentences, of_two):
    for one, other in zip(ALL, [*ALL[11:], *ALL[:11]], strict=True):
        folded = of_two.format(one.sample, other.sample).lower()

        found = list(sentences.heaviest_in(folded))

        naive = [each for each in sentences.in_order if all(needle in folded for needle in each.needles)]
        assert found == sorted(naive, key=lambda each: -each.weight)
