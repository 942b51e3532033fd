"""Errors of hosted APIs: which field they name, what a vendor's own check of an answer means, also within a stream."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, Finding, JSONObject
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.known_errors import recognise_error

_BODY: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "Which key opens it?"}]}


def found_in(answer: JSON | str, **fields: JSON) -> dict[str, Finding]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    trace = trace_of(read_evidence(f"{json.dumps({**_BODY, **fields}, indent=1)}\n\n{text}"))
    return {finding.code: finding for finding in diagnose_trace(trace)}


def refused(message: str, **more: JSON) -> JSONObject:
    return {"error": {"message": message, **more}}


def stream(message: str) -> str:
    chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Ha"}}]}
    error = refused(message, code="x")
    return f"data: {json.dumps(chunk)}\n\nevent: error\ndata: {json.dumps(error)}\n"


def test_a_model_that_did_not_call_is_no_output_that_could_not_be_read() -> None:
    said = refused(
        "Tool choice is required, but model did not call a tool", code="tool_use_failed", failed_generation="None."
    )
    found = found_in(said, tool_choice="required")["PD445"]

    assert "could not be read" not in found.title
    assert "no call was lost" in found.detail


def test_a_call_that_its_schema_refuses_says_where() -> None:
    said = "tool call validation failed: parameters for tool open_it did not match schema: errors: [`/key`: expected x]"
    found = found_in(refused(said, code="tool_use_failed"))["PD445"]

    assert found.title.startswith("The model's call does not fit the parameters")
    assert "/key" in found.title


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Tool choice is required, but model did not call a tool", "no call was lost"),
        ("Token limit reached", "limit of its tokens"),
        ("Tool choice is none, but model called a tool", "lets the model use no tool"),
    ],
)
def test_an_error_within_a_stream_is_explained_as_one_in_place_of_the_answer(said: str, words: str) -> None:
    found = found_in(stream(said))["PD310"]

    assert words in found.detail
    assert "Run again; if it breaks" not in found.fix[0]


def test_near_miss_an_unknown_error_within_a_stream_is_only_shown() -> None:
    found = found_in(stream("The tool box is closed today"))["PD310"]

    assert "comes from" not in found.detail
    assert "look at its log" in str(found.fix)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("This model doesn't support the topBlend field.", "`topBlend`"),
        ("This model does not support the seed2 parameter.", "`seed2`"),
        ("Remove cacheTime and try again.", "`cacheTime`"),
    ],
)
def test_the_field_of_a_refusal_is_the_name_and_no_word_of_the_sentence(said: str, named: str) -> None:
    found = found_in(refused(said))["PD100"]

    assert named in str(found.fix)


@pytest.mark.parametrize(
    "said",
    ["This model doesn't support the.", "That is not supported by this model.", "It does not support this option"],
)
def test_near_miss_articles_and_pronouns_are_no_fields(said: str) -> None:
    found = found_in(refused(said))["PD100"]

    assert not any(f"`{word}`" in str(found.fix).lower() for word in ("the", "that", "this", "it"))


def test_a_column_of_a_database_is_no_field_of_the_request() -> None:
    found = found_in(refused('No row with [WHERE "batch_rows"."batch_id" = $1]'))["PD100"]

    assert "batch_rows" not in str(found.fix)


def test_a_role_that_the_model_does_not_take_is_not_to_be_left_out() -> None:
    said = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
    found = found_in(refused(said, param="messages[0].role"))["PD100"]

    assert "Leave" not in str(found.fix)
    assert "developer" in str(found.fix)


def test_a_model_that_anthropic_does_not_have_is_named_by_type_and_words() -> None:
    said: JSONObject = {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-lyric-9"}}

    assert "does not serve the model" in found_in(said)["PD100"].title


@pytest.mark.parametrize(
    "said",
    [
        "model: claude-lyric-9",
        "The resource was not found in the cellar",
        "No credentials found in the drawer",
        "The token limit was reached by none",
    ],
)
def test_near_miss_words_alone_are_no_vendors_sentence(said: str) -> None:
    assert recognise_error(said) is None


def test_what_azure_does_not_find_is_an_address() -> None:
    found = found_in({"error": {"code": "404", "message": "Resource not found"}})["PD100"]

    assert "wrong address" in found.title
    assert "api-version" in str(found.fix)
