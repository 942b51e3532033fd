"""Documents of a file with one a line: dense, quick, and for every reader the same as the others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.report.wire import write_json, write_line
from prompt_debugger.core.types import JSON

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FINITE | st.text(st.characters())
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(VALUES)
def test_a_line_says_what_the_document_says(value: JSON) -> None:
    text = write_line(value)

    assert json.loads(text) == json.loads(write_json(value))
    assert text.isascii()
    assert "\n" not in text


@pytest.mark.parametrize(
    "value",
    ["half \ud800 a pair", {"\udc00": 1}, float("nan"), [float("inf"), -float("inf")], "NaN", "Infinity", "東京 é"],
)
def test_what_json_has_no_word_for_is_written_as_elsewhere(value: JSON) -> None:
    assert write_line(value) == write_json(value, is_dense=True)


def test_a_line_has_no_space_that_says_nothing() -> None:
    assert write_line({"a": [1, 2.5], "b": {"c": None}}) == '{"a":[1,2.5],"b":{"c":null}}'
