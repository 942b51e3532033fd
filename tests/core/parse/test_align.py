"""Alignment: monotone, true, and good enough on long texts."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.parse.align import align, common_prefix_length, gaps_between

_WORDS = st.lists(st.sampled_from(["alpha ", "beta ", "gamma\n", "a", "b", "😀"]), max_size=40).map("".join)


@given(_WORDS, _WORDS)
def test_matches_are_true_and_increase_in_both_texts(source, target):
    source_stop = target_stop = 0
    for match in align(source, target):
        assert match.length > 0
        assert match.source_start >= source_stop
        assert match.target_start >= target_stop
        source_stop, target_stop = match.source_start + match.length, match.target_start + match.length
        assert source[match.source_start : source_stop] == target[match.target_start : target_stop]


@given(_WORDS, _WORDS)
def test_matches_and_gaps_tile_both_texts(source, target):
    matches = align(source, target)
    gaps = list(gaps_between(matches, len(source), len(target)))

    covered = sum(match.length for match in matches)
    assert covered + sum(s.stop - s.start for s, _ in gaps) == len(source)
    assert covered + sum(t.stop - t.start for _, t in gaps) == len(target)


@given(_WORDS)
def test_text_aligns_wholly_with_itself(text):
    assert sum(match.length for match in align(text, text)) == len(text)


def test_stretches_missing_from_a_long_text_leave_the_rest_aligned():
    rng = random.Random(7)
    words = [f"w{rng.randrange(10**6)} " for _ in range(20_000)]
    kept = [word for index, word in enumerate(words) if index % 1000 > 3]

    matches = align("".join(words), "".join(kept))

    assert sum(match.length for match in matches) > 0.99 * len("".join(kept))


@given(_WORDS, _WORDS)
def test_the_common_prefix_is_the_longest(left, right):
    length = common_prefix_length(left, right)

    assert left[:length] == right[:length]
    assert length == min(len(left), len(right)) or left[length] != right[length]
