"""Structural markers in text, quoted and not."""

from __future__ import annotations

import pytest

from prompt_debugger.core.diagnose.markers import find_unquoted_markers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool_call>{}", ["<tool_call>"]),
        ("Write `<tool_call>` first.", []),
        ('Write "<tool_call>" first.', []),
        ("Write “<|im_end|>” first.", []),
        ("```\n<tool_call>{}</tool_call>\n```", []),
        ("```\n<tool_call>", []),
        ('"<tool_call>{}', ["<tool_call>"]),
        ("<|tool_call_argument_begin|>", ["<|tool_call_argument_begin|>"]),
        ("a < b, tool_call", []),
    ],
)
def test_only_markers_outside_code_and_quotation_marks_count(text: str, expected: list[str]) -> None:
    found = [text[start:stop] for start, stop in find_unquoted_markers(text)]

    assert found == expected
