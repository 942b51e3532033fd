"""Calls in the text of a message that the server returned, too: which are the same, and what is said of them."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import JSON, CallStatus, Certainty, Place, Severity, Span, ToolCallAttempt
from prompt_debugger.core.diagnose.calls.repeated_calls import not_returned, report_repeated
from prompt_debugger.core.diagnose.fields import CallField


def written(arguments: str, name: str = "f", span: tuple[int, int] = (0, 1)) -> ToolCallAttempt:
    decoded = decode_json(arguments)
    values = decoded if isinstance(decoded, dict) else None
    return ToolCallAttempt(name, arguments, values, None, CallStatus.COMPLETE, Place.BODY, Span(*span))


def returned(arguments: JSON, name: str = "f") -> CallField:
    return CallField("tool_calls[0]", "c", name, arguments)


@pytest.mark.parametrize(
    ("of_text", "of_answer"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('{"a": 1}', '{"a":1}'),
        ('{"a": "1"}', '{"a": 1}'),  # XML has no types
        ('{"a": "{\\"b\\": 1, \\"c\\": 2}"}', '{"a": {"c": 2, "b": 1}}'),
        ('{"a": 1}', {"a": 1}),
        ("{a", "{a"),
    ],
)
def test_calls_that_say_the_same_are_the_same(of_text: str, of_answer: JSON) -> None:
    assert not_returned([written(of_text)], [returned("{}", "g"), returned(of_answer)]) == []


@pytest.mark.parametrize(
    ("of_text", "of_answer"),
    [('{"a": 1}', '{"a": 2}'), ('{"a": 1}', '{"b": 1}'), ('{"a": 1}', "[1]"), ("{a", '{"a": 1}'), ("{}", '{"a": 1}')],
)
def test_calls_that_say_something_else_were_not_returned(of_text: str, of_answer: JSON) -> None:
    call = written(of_text)

    assert not_returned([call], [returned(of_answer)]) == [call]
    assert not_returned([call], [returned(of_text, "g")]) == [call]
    assert not_returned([call], []) == [call]


def test_what_is_there_twice_is_quoted_where_it_is() -> None:
    one = report_repeated([written("{}", span=(3, 7))], "So: f{} it is")
    two = report_repeated([written("{}"), written("{}", "g")], "fg")

    assert one.title == "The call to `f` is also in content, as text."
    assert two.title == "The calls to `f`, `g` are also in content, as text."
    assert [(item.field, item.quote, item.char_span) for item in one.evidence] == [("content", " f{}", Span(3, 7))]
    assert (one.severity, one.certainty) == (Severity.WARNING, Certainty.OBSERVED)
