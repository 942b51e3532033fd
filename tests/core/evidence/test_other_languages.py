"""Errors as Elixir, Java and Rust print them, and bodies with a number for a code."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.evidence import gather_evidence, show_evidence
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.other_languages import links_of_rust, plain_of_elixir, plain_of_java
from tests.attacks.growth import grows_linearly


def finding_of(text):
    return asyncio.run(show_evidence(gather_evidence([text]))).findings[0]


def test_an_exception_of_elixir_is_its_words_without_name_and_frames():
    text = (
        "** (Tern.Error.API.Request) API request failed (400): max_tokens: must be at least 1\n"
        "    (tern 1.0.0) lib/tern/generation.ex:28: Tern.Generation.ask!/4\n    #cell:agrnc3:19: (file)\n"
    )

    assert finding_of(text).title.endswith("API request failed (400): max_tokens: must be at least 1.")
    assert plain_of_elixir("2 ** (Tern) x") == "2 ** (Tern) x"


def test_a_report_that_tells_of_an_exception_of_elixir_is_about_the_exception():
    report = (
        "# [Bug]: Wrong schema\n\n### Description\n\nThe request results in a 400, as the schema produced is invalid.\n"
        "\n### Actual\n\n** (Tern.APIError) OpenAI API error: tools.0.function: JSON schema is invalid.\n"
        "    (tern 1.0.0) lib/tern.ex:28: Tern.ask!/4\n"
    )

    assert "tools.0.function" in finding_of(report).title


@pytest.mark.parametrize("before", ["", "shop.BadRequestException: 400: "])
def test_a_body_that_java_prints_as_a_map_has_its_field_and_its_words(before):
    body = '{error={message=Unknown name "strict", at tools[0], type=bad_request, param=tools[0].strict, code=null}}'
    error = error_of_text(f"{before}{body}")

    assert error is not None
    assert error.refusal.message == 'Unknown name "strict", at tools[0]'
    assert error.refusal.field == "tools[0].strict"


def test_a_map_of_something_else_stays_as_it_is():
    for text in ("{error={count=3}}", "{type=user, name={message=hi}}", "{error={message=never closed"):
        assert plain_of_java(text) == text


CHAIN = (
    "Error: could not answer\n\nCaused by:\n    0: the request to the model failed\n"
    "    1: HTTP status client error (400 Bad Request) for url (http://127.0.0.1:8000/v1/chat/completions)\n"
    "    2: {last}\n"
)


def test_of_a_chain_of_causes_the_last_that_is_understood_counts():
    found = finding_of(CHAIN.format(last="'max_tokens' must be at least 1, got 0."))

    assert found.title.startswith("The value of `max_tokens` is not accepted: 'max_tokens' must be")
    assert found.detail.startswith("HTTP 400: ")


def test_a_chain_of_another_program_is_no_error_of_a_chat_request():
    text = "Caused by:\n    0: TOML parse error at line 4\n    1: invalid type: map, expected a string\n"

    assert len(links_of_rust(text)) == 2
    assert error_of_text(text) is None or "Caused by" not in error_of_text(text).refusal.message


@pytest.mark.parametrize("lead", ["■ unexpected status 400 Bad Request: ", "stream error: 400: "])
def test_a_body_with_a_number_and_no_data_is_an_error(lead):
    body = json.dumps({"code": 20015, "message": '"messages" in request are illegal.', "data": None})
    found = finding_of(f"{lead}{body}")

    assert "`messages`" in found.fix


@pytest.mark.parametrize("body", [{"code": 0, "message": "ok", "data": None}, {"code": 7, "message": "seven"}])
def test_a_number_that_is_none_of_an_error_makes_no_error(body):
    assert error_of_text(f"The call gave {json.dumps(body)}") is None


@pytest.mark.parametrize(
    "piece",
    [
        "** (A.B) ",
        "    (a 1.0) lib/a.ex:1: x\n",
        "{error={message=",
        "{error={message=a, type=b}}",
        "Caused by:\n    0: x\n",
    ],
)
def test_the_notations_are_read_in_linear_time(piece):
    def run(count):
        text = piece * count
        plain_of_elixir(text)
        plain_of_java(text)
        links_of_rust(text)

    assert grows_linearly(run, first=200)
