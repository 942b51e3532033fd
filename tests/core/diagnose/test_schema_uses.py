"""Which values of a run are checked against which schemas, and what is said of a check that was left out."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Request, Trace
from prompt_debugger.core.diagnose.schema_uses import SchemaUse, left_out_note, schema_uses
from tests.core.diagnose.cases import build_trace

ANSWER: JSONObject = {"type": "object", "properties": {"a": {"type": "integer"}}}


def answered(content: str, **fields: JSONObject) -> Trace:
    return Trace(Request({**fields}, ""), chat=ChatResult({"role": "assistant", "content": content}, "stop"))


def test_the_promised_schema_of_an_answer_is_held_against_its_content() -> None:
    trace = answered('{"a": 1}', response_format={"type": "json_schema", "json_schema": {"schema": ANSWER}})

    assert list(schema_uses(trace)) == [
        SchemaUse("response_format.json_schema.schema", "the answer", ANSWER, ({"a": 1},))
    ]


def test_an_answer_of_which_nothing_was_promised_is_held_against_nothing() -> None:
    assert list(schema_uses(answered('{"a": 1}'))) == []


TOOL: JSON = {"type": "function", "function": {"name": "f", "parameters": ANSWER}}
BARE: JSON = {"type": "function", "function": {"name": "g"}}
FIELD = "tools[0].function.parameters"


def call(name: str, arguments: JSON) -> JSON:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_the_schema_of_a_called_tool_is_held_against_every_call_of_it() -> None:
    calls: JSON = [call("f", '{"a": 1}'), call("g", "{}"), call("f", '{"a": "x"}'), call("f", "{"), call("h", "{}")]
    trace = Trace(Request({"tools": [TOOL, BARE]}, ""), chat=ChatResult({"tool_calls": calls}, "tool_calls"))

    assert list(schema_uses(trace)) == [
        SchemaUse(FIELD, "the arguments of the call to `f`", ANSWER, ({"a": 1}, {"a": "x"}))
    ]


def test_arguments_are_checked_as_they_arrived_and_as_the_model_wrote_them() -> None:
    raw = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1}}\n</tool_call>'
    arrived = {"content": None, "calls": [["get_weather", '{"city": "Oslo", "days": "1"}']]}
    both = build_trace({"tools": ["get_weather", "search"], "raw": raw, "message": arrived})
    alone = build_trace({"tools": ["get_weather", "search"], "raw": raw})

    (of_both,), (of_raw,) = list(schema_uses(both)), list(schema_uses(alone))

    assert of_both.values == ({"city": "Oslo", "days": "1"}, {"city": "Oslo", "days": 1})
    assert of_raw.values == ({"city": "Oslo", "days": 1},)
    assert of_both.field == of_raw.field == FIELD


def test_an_answer_with_calls_is_not_the_promised_one() -> None:
    promised: JSON = {"type": "json_schema", "json_schema": {"schema": ANSWER}}
    body: JSONObject = {"tools": [TOOL], "response_format": promised}
    calling = Trace(Request(body, ""), chat=ChatResult({"content": "{}", "tool_calls": [call("f", "{}")]}, None))

    assert [use.subject for use in schema_uses(calling)] == ["the arguments of the call to `f`"]
    assert list(schema_uses(Trace(Request(body, "")))) == []


def test_a_long_pattern_is_cut_and_patterns_of_names_count() -> None:
    use = SchemaUse("f", "the answer", {"pattern": "a" * 81, "patternProperties": {"b" * 80: {}}}, ())
    note = left_out_note(use, "it took too long")

    assert note.startswith("The answer could not be checked against the schema at f: it took too long. ")
    assert f"its patterns: `{'a' * 80}…` at its top, `{'b' * 80}` at its top." in note


def note_on(*patterns: str) -> str:
    properties: JSONObject = {f"p{number}": {"pattern": pattern} for number, pattern in enumerate(patterns)}
    return left_out_note(SchemaUse("f", "the answer", {"properties": properties}, ()), "it took too long")


def test_a_note_names_three_patterns_and_counts_the_rest() -> None:
    assert note_on("a+").endswith("See its patterns: `a+` at properties.p0.")
    assert "`c` at properties.p2 and 2 more." in note_on("a", "b", "c", "d", "e")
    assert "more" not in note_on("a", "b", "c")


def test_a_note_without_patterns_looks_elsewhere() -> None:
    assert note_on().endswith("See references in it that multiply.")
