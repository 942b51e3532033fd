"""Differences of two renders: what they say can be done, and done again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.tools.experiments import difference
from prompt_debugger.core.tools.experiments.difference import TokenDifference, common_length, diff_renders
from prompt_debugger.core.tools.experiments.variant import Rendered, units_of

TEXTS = st.text(alphabet="ab \n<", max_size=40)


def patched(before: Rendered, after: Rendered, found: TokenDifference) -> list[int | str]:
    """The first render's units with every hunk applied."""
    made: list[int | str] = []
    position = 0
    for hunk in found.hunks:
        made += before.keys[position : hunk.before_span.start]
        made += after.keys[hunk.after_span.start : hunk.after_span.stop]
        position = hunk.before_span.stop
    return made + list(before.keys[position:])


@given(TEXTS, TEXTS)
def test_the_hunks_make_the_second_of_the_first(left: str, right: str) -> None:
    before, after = units_of(left, None), units_of(right, None)

    found = diff_renders(before, after)

    assert (found is None) == (before.keys == after.keys)
    if found is not None:
        assert list(after.keys) == patched(before, after, found)
        assert len(after.keys) == len(before.keys) - found.removed + found.added
        assert found.first == common_length(before.keys, after.keys)
        for hunk in found.hunks:
            assert "".join(map(str, before.keys[slice(*hunk.before_span)])) == hunk.before
            assert "".join(map(str, after.keys[slice(*hunk.after_span)])) == hunk.after


@given(TEXTS)
def test_words_tile_the_text(text: str) -> None:
    made = units_of(text, None)

    assert text == "".join(map(str, made.keys))
    assert [text[slice(*span)] for span in made.char_spans] == list(made.keys)


def test_a_difference_in_the_middle_leaves_both_ends_alone() -> None:
    found = diff_renders(units_of("one two three", None), units_of("one 2 three", None))

    assert found is not None
    assert [(hunk.before, hunk.after) for hunk in found.hunks] == [("two", "2")]
    assert (found.first, found.removed, found.added, found.is_aligned) == (2, 1, 1, True)
    assert (found.before.text, found.after.text) == ("…one two three"[1:], "one 2 three")


def test_two_texts_that_are_too_long_and_unlike_are_one_hunk() -> None:
    left, right = units_of("x " * 4_000 + "end", None), units_of("y" + " x" * 4_000 + "end", None)

    found = diff_renders(left, right)

    assert difference._work(left.keys, right.keys) > difference._WORK
    assert found is not None
    assert not found.is_aligned
    assert len(found.hunks) == 1
    assert list(right.keys) == patched(left, right, found)
