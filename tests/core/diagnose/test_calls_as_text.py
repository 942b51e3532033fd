"""Returned calls that the reading of an output does not have: which text of the output explains them."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, SegmentKind, Trace
from prompt_debugger.core.diagnose.calls.calls_as_text import CallAsText, invented_calls
from tests.core.diagnose.cases import build_trace

OSLO: JSON = '{"city": "Oslo"}'


def shown(raw: str, *calls: list[JSON]) -> Trace:
    return build_trace({"tools": ["get_weather"], "raw": raw, "message": {"content": None, "calls": [*calls]}})


def found_in(raw: str, name: str = "get_weather", arguments: JSON = OSLO) -> CallAsText:
    (found,) = invented_calls(shown(raw, [name, arguments]))
    return found


@pytest.mark.parametrize(
    "raw",
    [
        "So: get_weather(city=Oslo)",
        "So: 'get_weather', city, Oslo",
        "So: get_weather<city>Oslo",
        "So: get_weather:0 <city>Oslo",
        "So: get_weather\n\n  {city: Oslo}",
        "city: Oslo, get_weather()",
        "See get_weather and get_weather[city=Oslo]",
    ],
)
def test_a_name_before_what_opens_with_the_arguments_around_it_explains_a_call(raw: str) -> None:
    found = found_in(raw)

    assert found.name_span is not None
    assert found.text is not None
    assert raw[slice(*found.name_span)] == "get_weather"
    assert found.name_span.start == raw.rindex("get_weather")
    assert (found.kind, raw[slice(*found.text)]) == (SegmentKind.CONTENT, raw)
    assert found.call.field == "tool_calls[0]"


@pytest.mark.parametrize(
    "raw",
    [
        "I ask get_weather about the city Oslo.",
        "So: get_weather(city=Paris)",
        "So: my_get_weather(city=Oslo)",
        "So: get_weather2(city=Oslo)",
        f"So: get_weather(a={'x' * 400}, city=Oslo)",
        f"city=Oslo {'x' * 400} get_weather()",
        "Nothing.",
    ],
)
def test_prose_other_names_other_values_and_far_ones_explain_nothing(raw: str) -> None:
    found = found_in(raw)

    assert (found.name_span, found.kind, found.text) == (None, None, None)
    assert found.call.name == "get_weather"


def test_text_in_reasoning_is_called_that() -> None:
    found = found_in("<think>I write get_weather(city=Oslo)</think>It is fine.")

    assert found.kind is SegmentKind.REASONING


@pytest.mark.parametrize(
    ("arguments", "raw", "is_explained"),
    [
        ("", "f()", True),
        ('{"n": 3, "b": true, "x": null}', "f(n=3, b=True, x=None)", True),
        ('{"n": 3}', "f(n=4)", False),
        ('{"rows": [{"a": "one\\ntwo"}]}', "f(rows: a: one two)", True),
        ('{"rows": [{"a": "one\\ntwo"}]}', "f(rows: a: one)", False),
        ('{"t": "caf\u00e9"}', "f(t=caf\\u00e9)", True),
        ("no JSON", "f(no JSON)", True),
        ("no JSON", "f(JSON)", False),
        ({"city": "Oslo"}, "f(city=Oslo)", True),
    ],
)
def test_every_key_and_plain_value_has_to_be_there(arguments: JSON, raw: str, *, is_explained: bool) -> None:
    assert (found_in(raw, "f", arguments).name_span is not None) is is_explained


def test_only_calls_without_an_origin_are_looked_for() -> None:
    called = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    trace = shown(f"See f(1). {called}", ["get_weather", OSLO], ["f", "[1]"], ["", "{}"])

    assert [(one.call.name, one.name_span is not None) for one in invented_calls(trace)] == [("f", True), ("", False)]
    assert list(invented_calls(build_trace({"message": {"content": None, "calls": [["f", "{}"]]}}))) == []


def test_a_name_of_several_words_is_found_by_all_of_it() -> None:
    assert found_in("So: fs.read_file(a)", "fs.read_file", "").name_span is not None
    assert found_in("So: db.read_file(a)", "fs.read_file", "").name_span is None
