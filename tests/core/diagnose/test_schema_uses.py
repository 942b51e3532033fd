"""Which values of a run are checked against which schemas, and what is said of a check that was left out."""

from __future__ import annotations

from prompt_debugger.core.base.types import ChatResult, JSONObject, Request, Trace
from prompt_debugger.core.diagnose.schema_uses import SchemaUse, left_out_note, schema_uses

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


def note_on(*patterns: str) -> str:
    properties: JSONObject = {f"p{number}": {"pattern": pattern} for number, pattern in enumerate(patterns)}
    return left_out_note(SchemaUse("f", "the answer", {"properties": properties}, ()), "it took too long")


def test_a_note_names_three_patterns_and_counts_the_rest() -> None:
    assert note_on("a+").endswith("See its patterns: `a+` at properties.p0.")
    assert "`c` at properties.p2 and 2 more." in note_on("a", "b", "c", "d", "e")
    assert "more" not in note_on("a", "b", "c")


def test_a_note_without_patterns_looks_elsewhere() -> None:
    assert note_on().endswith("See references in it that multiply.")
