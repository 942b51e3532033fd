"""When two spellings of arguments mean the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.json_values import is_too_deep, same_json_text
from prompt_debugger.core.base.types import JSON


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ('{"a": 1}', '{"a": 1.0}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": "1"}', '{"a": 1}', False),
        ('{"a": ', '{"a": ', True),
        ('{"a": ', '{"a":', True),
        ('{"a": "b c', '{"a": "bc', False),
        ("[1, 2]", "[1,2]", True),
        (None, "{}", False),
        ("", "{}", False),
        (None, None, True),
    ],
)
def test_values_count_and_spacing_does_not(left: JSON, right: JSON, expected: bool) -> None:
    assert same_json_text(left, right) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[" * 900 + "]" * 900, False),
        ("[" * 901 + "]" * 901, True),
        ('{"a":' * 901 + "0" + "}" * 901, True),
        ("[" + "[]," * 2000 + "0]", False),
        (json.dumps(["[{" * 2000, '\\"' + "[" * 2000]), False),
    ],
)
def test_only_nesting_outside_texts_is_depth(text, expected):
    assert is_too_deep(text) is expected


def depth_of(value: JSON) -> int:
    if isinstance(value, dict):
        value = [*value.values()]
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


NESTED = st.recursive(
    st.sampled_from([None, 1, "", '"[', "]}\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("a["), inner, max_size=2),
    max_leaves=12,
)


@given(NESTED, st.integers(860, 905), st.integers(1, 300))
def test_text_is_too_deep_where_its_value_is(value: JSON, around: int, beside: int) -> None:
    text = "[" * around + ",".join([json.dumps(value)] * beside) + "]" * around

    assert is_too_deep(text) is (around + depth_of(value) > 900)
