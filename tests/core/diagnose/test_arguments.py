"""When two spellings of arguments mean the same."""

from __future__ import annotations

import pytest

from core.diagnose.arguments import is_same_json
from core.types import JSON


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ('{"a": 1}', '{"a": 1.0}', False),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": "1"}', '{"a": 1}', False),
        ('{"a": ', '{"a": ', True),
        ('{"a": ', '{"a":', False),
        (None, "{}", False),
        ("", "{}", False),
        (None, None, True),
    ],
)
def test_values_count_and_spacing_does_not(left: JSON, right: JSON, expected: bool) -> None:
    assert is_same_json(left, right) is expected
