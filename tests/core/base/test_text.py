import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.text import (
    blocks_between,
    closed_strings,
    excerpt,
    first_divergence,
    line_column,
    remove_blocks,
    remove_strings,
    visible_whitespace,
    xml_text,
)
from tests.attacks.growth import grows_linearly

PATTERN = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'")


@given(st.lists(st.integers()), st.lists(st.integers()))
def test_first_divergence_is_the_first_unequal_index(left, right):
    index = first_divergence(left, right)

    if index is None:
        assert left == right
    else:
        assert left[:index] == right[:index]
        assert left[index : index + 1] != right[index : index + 1]


def test_visible_whitespace_keeps_the_line_break():
    assert visible_whitespace("a b\tc\n") == "a·b→c↵\n"


def test_excerpt_marks_cut_ends_only():
    assert excerpt("abcdef", 2, 4, margin=1) == "…bcde…"
    assert excerpt("abcdef", 0, 6, margin=1) == "abcdef"


@given(st.text(alphabet="a\n"), st.integers(0, 50))
def test_line_column_points_back_at_the_offset(text, offset):
    offset = min(offset, len(text))

    line, column = line_column(text, offset)

    assert sum(len(part) + 1 for part in text.split("\n")[: line - 1]) + column - 1 == offset


@given(st.text(st.characters()))
def test_any_text_can_occur_in_xml(text):
    cleaned = xml_text(text)

    assert len(cleaned) == len(text)
    ElementTree.fromstring(f"<a>{cleaned.replace('&', '&amp;').replace('<', '&lt;')}</a>")


def test_what_xml_may_hold_stays_and_the_rest_is_replaced():
    assert xml_text("a\t\n\u00e9\U0001f600") == "a\t\n\u00e9\U0001f600"
    assert xml_text("a\x00\x1b\ud800\uffffb") == "a" + "\ufffd" * 4 + "b"


@given(st.text(alphabet="\"'\\\na{ ", max_size=40))
def test_the_strings_are_those_of_the_pattern(text):
    assert [found.span() for found in closed_strings(text)] == [found.span() for found in PATTERN.finditer(text)]
    assert remove_strings(text) == PATTERN.sub("", text)


@pytest.mark.parametrize("flood", ['\\"', "\\'", '"', "'\"", "\\"])
def test_a_flood_of_quotes_takes_time_in_proportion(flood):
    assert grows_linearly(lambda size: sum(1 for _ in closed_strings(f"{flood * size}")), first=1_000, tries=2)


PAIRS = (("<a>", "</a>"), ("<ab", "</b>"), ("[", "]"), ("|", "|"))


@given(st.lists(st.sampled_from(["<a>", "</a>", "<ab", "</b>", "[", "]", "|", "x", "\n"])).map("".join))
def test_blocks_are_those_that_a_pattern_finds(text):
    pattern = re.compile("|".join(f"{re.escape(a)}.*?{re.escape(b)}" for a, b in PAIRS), re.DOTALL)

    assert list(blocks_between(text, PAIRS)) == [found.span() for found in pattern.finditer(text)]
    assert remove_blocks(text, PAIRS) == pattern.sub("", text)


@pytest.mark.parametrize("piece", ["<a>", "</a>", "</a><a>", "<a></a>", "[<a>"])
def test_blocks_that_nothing_closes_are_not_followed_to_the_end_again_and_again(piece):
    assert grows_linearly(lambda size: remove_blocks(piece * size, PAIRS), first=2_000)
