"""Which values of a call differ between what the model wrote and what the server returned."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, CallStatus, Certainty, Place, Span, ToolCallAttempt
from prompt_debugger.core.diagnose.calls.changed_values import AlteredCall, altered_arguments
from prompt_debugger.core.diagnose.fields import CallField
from tests.core.diagnose.cases import build_trace

RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1}}\n</tool_call>'


def changes(written: dict[str, JSON] | None, returned: JSON) -> list[tuple[str, JSON, JSON]]:
    call = ToolCallAttempt("f", "", written, None, CallStatus.COMPLETE, Place.BODY, Span(0, 1))
    got = CallField("tool_calls[0]", "c", "f", returned)
    return sorted(AlteredCall(call, got, Certainty.OBSERVED).changes())


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ('{"a": 1, "b": {"c": [1]}}', []),
        ('{"a": "1", "b": {"c": [1]}}', [("a", 1, "1")]),
        ('{"a": true, "b": {"c": [2]}}', [("a", 1, True), ("b.c", [1], [2])]),
        ('{"a": 1.0, "b": 5}', [("a", 1, 1.0), ("b", {"c": [1]}, 5)]),
        ('{"d": 1}', []),
        ("[1]", []),
        ("{", []),
        (None, []),
    ],
)
def test_a_change_has_the_path_and_both_values(returned: JSON, expected: list[tuple[str, JSON, JSON]]) -> None:
    assert changes({"a": 1, "b": {"c": [1]}}, returned) == expected
    assert changes(None, returned) == []


@pytest.mark.parametrize(
    ("arguments", "changed"), [('{"city": "Oslo", "days": "1"}', ["days"]), ('{"days": 1, "city": "Oslo"}', [])]
)
def test_only_calls_whose_arguments_came_back_otherwise_are_altered(arguments: str, changed: list[str]) -> None:
    message = {"content": None, "calls": [["get_weather", arguments]]}
    trace = build_trace({"tools": ["get_weather"], "raw": RAW, "message": message})

    found = [path for one in altered_arguments(trace) for path, *_ in one.changes()]

    assert found == changed
    assert not list(altered_arguments(build_trace({"tools": ["get_weather"], "raw": RAW})))


def test_a_call_that_was_cut_is_not_called_altered() -> None:
    message = {"content": None, "calls": [["get_weather", '{"city": "Bergen"}']]}
    trace = build_trace({"tools": ["get_weather"], "raw": RAW[:60], "message": message})

    assert list(altered_arguments(trace)) == []
