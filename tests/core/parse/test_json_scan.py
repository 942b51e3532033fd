"""JSON as models write it: where it ends, what is wrong, what is in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import CallStatus, Span
from prompt_debugger.core.parse.json_scan import decode_object, partial_string, scan_json, scan_members
from tests import strategies


@given(strategies.arguments(strategies.json_values()), st.sampled_from(["", "x", "}", "]}", '"', "\n{"]))
def test_an_object_is_read_to_its_end_whatever_follows(value, behind):
    text = json.dumps(value, ensure_ascii=False)

    scan = scan_json(text + behind, 0, len(text + behind))

    assert (scan.span, scan.status, scan.value) == (Span(0, len(text)), CallStatus.COMPLETE, value)


@given(strategies.arguments(strategies.json_values()), st.data())
def test_an_object_cut_anywhere_is_truncated(value, data):
    text = json.dumps(value, ensure_ascii=False)
    stop = data.draw(st.integers(1, len(text) - 1))

    scan = scan_json(text, 0, stop)

    assert (scan.status, scan.span.stop) == (CallStatus.TRUNCATED, stop)


@pytest.mark.parametrize(
    "text",
    ["{'a': 1}", "{a: 1}", '{"a": NaN}', '{"a": Infinity}', '{"a" 1}', '{"a": 1,}', '{"a": "x\ny"}', '{"a": 1]', "{]",
     '{"a": 01}', '{"a": "\\x"}', '{"a": 1' + "1" * 5000 + "}"],
)  # fmt: skip
def test_what_is_not_json_is_malformed_and_says_why(text):
    scan = scan_json(text, 0, len(text))

    assert scan.status is CallStatus.MALFORMED
    assert scan.problem


def test_json_nested_too_deeply_is_malformed_not_an_exception():
    text = '{"a":' * 5000 + "1" + "}" * 5000

    assert scan_json(text, 0, len(text)).status is CallStatus.MALFORMED


def test_brackets_that_are_many_but_not_nested_are_read():
    text = json.dumps({"list": [[number] for number in range(2000)], "text": "[{" * 2000})

    assert scan_json(text, 0, len(text)).value == json.loads(text)


@given(st.text(), st.integers(0, 30))
def test_no_text_raises(text, start):
    braced = text[:start] + "{" + text[start:]
    position = len(text[:start])

    scan = scan_json(braced, position, len(braced))

    assert position <= scan.span.stop <= len(braced)
    assert all(position < m.value_span.start <= m.value_span.stop for m in scan_members(braced, position, len(braced)))


@given(strategies.arguments(strategies.json_values()))
def test_members_are_found_where_they_stand(value):
    text = json.dumps(value, ensure_ascii=False)

    members = scan_members(text, 0, len(text))

    assert value == {m.key: json.loads(text[slice(*m.value_span)]) for m in members}
    assert all(member.is_closed for member in members)


def test_members_of_a_cut_object_end_with_the_cut_one():
    text = '{"name": "f", "arguments": {"a": "b'

    members = scan_members(text, 0, len(text))

    assert [(m.key, text[slice(*m.value_span)], m.is_closed) for m in members] == [
        ("name", '"f"', True),
        ("arguments", '{"a": "b', False),
    ]


@pytest.mark.parametrize(
    ("written", "value"),
    [('"abc"', "abc"), ('"ab', "ab"), ('"a\\n', "a\n"), ('"a\\', "a"), ('"a\\u00', "a"), ("7", None), ("", None)],
)
def test_a_cut_string_is_decoded_as_far_as_it_goes(written, value):
    assert partial_string(written, Span(0, len(written))) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": 1}', {"a": 1}), ('"{\\"a\\": 1}"', {"a": 1}), ("[1]", None), ("7", None), ("{", None), ("", None)],
)
def test_an_object_inside_a_json_string_counts_as_an_object(text, value):
    assert decode_object(text) == value
