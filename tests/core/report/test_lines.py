"""Documents of a file with one a line: dense, quick, and for every reader the same as the others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import JSON, Finding, Parse
from prompt_debugger.core.report.wire import parse_to_json, parse_to_line, write_json, write_line
from tests.core.report.strategies import instances, jsons

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


@given(instances(Parse), st.lists(instances(Finding), max_size=1).map(tuple), jsons)
def test_a_parse_is_written_straight_as_by_way_of_its_document(
    parse: Parse, findings: tuple[Finding, ...], case_id: JSON
) -> None:
    straight = parse_to_line(parse, case_id=case_id, findings=findings)

    assert straight == write_line({**parse_to_json(parse, findings=findings), "id": case_id})


@pytest.mark.parametrize("number", [1e-7, 0.00001, 0.0001, 1e15, 1e16, 1e22, 12345678901234567890])
def test_a_number_is_written_the_same_next_to_any_text(number: float) -> None:
    assert write_line(["東京", number]) == write_json(["東京", number], is_dense=True)


def test_text_beyond_ascii_is_escaped_as_json_does() -> None:
    text = 'São Paulo 東京 😀 \x7f \u2028 \\u0041 "quoted"\t'

    assert write_line({text: text}) == write_json({text: text}, is_dense=True)
