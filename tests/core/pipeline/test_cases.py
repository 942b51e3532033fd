"""Single stages from case lines: what is taken, what is refused."""

import json

import pytest

from prompt_debugger.core.base.errors import RenderError, RequestError
from prompt_debugger.core.base.types import Fate, Severity
from prompt_debugger.core.pipeline import CaseParser, render_case

TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
BODY = {"messages": [{"role": "user", "content": "hi"}]}
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def test_a_template_alone_gives_text_and_spans_and_no_tokens():
    prompt, _ = render_case({"request": BODY, "chat_template": TEMPLATE})

    assert prompt.text == "[user]hi[assistant]"
    assert prompt.tokens is None


def test_a_body_of_another_api_is_rendered_as_a_chat():
    prompt, _ = render_case({"request": {"input": "hi", "instructions": "be short"}, "chat_template": TEMPLATE})

    assert prompt.text == "[system]be short[user]hi[assistant]"


def test_add_generation_prompt_and_kwargs_of_the_case_win():
    prompt, _ = render_case(
        {
            "request": BODY,
            "chat_template": TEMPLATE + "{{ mood }}",
            "add_generation_prompt": False,
            "template_kwargs": {"mood": "!"},
        }
    )

    assert prompt.text == "[user]hi!"


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({}, RequestError),
        ({"request": 7, "chat_template": TEMPLATE}, RequestError),
        ({"request": BODY}, RenderError),
        ({"request": BODY, "chat_template": "{{ 1 +"}, RenderError),
        ({"request": BODY, "tokenizer": "/no/such/folder"}, RenderError),
    ],
)
def test_what_cannot_be_rendered_is_an_error_that_names_its_kind(case, error):
    with pytest.raises(error):
        render_case(case)


def test_without_a_message_the_ledger_says_where_characters_should_go():
    with CaseParser() as parser:
        parse, findings, _ = parser.parse({"raw": "ok " + CALL})

    assert parse.parsed.calls[0].name == "f"
    assert Fate.LOST not in {entry.fate for entry in parse.ledger.entries}
    assert [finding for finding in findings if finding.severity == "error"] == []


def test_with_a_message_that_lacks_the_call_it_is_lost():
    with CaseParser() as parser:
        parse, findings, _ = parser.parse({"raw": CALL, "message": {"role": "assistant", "content": None}})

    assert Fate.LOST in {entry.fate for entry in parse.ledger.entries}
    assert "dropped-call" in {finding.name for finding in findings}


def test_token_spans_come_from_the_tokenizer():
    with CaseParser() as parser:
        parse = parser.parse({"raw": CALL, "tokenizer": "lab-model"}).parse

    assert parse.parsed.calls[0].token_span.start == 0


@pytest.mark.parametrize("case", [{}, {"raw": 5}, {"raw": "x", "tools": "y"}, {"raw": "x", "token_ids": ["a"]}])
def test_a_bad_case_is_a_request_error(case):
    with CaseParser() as parser, pytest.raises(RequestError):
        parser.parse(case)


@pytest.mark.vllm
def test_a_parser_that_drops_a_call_is_held_against_the_raw_text():
    raw = CALL.replace('"a": 1}}', '"a": 1}')

    with CaseParser() as parser:
        parse, findings, _ = parser.parse({"raw": raw, "parsers": ["vllm:hermes"], "tools": []})

    assert parse.parsers["vllm:hermes"].tool_calls == ()
    assert findings is not None


FLAT_TOOL = {
    "type": "function",
    "name": "f",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
}


@pytest.mark.vllm
@pytest.mark.parametrize("parser_name", ["vllm:no_such_parser", "vllm:hermes+no_such_parser"])
@pytest.mark.parametrize("raw", ["Nothing to call here.", CALL])
def test_a_parser_that_could_not_run_gave_no_answer_to_be_held_against_the_text(raw, parser_name):
    with CaseParser() as parser:
        parse, findings, _ = parser.parse({"raw": raw, "parsers": [parser_name], "tools": []})

    assert parse.parsers[parser_name].error is not None
    assert [finding.code for finding in findings] == []
    assert Fate.LOST not in {entry.fate for entry in parse.ledger.entries}


@pytest.mark.vllm
def test_tools_in_the_flat_shape_reach_a_parser_in_the_chat_apis():
    with CaseParser() as parser:
        parse, findings, _ = parser.parse({"raw": CALL, "parsers": ["vllm:hermes"], "tools": [FLAT_TOOL]})

    assert parse.parsers["vllm:hermes"].error is None
    assert len(parse.parsers["vllm:hermes"].tool_calls) == 1
    assert findings == ()


@pytest.mark.vllm
@pytest.mark.parametrize(
    "raw",
    [
        '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]',
        '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]',
        '[TOOL_CALLS]f[ARGS]{"a": 1}',
        '[TOOL_CALLS]f{"a": 1}',
    ],
)
def test_the_stand_in_vocabulary_is_of_the_age_of_the_notation(raw):
    with CaseParser() as parser:
        parse, findings, _ = parser.parse({"raw": raw, "parsers": ["vllm:mistral"], "tools": [FLAT_TOOL]})

    assert [call["function"]["name"] for call in parse.parsers["vllm:mistral"].tool_calls] == ["f"]
    assert [finding.code for finding in findings if finding.severity is not Severity.NOTE] == []


ENDLESS = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
BUSY = json.dumps({"a": "a" * 40 + "!"})


def test_a_pattern_that_never_ends_is_left_out_and_said():
    tool = {"type": "function", "function": {"name": "f", "parameters": ENDLESS}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": BUSY}}
    raw = f'<tool_call>\n{{"name": "f", "arguments": {BUSY}}}\n</tool_call>'
    message = {"role": "assistant", "content": None, "tool_calls": [call]}

    with CaseParser() as parser:
        parse, _, notes = parser.parse({"raw": raw, "tools": [tool], "message": message})

    assert [one.name for one in parse.parsed.calls] == ["f"]
    assert len(notes) == 1
    assert "processor time" in notes[0]
