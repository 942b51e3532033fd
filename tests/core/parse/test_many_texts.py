"""Many texts are looked for in one pass; what is found is what occurs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.formats._detect import ManyTexts
from prompt_debugger.core.parse.cut_markers import BegunMarkers, cut_marker_start

pytestmark = pytest.mark.slow

SMALL = st.text("<a|>.", max_size=5)


@given(texts=st.lists(SMALL, max_size=8), text=st.text("<a|>.", max_size=30))
def test_found_is_what_occurs(texts, text):
    assert ManyTexts(texts).found_in(text) == {one for one in texts if one and one in text}


@given(markers=st.lists(SMALL, max_size=8), text=st.text("<a|>.", max_size=12))
def test_begun_are_all_markers_whose_beginning_ends_the_text(markers, text):
    expected = {(size, marker) for marker in markers for size in range(1, len(marker)) if text.endswith(marker[:size])}

    found = list(BegunMarkers(markers).at_end_of(text))

    assert set(found) == expected
    assert [size for size, _ in found] == sorted((size for size, _ in found), reverse=True)


@pytest.mark.parametrize(
    ("raw", "finish", "start"),
    [
        ("Look.<|tool_ca", None, 5),
        ("Look.<tool", "stop", 10),  # an end that the model chose: half a plain tag is text
        ("Look.<tool", "length", 5),
        ("Look.<|tool_call|>", None, 18),  # whole, and no half of anything
        ("", "length", 0),
    ],
)
def test_half_a_marker_begins_where(raw, finish, start):
    markers = frozenset({"<|tool_call|>", "<tool_call>", "<|tool_call|><x>"})

    assert cut_marker_start(raw, markers, finish) == start
