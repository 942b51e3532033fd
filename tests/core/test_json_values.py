"""When two spellings of arguments mean the same."""

from __future__ import annotations

import pytest

from prompt_debugger.core.json_values import same_json_text
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
