"""When two spellings of arguments mean the same."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.json_values import is_too_deep, same_json_text
from prompt_debugger.core.types import JSON


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
