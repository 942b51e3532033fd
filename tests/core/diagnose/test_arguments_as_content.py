"""Contents that are the arguments of a call whose name was lost, and JSON that was asked for."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, Certainty, ChatResult, JSONObject, Request, Severity, Span, Trace
from prompt_debugger.core.diagnose.calls.arguments_as_content import report_arguments, report_ended

END_OF_CALL = 200012


def tool(name: str, *names: str, required: tuple[str, ...] = ()) -> JSON:
    schema: JSON = {"properties": {one: {} for one in names}, "required": [*required]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


WEATHER = tool("get_weather", "city", "days", required=("city",))


def asked(text: str = "Weather?", **body: JSON) -> Trace:
    request: JSONObject = {"messages": [{"role": "user", "content": text}], "tools": [WEATHER], **body}
    return Trace(Request(request, ""))


@pytest.mark.parametrize("content", ['{"city": "Oslo"}', ' {"city": "Oslo", "days": 2}\n'])
def test_an_object_with_the_keys_of_a_tool_is_its_arguments(content: str) -> None:
    report = report_arguments(asked(), content)

    assert report is not None
    assert report.title == "Content is nothing but arguments for `get_weather`: the name of the tool is missing."
    assert (report.certainty, report.severity) == (Certainty.INFERRED, Severity.WARNING)
    assert [(one.field, one.char_span) for one in report.evidence] == [("content", Span(0, len(content)))]


@pytest.mark.parametrize(
    "content",
    ["", "{}", '{"days": 2}', '{"city": "Oslo", "unit": "c"}', '[{"city": "Oslo"}]', 'So: {"city": "Oslo"}', "3"],
)
def test_other_contents_are_not(content: str) -> None:
    assert report_arguments(asked(), content) is None


@pytest.mark.parametrize(
    "trace",
    [
        asked(response_format={"type": "json_object"}),
        asked(tool_choice="none"),
        asked("Answer in JSON."),
        asked("It has to match the schema."),
        asked(tools=[]),
        asked(tools=[tool("get_weather")]),
    ],
)
def test_an_object_that_may_be_the_answer_is_one(trace: Trace) -> None:
    assert report_arguments(trace, '{"city": "Oslo"}') is None


def test_of_several_tools_one_is_meant() -> None:
    report = report_arguments(asked(tools=[WEATHER, tool("get_news", "city"), tool("f", "a")]), '{"city": "Oslo"}')

    assert report is not None
    assert "`get_weather`, `get_news`, of which one is meant: the name" in report.title
    assert "those that these tools of the request" in report.detail


@pytest.mark.parametrize(("model", "is_harmony"), [("openai/gpt-oss-20b", True), ("Qwen/Qwen3-8B", False)])
def test_gpt_oss_has_the_name_in_a_header(model: str, *, is_harmony: bool) -> None:
    report = report_arguments(asked(model=model), '{"city": "Oslo"}')

    assert report is not None
    (step,) = report.fix if isinstance(report.fix, tuple) else ()
    assert ("to=functions.NAME" in getattr(step, "text", "")) is is_harmony


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"content": "a"}, "content"),
        ({"content": ""}, "content"),
        ({"content": None, "reasoning": "b"}, "reasoning"),
        ({"content": "a", "reasoning": "b"}, "content"),
    ],
)
def test_a_turn_that_ended_as_calls_do_without_one_says_where_its_rest_is(message: JSONObject, field: str) -> None:
    report = report_ended(Trace(Request({}, ""), chat=ChatResult(message, "stop", END_OF_CALL)))

    assert report is not None
    assert report.detail.endswith(f"what is left of it is in {field}.")
    assert [one.field for one in report.evidence] == ["finish_reason", field]


def test_another_end_says_nothing() -> None:
    assert report_ended(Trace(Request({}, ""), chat=ChatResult({"content": "a"}, "stop", 200002))) is None
    assert report_ended(Trace(Request({}, ""))) is None
