"""What a stream lacks that a whole answer beside it has: named where the rest is the same, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSON, Certainty, ChatResult, Usage
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.rules.stream_differs import find_lacking


def answer(
    *calls: tuple[str, JSON], content: str | None = None, finish_reason: str | None = "tool_calls"
) -> ChatResult:
    made: list[JSON] = [{"type": "function", "function": {"name": name, "arguments": args}} for name, args in calls]
    return ChatResult({"role": "assistant", "content": content, "tool_calls": made}, finish_reason)


def lacking(whole: ChatResult, stream: ChatResult) -> list[Report]:
    return list(find_lacking(whole, stream))


WHOLE = answer(("get_weather", '{"city": "Oslo", "unit": "c"}'))


@pytest.mark.parametrize(
    ("streamed", "lost"),
    [
        ('{"unit": "c"}', "city"),
        ("{}", "city, unit"),
        ("", "its arguments"),
        (" ", "its arguments"),
        (None, "its arguments"),
    ],
)
def test_arguments_that_only_the_whole_answer_has_are_named(streamed: JSON, lost: str) -> None:
    (report,) = lacking(WHOLE, answer(("get_weather", streamed)))

    assert report.title.replace("`", "") == (
        f"The streamed call to get_weather lacks {lost}, which the whole answer has."
    )
    assert report.certainty is Certainty.INFERRED
    assert [item.field for item in report.evidence] == ["tool_calls[0].function.arguments"]


@pytest.mark.parametrize(
    "streamed",
    [
        '{"city": "Oslo", "unit": "c"}',
        '{"city": "Rome"}',
        '{"town": "Oslo"}',
        '{"city": "Oslo", "unit": "c", "x": 1}',
        "[1]",
    ],
)
def test_the_same_arguments_or_other_ones_lack_nothing(streamed: str) -> None:
    assert lacking(WHOLE, answer(("get_weather", streamed))) == []


def test_a_call_without_arguments_lacks_none() -> None:
    assert lacking(answer(("ping", "{}")), answer(("ping", ""))) == []
    assert lacking(answer(("ping", "half a {")), answer(("ping", ""))) == []


def test_calls_of_other_tools_are_not_compared() -> None:
    assert lacking(WHOLE, answer(("search", "{}"))) == []
    assert lacking(WHOLE, answer(("get_weather", "{}"), ("get_weather", "{}"))) == []


def test_each_call_is_compared_with_its_own() -> None:
    whole = answer(("ping", '{"a": 1}'), ("search", '{"q": 1, "n": 2}'))

    (report,) = lacking(whole, answer(("ping", '{"a": 1}'), ("search", '{"n": 2}')))

    assert "`search` lacks" in report.title
    assert report.evidence[0].field == "tool_calls[1].function.arguments"


@pytest.mark.parametrize(
    ("content", "shown"), [("Let me look.", "its content is 'Let me look.'"), (None, "no content")]
)
def test_a_stream_without_any_call_is_said_to_have_none(content: str | None, shown: str) -> None:
    (report,) = lacking(WHOLE, answer(content=content, finish_reason="stop"))

    assert report.title == "The whole answer has 1 call (`get_weather`), the streamed one has none."
    assert report.detail.startswith("The stream ends with `stop`")
    assert shown in report.detail
    assert report.certainty is Certainty.INFERRED
    assert "stream: false" in str(report.fix)


def test_a_stream_that_was_cut_or_an_answer_without_calls_shows_nothing() -> None:
    assert lacking(WHOLE, answer(finish_reason=None)) == []
    assert lacking(answer(content="Hi."), answer(content="Hi.")) == []


@pytest.mark.parametrize(
    ("whole", "stream"),
    [
        ({}, {"message": {"content": "A fish walks into a bar."}}),
        ({"usage": Usage(90, 12)}, {"usage": Usage(21, 12)}),
        ({"body": '{"model": "m-8b"}'}, {"body": 'data: {"model": "m-70b"}'}),
    ],
    ids=["other words", "another prompt", "another model"],
)
def test_answers_to_two_requests_are_not_compared(whole: dict[str, object], stream: dict[str, object]) -> None:
    nothing = answer(finish_reason="stop")

    assert lacking(replace(WHOLE, **whole), replace(nothing, **stream)) == []  # type: ignore[arg-type]  # by their names
    assert len(lacking(WHOLE, nothing)) == 1
