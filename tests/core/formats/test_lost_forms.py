"""Calls in markup that lost something, or that belongs to no family: read, and said to depart from every notation."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import read_scored

_NAMED = '<tool_call id="call_00" name="history">\n{"chat": "A & B", "limit": 80}\n</tool_call>'
_UNBRACKETED = 'invoke name="get_weather">\nparameter name="location">Parisparameter>\ninvoke>'
_HALF = 'invoke name="f">\nparameter name="a">1</parameter>\nparameter name="b">xparameter>\ninvoke>'


@pytest.mark.parametrize(
    ("raw", "name", "arguments", "family"),
    [
        (_NAMED, "history", {"chat": "A & B", "limit": 80}, "calling_tool"),
        ('Now.\n<function_call name="ping">{}</function_call>', "ping", {}, "calling_tool"),
        ('<tool_use type="function" name="f">{"a": 1}</tool_use>', "f", {"a": 1}, "calling_tool"),
        ('[TOOL_CALL] { "tool": "write", "args": { "path": "a" } } [/TOOL_CALL]', "write", {"path": "a"}, "tool_arrow"),
        (_UNBRACKETED, "get_weather", {"location": "Paris"}, "minimax_m2"),
        (_HALF, "f", {"a": "1", "b": "x"}, "minimax_m2"),
    ],
)
def test_it_is_read_and_departs(raw: str, name: str, arguments: dict[str, object], family: str) -> None:
    parsed = read_scored(raw, ReadContext())[1]
    assert parsed.format == family
    assert [
        (call.name, call.arguments_json, call.problem is None or bool(call.deviation)) for call in parsed.calls
    ] == [(name, arguments, True)]
    assert parsed.calls[0].deviation


@pytest.mark.parametrize("raw", ['<tool_call name="f">{"a": 1', '<tool_call name="f">{"a": 1,\n</tool_call>'])
def test_a_broken_one_is_no_whole_call(raw: str) -> None:
    calls = read_scored(raw, ReadContext())[1].calls
    assert [(call.name, call.arguments_json) for call in calls] == [("f", None)]


@pytest.mark.parametrize(
    "raw",
    [
        'Write it as `<tool_call name="f">{"a": 1}</tool_call>` here.',
        '<tool name="f">no object</tool>',
        '<tool_call name="f">see above</tool_call>',
        '[TOOL_CALL] {"path": "a"} [/TOOL_CALL]',
        'Never write `[TOOL_CALL] {"tool": "f", "args": {}} [/TOOL_CALL]` here.',
        'To do so, invoke name="get_weather"> and wait.',
        'The parameter name="x"> is set.',
    ],
)
def test_what_only_looks_like_one_is_text(raw: str) -> None:
    assert read_scored(raw, ReadContext())[1].calls == ()


@pytest.mark.parametrize(
    "piece",
    [
        '[TOOL_CALL] {"tool": "f", ',
        '<tool_call name="f">{',
        "<tool_call name=",
        'invoke name="f">\n',
        'invoke name="f">parameter name="a">',
    ],
)
def test_floods_are_read_in_time(piece: str) -> None:
    read_scored(piece * (60_000 // len(piece)), ReadContext())
