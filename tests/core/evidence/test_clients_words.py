"""What clients and agents say of an answer: each word about what they quote is true, and a person's words are none."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.diagnose.calls.client_markup import find_client_call
from tests.core.evidence.pasted import shown

NOT_QUOTED = "does not quote the output"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def finding_of(text, code):
    return next((one for one in shown(text).findings if one.code == code), None)


def test_a_quoted_text_that_ends_inside_json_was_cut():
    text = 'Error: Failed to parse. Text: "\n{\n"title": "Barn",\n"size": "big. Error: SyntaxError: Unterminated string'
    found = finding_of(text.replace("big. Error", 'big". Error'), "PD445")

    assert "ends while the JSON is still open" in found.title
    assert "max_tokens" in found.fix
    assert NOT_QUOTED not in found.detail


def test_a_quoted_text_of_prose_is_not_said_to_be_cut():
    text = (
        'Error: Failed to parse. Text: "I open the door.". Error: SyntaxError: Unexpected token I in JSON at position 0'
    )
    found = finding_of(text, "PD445")

    assert "max_tokens" not in found.fix


@pytest.mark.parametrize(
    "text",
    [
        "{OutputParserException}Got invalid return object. Expected markdown code snippet with JSON object, but got:\n"
        '{"a": 1}',
        "ValueError: An output parsing error occurred. This is the error: Could not parse LLM output: `I think so`",
        "Adapter ChatAdapter failed to parse the LM response.\n\nLM Response: It rains. [[ ## reply ## ]] yes\n\n"
        "Expected to find output fields in the LM response: [thought, reply]",
    ],
)
def test_an_error_that_shows_the_output_is_not_said_to_hide_it(text):
    found = finding_of(text, "PD445")

    assert found is not None
    assert NOT_QUOTED not in found.detail
    assert "do not show" not in found.detail


def test_an_error_without_the_output_is_said_to_hide_it():
    assert (
        NOT_QUOTED
        in finding_of(
            "WARNING  Failed to parse cleaned JSON: Expecting value: line 1 column 1 (char 0)", "PD445"
        ).detail
    )


def test_a_proxys_plain_error_is_no_prose_of_the_model():
    found = finding_of(
        "Error parsing Ollama response: SyntaxError: Unexpected token 'B', \"Bad Gatewa\"... is not valid JSON", "PD100"
    )

    assert "plain error" in found.title
    assert "curl -i" in found.fix


def test_prose_of_the_model_stays_prose():
    found = finding_of(
        "Error parsing Ollama response: SyntaxError: Unexpected token 'B', \"Based on t\"... is not valid JSON", "PD445"
    )

    assert "Prose" in found.title


def test_what_a_person_says_of_a_field_is_no_error():
    text = (
        "output like\n```\nI greet back.\n</think>\n\nHello!\n```\n\n"
        "just has `</think>`, so reasoning_content is None\n\n### Bug\n\nvllm 0.7.2\n"
    )

    assert {one.code for one in shown(text).findings} == {"PD468"}


def test_an_exception_within_a_sentence_ends_with_its_code():
    text = (
        "I get this:\n`dev.langchain4j.service.output.OutputParsingException: Failed to parse`\nThe JSON looks right."
    )

    assert shown(text).refusal.message == "Failed to parse"


def test_an_error_without_words_is_named_by_its_code():
    body = {"error": {"message": "", "type": "invalid_request_error", "param": None, "code": "invalid_organization"}}
    found = finding_of(json.dumps(body), "PD100")

    assert found.title == "The server did not accept the API key: invalid_organization."


def test_a_request_that_is_no_json_is_not_the_models_text():
    log = (
        "2026-05-04 10:00:00 [ERROR]\n [LM STUDIO SERVER] Received request for /api/v1/chat with invalid JSON: "
        "Expected ',' or '}' after property value in JSON at position 90 (line 4 column 3)\n"
    )
    found = finding_of(log, "PD100")

    assert found.stage is Stage.REQUEST
    assert "finish_reason" not in found.fix


@pytest.mark.parametrize(("name", "is_call"), [("None", False), ("N/A", False), ("search", True), ("None_of", True)])
def test_an_action_that_is_none_is_no_call(name, is_call):
    text = f"Thought: I know it now.\nAction: {name}\nAction Input: the sun\n"

    assert (find_client_call(text) is not None) is is_call


@pytest.mark.parametrize("is_text", [True, False])
def test_a_schema_that_is_sent_as_a_text_is_named(is_text):
    form = json.dumps(SCHEMA) if is_text else SCHEMA
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "format": form, "stream": False}

    assert (finding_of(json.dumps(body), "PD135") is not None) is is_text
