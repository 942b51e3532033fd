"""Calls in notations that clients teach or models make up: each is told as what it is, with the advice that fits."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Request, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.client_calls import client_call, report_client_call
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_schema_input
from prompt_debugger.core.diagnose.rules.base import Report
from tests.attacks.growth import grows_linearly

ACTION = 'Action: get_weather\nAction Input: {"city": "Oslo"}'
TEXTS = {
    Notation.CLAUDES: '<function_calls>\n<invoke name="get_weather">\n</invoke>\n</function_calls>',
    Notation.TAUGHT: "<read_file>\n<path>a.py</path>\n</read_file>",
    Notation.INVENTED: '<tool_call><name>get_weather</name><args>{"city": "Oslo"}</args></tool_call>',
    Notation.REACT: f"Thought: I look.\n{ACTION}",
    Notation.LISTED: 'Tool calls:\n- get_weather: {"city": "Oslo"}',
    Notation.AGENTS: '{"action": "get_weather", "action_input": {"city": "Oslo"}}',
    Notation.WRAPPED: '{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}',
    Notation.PRINTED: "[{'id': 'c', 'type': 'function', 'function': {'name': 'get_weather', 'arguments': '{}'}}]",
    Notation.PROMPTED: '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Oslo"}',
    Notation.MIXED: '<function=get_weather={"city": "Oslo"}</function>',
    Notation.MARKED: '[TOOL_CALL]\n{"tool": "get_weather", "args": {}}',
    Notation.TOOL_TAG: '<get_weather>{"city": "Oslo"}</get_weather>',
    Notation.DSML: '<invoke name="get_weather">\n<parameter name="city" string="true">Oslo</parameter>\n</invoke>',
}
AT_THE_BEGINNING = (Notation.AGENTS, Notation.WRAPPED, Notation.PRINTED)


def trace_of(**body: JSON) -> Trace:
    made: JSONObject = {"messages": [], **body}
    return Trace(Request(made, ""))


def reported(content: str) -> Report:
    call = client_call(trace_of(), content)
    assert call is not None
    return report_client_call(trace_of(), call, content)


def test_a_missing_marker_of_qwen_agents_prompt_is_named() -> None:
    missing = "The marker before the arguments is missing"

    assert missing in reported("✿FUNCTION✿: get_weather, {'city': 'Oslo'}").detail
    assert missing not in reported(TEXTS[Notation.PROMPTED]).detail
    assert client_call(trace_of(), "✿FUNCTION✿: get_weather") is None


@pytest.mark.parametrize(("notation", "content"), TEXTS.items(), ids=list(TEXTS))
def test_each_notation_is_told_with_its_tool_and_its_place(notation: Notation, content: str) -> None:
    words = f"So:\n{content}" if notation not in AT_THE_BEGINNING else content
    call = client_call(trace_of(), words)
    assert call is not None

    report = report_client_call(trace_of(), call, words)

    assert call.notation is notation
    assert call.name == ("read_file" if notation is Notation.TAUGHT else "get_weather")
    assert report.title.startswith(f"A tool call to `{call.name}` is in content as ")
    assert ("as XML that" in report.title) is (
        notation in (Notation.CLAUDES, Notation.TAUGHT, Notation.INVENTED, Notation.TOOL_TAG)
    )
    assert report.severity is Severity.WARNING
    assert str(report.evidence[0].quote) in words
    assert report.evidence[0].char_span == call.span


def test_no_two_notations_get_the_same_advice() -> None:
    advice = [str(reported(content).fix) for content in TEXTS.values()]

    assert len(set(advice)) == len(advice)


def test_a_result_that_the_model_made_up_is_said_to_be_that() -> None:
    made_up = "the model made the tool's result up"

    assert made_up in reported(f"{ACTION}\nObservation: 3 degrees").detail
    assert made_up not in reported(f"{ACTION}\nObservation:").detail
    assert made_up not in reported(f"Observation: 3 degrees\n{ACTION}").detail


def test_text_in_place_of_a_name_is_reported_as_that() -> None:
    answer = "The weather in Oslo is fine, and that is all that I can say about it for today, tomorrow and after that."
    content = f"<tool_call><name>{answer}</name><arguments>{{}}</arguments></tool_call> So much."

    report = reported(content)

    assert report.title == "A tool call in content has other text where its tool's name belongs."
    assert f"holds {len(answer)} characters, beginning with {answer[:60]!r}:" in report.detail
    assert (report.severity, report.stage) == (Severity.WARNING, Stage.COMPLETE)
    span = report.evidence[0].char_span
    assert span is not None
    assert content[slice(*span)] == content.removesuffix(" So much.")


@pytest.mark.parametrize(
    ("body", "is_call"),
    [
        ({}, True),
        ({"tools": [{"type": "function", "function": {"name": "get_weather"}}]}, True),
        ({"tools": [{"type": "function", "function": {"name": "search"}}]}, False),
        ({"response_format": {"type": "json_object"}}, False),
    ],
    ids=["bare", "offered", "of no offered tool", "JSON wanted"],
)
def test_json_of_an_agent_is_an_answer_where_the_request_wants_one(body: JSONObject, *, is_call: bool) -> None:
    for notation in (Notation.AGENTS, Notation.WRAPPED):
        assert (client_call(trace_of(**body), TEXTS[notation]) is not None) is is_call
    assert client_call(trace_of(**body), TEXTS[Notation.REACT]) is not None


@pytest.mark.parametrize("content", ["Hello.", "<p>Hello.</p>", '{"city": "Oslo"}', "Action: none\nAction Input:"])
def test_other_text_is_none(content: str) -> None:
    assert client_call(trace_of(), content) is None


ELEMENT = '<{tag} {key}="get_weather">\n<{value} name="city">Oslo</{value}>\n</{tag}>'


@pytest.mark.parametrize("tag", ["call_record", "tool_call", "tool", "tool-use", "call"])
@pytest.mark.parametrize("key", ["tool", "name", "function"])
@pytest.mark.parametrize("value", ["parameter", "param", "arg"])
def test_an_element_whose_attribute_names_the_tool_is_a_call(tag: str, key: str, value: str) -> None:
    content = f"So:\n{ELEMENT.format(tag=tag, key=key, value=value)} Done."

    call = client_call(trace_of(), content)

    assert call is not None
    assert (call.name, call.notation) == ("get_weather", Notation.INVENTED)
    assert content[slice(*call.span)] == content[4 : -len(" Done.")]


@pytest.mark.parametrize(
    "content",
    [
        ELEMENT.format(tag="node", key="name", value="param"),  # of a launch file
        ELEMENT.format(tag="function", key="name", value="param"),  # a family's own
        ELEMENT.format(tag="action", key="name", value="param"),  # of Struts
        '<tool name="get_weather">\n<parameter name="city" type="string">A city.</parameter>\n</tool>',
        '<tool name="get_weather">\n<description>The weather.</description>\n</tool>',
        '<tool_call name="get_weather">\n<parameter name="city">Os',
    ],
    ids=["launch file", "MiniCPM", "Struts", "description", "other child", "cut"],
)
def test_other_elements_with_a_name_are_no_calls(content: str) -> None:
    assert client_call(trace_of(), content) is None


@pytest.mark.parametrize("unit", ['<tool_call name="f"><param name="a">', "tool_call_", '<tool name="f">  '])
def test_a_flood_of_such_elements_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: client_call(trace_of(), unit * size), first=500)


@pytest.mark.parametrize(
    "given",
    [
        "{'type': 'object', 'properties': AttributedDict()}",
        '{"type": "object", "properties": {"city": {"type": "string"}}}',
        "\n{\n  'type': 'object',\n  'properties': {}\n}\nObservation: unexpected keyword argument 'type'",
    ],
)
def test_an_input_that_is_the_schema_of_the_tool_is_told_as_one(given: str) -> None:
    report = reported(f"{ACTION}\nObservation: 4 degrees\nAction: today\nAction Input: {given}")

    assert report.title.startswith("The input of the call to `today` in content, in lines of `Action`, is a schema")
    assert report.severity is Severity.WARNING
    assert report.stage is Stage.COMPLETE


@pytest.mark.parametrize(
    "given", ['{"type": "object"}', '{"type": "object", "properties": 3}', '{"schema": {"type": "object"}}', "object"]
)
def test_an_input_with_one_word_of_a_schema_is_one_of_values(given: str) -> None:
    assert "schema" not in reported(f"Action: today\nAction Input: {given}").title


def test_schemas_as_inputs_are_looked_for_in_linear_time() -> None:
    assert grows_linearly(lambda size: find_schema_input("Action: a\nAction Input: {'type': " * size), first=5_000)
    assert grows_linearly(lambda size: find_schema_input("Action: " + "a " * size), first=50_000)
