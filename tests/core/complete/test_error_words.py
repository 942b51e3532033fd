"""What servers say in the body of an error: the words whole, and the field."""

from __future__ import annotations

import json
import sys

import pytest

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete.backends.error_words import MAX_CHARS, read_words

LONG = "Input should be a valid list " * 60


@pytest.mark.parametrize(
    ("body", "text", "field"),
    [
        ({"error": {"message": "bad", "param": "tools"}}, "bad", "tools"),
        ({"error": {"message": "bad", "param": "body.messages"}}, "bad", "messages"),
        ({"error": "nope", "error_type": "validation"}, "nope", None),
        (
            {
                "error": {"message": "Invalid request"},
                "metadata": {
                    "raw": [{"path": ["messages", 2, "name"], "message": "Too long"}, {"path": [], "code": "x"}]
                },
            },
            "Invalid request: `messages[2].name`: Too long",
            None,
        ),
        ({"detail": "Not Found"}, "Not Found", None),
        (
            {"detail": [{"loc": ["body", "a", 0, "b"], "msg": "one"}, {"loc": ["body", "c"], "msg": "two"}]},
            "`a[0].b`: one; `c`: two",
            "a[0].b",
        ),
        ({"object": "error", "message": {"detail": [{"loc": ["body", "x"], "msg": "extra"}]}}, "`x`: extra", "x"),
        (
            {"message": "[{'type': 'extra_forbidden', 'loc': ('body', 'tools', 0, 'id'), 'msg': 'no'}]"},
            "`tools[0].id`: no",
            "tools[0].id",
        ),
        (
            {"message": "1 error: {'loc': 'body.top_p', 'msg': 'no'}"},
            "1 error: {'loc': 'body.top_p', 'msg': 'no'}",
            "top_p",
        ),
        ([{"error": {"code": 400, "message": "Invalid value", "status": "INVALID_ARGUMENT"}}], "Invalid value", None),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": "context is full"}}},
            "Provider returned error: context is full",
            None,
        ),
        ({"error": {"message": LONG}}, LONG.strip(), None),
        ({"error": {"code": 7}}, '{"code": 7}', None),
        ({"code": 7}, "", None),
        ("just words", "just words", None),
        (5, "", None),
    ],
)
def test_words_and_field(body: JSON, text: str, field: str | None) -> None:
    assert read_words("application/json", json.dumps(body))[:2] == (text, field)


def test_a_web_page_has_no_words() -> None:
    assert read_words("text/html", "<html><title>502</title></html>")[:2] == ("", None)


def test_plain_text_is_taken_as_it_is_up_to_a_length() -> None:
    assert read_words("text/plain", "upstream\ngone")[:2] == ("upstream gone", None)
    assert len(read_words("text/plain", "x" * 9999).text) == MAX_CHARS


def test_what_is_nested_without_end_is_left() -> None:
    body: JSON = "words"
    for _ in range(50):
        body = {"error": body}

    assert read_words("application/json", json.dumps(body)).field is None


@pytest.mark.parametrize("body", [{"error": {"code": 404, "message": "no such path"}}, {"detail": None}, [{}] * 50])
def test_looking_for_a_field_that_no_one_named_takes_no_work(body: JSON) -> None:
    """Looking below what is absent costs half a million steps for each error, and a probe gets many."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    text = json.dumps(body)
    sys.setprofile(count)
    try:
        read_words("application/json", text)
    finally:
        sys.setprofile(None)

    assert 0 < calls < 2_200


def test_code_and_output_stand_next_to_the_words() -> None:
    error: JSON = {"message": "Failed", "code": "tool_use_failed", "failed_generation": "<function=f>"}

    assert read_words("application/json", json.dumps({"error": error}))[2:] == ("tool_use_failed", "<function=f>")
    assert (
        read_words("application/json", json.dumps({"error": {"message": "no", "code": 400, "type": "Bad"}})).code
        == "Bad"
    )


def _error(loc: list[JSON], msg: str) -> JSON:
    return {"loc": ["body", "messages", 2, *loc], "msg": msg}


def test_of_a_union_the_errors_of_the_class_that_is_meant_are_shown() -> None:
    detail: JSON = [
        _error(["ChatCompletionRequestSystemMessage", "role"], "Input should be 'system'"),
        _error(["ChatCompletionRequestSystemMessage", "content"], "Input should be a valid string"),
        _error(["ChatCompletionRequestUserMessage", "role"], "Input should be 'user'"),
        _error(["ChatCompletionRequestToolMessage", "content"], "Input should be a valid string"),
        _error(["ChatCompletionRequestFunctionMessage", "role"], "Input should be 'function'"),
        _error(["ChatCompletionRequestFunctionMessage", "name"], "Field required"),
    ]

    found = read_words("application/json", json.dumps({"detail": detail}))

    assert found[:2] == ("`messages[2].content`: Input should be a valid string", "messages[2].content")


def test_of_a_union_whose_classes_all_fail_one_is_shown() -> None:
    detail: JSON = [
        _error(["UserMessage", "role"], "Input should be 'user'"),
        _error(["UserMessage", "content"], "Field required"),
        _error(["ToolMessage", "role"], "Input should be 'tool'"),
    ]

    assert (
        read_words("application/json", json.dumps({"detail": detail})).text
        == "`messages[2].role`: Input should be 'tool'"
    )


def test_errors_of_two_places_are_both_shown() -> None:
    detail: JSON = [{"loc": ["body", "a", "str"], "msg": "no text"}, {"loc": ["body", "b", "int"], "msg": "no number"}]

    assert read_words("application/json", json.dumps({"detail": detail})).text == "`a`: no text; `b`: no number"


@pytest.mark.parametrize(
    "body",
    [
        {"success": False, "errors": [{"code": 7009, "message": "Upstream is away"}]},
        {"detail": {"message": "Upstream is away"}},
        {"code": 7009, "message": "Upstream is away", "data": None},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Upstream is away"}},
        {
            "error": "ERROR_OPENAI",
            "details": {"title": "No", "detail": 'It failed\n{"error":{"message":"Upstream is away"}}'},
        },
        {"error": "ERROR_OPENAI", "details": {"title": "Upstream is away"}},
    ],
)
def test_wrapped_bodies_show_their_words(body: JSON) -> None:
    assert read_words("application/json", json.dumps(body)).text == "Upstream is away"


def test_a_code_without_words_below_it_is_shown_itself() -> None:
    assert (
        read_words("application/json", json.dumps({"error": "ERROR_OPENAI", "details": {"a": 1}})).text
        == "ERROR_OPENAI"
    )
