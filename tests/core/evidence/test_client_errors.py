"""Terse errors of clients and frameworks, pasted alone: what they are about, and what is needed to know more."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.evidence import Part, parts_of, read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.copied import error_of_text

NO_CHOICES = 'Traceback (most recent call last):\n  File "a.py", line 7, in ask\n    {line}\n    ~~~~^^^\n{error}\n'
STACK = "\n    at processResult (file:///app/index.mjs:2952:17)\n    at fn (file:///app/index.mjs:2965:19)\n"

ERRORS = [
    (
        "openai.APIConnectionError: Connection error.",
        "No complete answer came from the server: APIConnectionError: Connection error.",
    ),
    ("APIConnectionError: Connection error.", "No complete answer came from the server: "),
    ("openai.APITimeoutError: Request timed out.", "No complete answer came from the server: Request timed out."),
    (
        "httpx.ConnectError: [Errno 111] Connection refused",
        "No complete answer came from the server: Connection refused",
    ),
    ("TypeError: fetch failed\n    at node:internal/x:1:2\n", "No complete answer came from the server: fetch failed"),
    (
        "2026-01-01 10:00:00.953 | ERROR    | app.llm:ask:42 - OpenAI API error: Connection error.\n",
        "No complete answer came from the server: ",
    ),
    ("Error: 404 status code (no body)", "The request was sent to a wrong address: 404 status code (no body)."),
    (
        NO_CHOICES.format(line="text = got['choices'][0]", error="KeyError: 'choices'"),
        "The answer could not be used: KeyError: 'choices'.",
    ),
    (
        NO_CHOICES.format(
            line="text = answer.choices[0].message", error="TypeError: 'NoneType' object is not subscriptable"
        ),
        "The answer could not be used: choices[0].message TypeError: 'NoneType' object is not subscriptable.",
    ),
    (
        f"Error executing step: AI_NoObjectGeneratedError: No object generated: response did not match schema.{STACK}",
        "The model's JSON does not match the program's schema: No object generated: response did not match schema.",
    ),
    (
        "pydantic_ai.exceptions.UnexpectedModelBehavior: Exceeded maximum retries (1) for result validation",
        "The model's answers did not pass the program's validation before the retries ran out: Exceeded maximum "
        "retries (1) for result validation.",
    ),
    (
        "instructor.exceptions.InstructorRetryException: 1 validation error for UserInfo\nname\n  Field required "
        "[type=missing, input_value={'type': 'object'}, input_type=dict]",
        "The model's answers did not match the program's class before the retries ran out: ",
    ),
    (
        "TypeError: Completions.create() got an unexpected keyword argument 'chat_template_kwargs'",
        "`create` does not accept that argument, so nothing was sent: ",
    ),
    ("[openrouter] Error: 'choices'", "The answer could not be used: Error: 'choices'."),
    (
        "2026-01-01 10:00:00 error: [a.js] 400 status code (no body)",
        "An error was reported: 400 status code (no body).",
    ),
    (
        "Failed to parse arguments: [json.exception.parse_error.101] parse error at line 1, column 6",
        "An error was reported: Failed to parse arguments",
    ),
    ("litellm.APIConnectionError: OllamaException - the moon is full", "An error was reported: "),
]


@pytest.mark.parametrize(("text", "says"), ERRORS, ids=[text[:40] for text, _ in ERRORS])
def test_a_terse_error_is_reported_for_what_it_is(text, says):
    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert trace.verdict is not None
    assert trace.verdict.sentence.startswith(says)


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: 'NoneType' object is not subscriptable",
        NO_CHOICES.format(line="row = rows[0]", error="TypeError: 'NoneType' object is not subscriptable"),
        NO_CHOICES.format(line="text = got['city'][0]", error="KeyError: 'city'"),
        "AttributeError: 'str' object has no attribute 'colour'",
        "NotImplementedError: not today",
    ],
)
def test_an_exception_that_has_nothing_to_do_with_a_chat_stays_without_a_verdict(text):
    assert error_of_text(text) is None


def test_an_error_of_a_client_that_no_one_knows_is_not_said_to_come_from_the_server():
    trace = asyncio.run(show_evidence(read_evidence("openai.StrangeError: the flux is out of phase")))

    assert trace.verdict is not None
    assert trace.verdict.sentence.startswith("An error was reported: the flux is out of phase.")
    assert "with the request that caused it" in (trace.findings[0].fix or "")


def test_a_check_of_a_class_is_not_a_refusal_of_the_server():
    text = (
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for Row\na\n  Field required [type=missing, "
    )
    trace = asyncio.run(show_evidence(read_evidence(text + "input_value={'b': 1}, input_type=dict]")))

    assert trace.verdict is not None
    said = "A value does not match the class that a program checks it against: 1 valid"
    assert trace.verdict.sentence.startswith(said)


def test_what_an_agent_quotes_of_the_output_is_read_as_the_raw_output():
    trace = asyncio.run(show_evidence(read_evidence("ValueError: Could not parse LLM output: `<think>Hm.</think>Hi`")))

    assert Part.RAW in parts_of(trace)
    assert trace.raw is not None
    assert trace.raw.text == "<think>Hm.</think>Hi"
