"""Values written as text: typed by the schema, or as Python literals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.parse.python_values import read_python_value
from prompt_debugger.core.parse.typed_values import schema_types, value_from_text
from tests import strategies


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("10", {"type": "integer"}, 10),
        ("10", {"type": "string"}, "10"),
        ("10", {"type": "int"}, 10),
        ("10", None, "10"),
        ("10", {}, "10"),
        ("10.0", {"type": "integer"}, 10),
        ("1e3", {"type": "number"}, 1000.0),
        ("ten", {"type": "integer"}, "ten"),
        ("True", {"type": "boolean"}, True),
        ("false", {"type": "bool"}, False),
        ("null", {"type": "string"}, "null"),
        ("null", {"type": ["string", "null"]}, None),
        ("None", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ('{"a": [1]}', {"type": "object"}, {"a": [1]}),
        ("{'a': True}", {"type": "object"}, {"a": True}),
        ('[1, "x"]', {"type": "array"}, [1, "x"]),
        ("[1", {"type": "array"}, "[1"),
        ('{"a": 1}', {"type": "string"}, '{"a": 1}'),
        ("5", {"enum": [1, 5]}, 5),
        ("5", {"enum": ["1", "5"]}, "5"),
        ("5", {"$ref": "#/$defs/n"}, 5),
        (" 5 ", {"type": "string"}, " 5 "),
        ("1" * 5000, {"type": "integer"}, "1" * 5000),
        ("x", {"type": 7}, "x"),
    ],
)
def test_a_value_is_what_its_schema_says(text, schema, value):
    found = value_from_text(text, schema, {"$defs": {"n": {"type": "integer"}}})

    assert (found, type(found)) == (value, type(value))


def test_schemas_that_point_at_themselves_end():
    assert schema_types({"$ref": "#"}, {"$ref": "#"}) == frozenset()


@given(strategies.json_values())
def test_python_literals_are_read_as_python_writes_them(value):
    text = repr(value)

    read = read_python_value(text, 0, len(text))

    assert (read.value, read.stop, read.problem) == (value, len(text), None)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("null", None), ("(1, 2)", [1, 2]), ("'''a\nb'''", "a\nb"), ('"a\nb"', "a\nb"), (r"r'\n'", "\\n"),
     ("0x10", 16), ("1_000", 1000), ("-.5", -0.5), (r"'\x41é\101'", "AéA"), ("{1: 2}", {"1": 2}), ("[1, 2,]", [1, 2])],
)  # fmt: skip
def test_other_spellings_are_read_too(text, value):
    assert read_python_value(text, 0, len(text)).value == value


@pytest.mark.parametrize("text", ["", "'a", "[1, ", "{'a'", "{'a':", "tru", "[", "'\\"])
def test_a_cut_literal_says_so(text):
    assert read_python_value(text, 0, len(text)).is_cut


@given(st.text())
def test_no_text_raises(text):
    assert 0 <= read_python_value(text, 0, len(text)).stop <= len(text)


def test_deep_nesting_is_a_problem_not_an_exception():
    text = "[" * 100_000

    assert read_python_value(text, 0, len(text)).problem


@pytest.mark.parametrize(
    "text", ["9**9**9", '"a"*10**9', "1+1", "[1]*9", "f(1)", '__import__("os")', "lambda: 1", '{"a": 9**9}', "(1).real"]
)
def test_an_expression_is_not_evaluated(text):
    value = read_python_value(text, 0, len(text))

    assert value.problem is not None or (value.stop < len(text) and value.value in (9, "a", 1, [1]))
