"""What a request promises of the answer's text, by each way to ask for it, and how the promise is broken."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Notice, Request, Trace
from prompt_debugger.core.diagnose.promised import (
    Breach,
    breach_of,
    promised_choices,
    promised_json,
    promised_text,
)

SCHEMA: JSONObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def asked(body: JSONObject, message: JSONObject | None = None, finish_reason: str = "stop") -> Trace:
    chat = None if message is None else ChatResult({"role": "assistant", **message}, finish_reason)
    return Trace(Request(body, ""), chat=chat)


@pytest.mark.parametrize(
    ("body", "field", "schema"),
    [
        ({"response_format": {"type": "json_object"}}, "response_format", None),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}, "response_format", SCHEMA),
        ({"structured_outputs": {"json": SCHEMA}}, "structured_outputs", SCHEMA),
        ({"structured_outputs": {"json_object": True}}, "structured_outputs", None),
        ({"guided_json": SCHEMA}, "guided_json", SCHEMA),
        ({"guided_json": json.dumps(SCHEMA)}, "guided_json", SCHEMA),
        ({"guided_json": "no schema"}, "guided_json", None),
        ({"extra_body": {"guided_json": SCHEMA}}, "extra_body.guided_json", SCHEMA),
    ],
    ids=json.dumps,
)
def test_each_way_to_ask_for_json_is_a_promise(body: JSONObject, field: str, schema: JSON) -> None:
    promise = promised_json(asked(body))

    assert promise is not None
    assert (promise.field, promise.schema) == (field, schema)
    assert promise.schema_field.startswith(field)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"response_format": {"type": "text"}},
        {"response_format": "json_object"},
        {"structured_outputs": {"json_object": False}},
        {"structured_outputs": {"regex": "a"}},
        {"guided_json": None},
        {"extra_body": {"guided_choice": ["a"]}},
    ],
    ids=json.dumps,
)
def test_other_fields_promise_no_json(body: JSONObject) -> None:
    assert promised_json(asked(body)) is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"structured_outputs": {"choice": ["a", "b"]}}, "structured_outputs.choice"),
        ({"guided_choice": ["a", 1, "b"]}, "guided_choice"),
        ({"extra_body": {"guided_choice": ["a", "b"]}}, "extra_body.guided_choice"),
    ],
    ids=json.dumps,
)
def test_choices_are_found_where_servers_look_and_where_they_do_not(body: JSONObject, field: str) -> None:
    assert promised_choices(asked(body)) == (field, ("a", "b"))


def test_choices_that_are_none_promise_nothing() -> None:
    assert promised_choices(asked({"guided_choice": [1, None]})) == ("", ())
    assert promised_choices(asked({"guided_choice": "a"})) == ("", ())


def test_an_end_token_after_the_text_is_no_part_of_it() -> None:
    assert promised_text(asked({}, {"content": "Paris<|im_end|>"})) == "Paris"
    assert promised_text(asked({}, {"content": "Paris"})) == "Paris"
    assert promised_text(asked({})) == ""


CALL: JSONObject = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "finish_reason", "breach", "words"),
    [
        ({"content": "Paris, I think."}, "stop", Breach.IGNORED, "it is not JSON"),
        ({"content": ""}, "stop", Breach.IGNORED, "it is not JSON"),
        ({"content": '{"town": "Oslo"}'}, "stop", Breach.SCHEMA, "city"),
        ({"content": '{"city": "Os'}, "stop", Breach.UNCLOSED, "it is not JSON"),
        ({"content": '[{"city": "Os'}, "stop", Breach.UNCLOSED, "it is not JSON"),
        ({"content": '{"city": "Os'}, "length", Breach.CUT, "finish_reason is `length`"),
        ({"content": "", "reasoning": '{"city": "Oslo"}'}, "stop", Breach.REASONING, "the JSON is in reasoning"),
        ({"content": "", "reasoning": '[{"city": "Oslo"}]'}, "stop", Breach.REASONING, "the JSON is in reasoning"),
        ({"content": "", "reasoning": "Oslo, so"}, "stop", Breach.REASONING, "all text is in reasoning"),
        ({"content": "", "reasoning": " "}, "stop", Breach.IGNORED, "it is not JSON"),
        ({"content": '<think>Oslo</think>{"city": "Oslo"}'}, "stop", Breach.REASONING, "`</think>`"),
        ({"content": 'Oslo.</think>{"city": "Oslo"}'}, "stop", Breach.REASONING, "`</think>`"),
    ],
    ids=str,
)
def test_each_way_to_break_a_promise_is_named(
    message: JSONObject, finish_reason: str, breach: Breach, words: str
) -> None:
    trace = asked({"guided_json": SCHEMA}, message, finish_reason)
    promise = promised_json(trace)
    assert promise is not None

    broken = breach_of(trace, promise)

    assert broken is not None
    assert broken[0] is breach
    assert words in broken[1]


@pytest.mark.parametrize(
    ("message", "finish_reason"),
    [
        ({"content": '{"city": "Oslo"}'}, "stop"),
        ({"content": '{"city": "Oslo"}<|im_end|>'}, "stop"),
        ({"content": '{"town": "Oslo"}'}, "length"),  # the schema may have been met by what was cut
        ({"content": None, "tool_calls": [CALL]}, "tool_calls"),
        ({"content": None, "refusal": "I cannot say."}, "stop"),
    ],
    ids=str,
)
def test_a_promise_that_is_kept_or_that_something_else_takes_the_place_of(
    message: JSONObject, finish_reason: str
) -> None:
    trace = asked({"guided_json": SCHEMA}, message, finish_reason)
    promise = promised_json(trace)
    assert promise is not None

    assert breach_of(trace, promise) is None
    assert breach_of(asked({"guided_json": SCHEMA}), promise) is None


@pytest.mark.parametrize(
    ("native", "notices", "field"),
    [
        ({"text": {"format": {"type": "json_object"}}}, (), "text.format"),
        ({"output_config": {"format": {}}}, (), "output_config.format"),
        ({"generationConfig": {"responseSchema": {}}}, (), "generationConfig.responseSchema"),
        ({"text": {"verbosity": "low"}}, (), "response_format"),
        (None, (Notice("format", "x"),), "format"),
        (None, (Notice("think", "x"),), "response_format"),
    ],
    ids=str,
)
def test_a_promise_is_named_as_the_api_that_was_asked_calls_it(
    native: JSONObject | None, notices: tuple[Notice, ...], field: str
) -> None:
    request = Request({"response_format": {"type": "json_object"}}, "", notices=notices, native=native)
    promise = promised_json(Trace(request))

    assert promise is not None
    assert promise.field == field
