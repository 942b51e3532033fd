"""Errors that a client printed as an answer, or kept with a flag, are read; a person's object with a flag is not."""

from __future__ import annotations

import pytest

from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.printed import error_of_print
from prompt_debugger.core.evidence.errors.values import error_of_value
from tests.attacks.growth import grows_linearly

PRINTED = (
    "ChatCompletion(id=None, choices=None, created=None, object='error', usage=None, code=404, "
    "message=\"The model 'm-7' does not exist.\", param='model', type='NotFoundError')"
)


@pytest.mark.parametrize(
    "text", [PRINTED, PRINTED[len("ChatCompletion(") : -1].replace(", ", " "), f"print: {PRINTED}"]
)
def test_a_printed_answer_without_choices_is_the_error_that_it_holds(text):
    found = error_of_print(text)

    assert found is not None
    assert (found.status, found.message) == (404, "The model 'm-7' does not exist.")


@pytest.mark.parametrize(
    "text",
    [
        "ChatCompletion(id='c', choices=[Choice(index=0)], object='error', message='no')",
        "ChatCompletion(id='c', object='chat.completion', message='no')",
        "ChatCompletion(id=None, choices=None, object='error', code=400)",
        "Row(object='errors', message='three of them')",
    ],
)
def test_an_answer_and_an_object_of_another_kind_are_no_error(text):
    assert error_of_print(text) is None


def test_words_within_the_message_are_no_fields():
    found = error_of_print("X(object='error', message='set type=\"a\" and code=500 there', code=400)")

    assert found is not None
    assert (found.status, found.code) == (400, None)


def test_the_words_of_an_error_that_is_only_marked_as_one_are_those_beside_the_mark():
    body = {"index": 0, "error": True, "content": "APIError: no such tool\nTraceback (most recent call last):\n  File"}
    found = error_of_value([body])

    assert found is not None
    assert found.message == "APIError: no such tool"


@pytest.mark.parametrize(
    "value", [{"error": True, "role": "assistant", "content": "Hi"}, {"error": True, "tags": []}, {"error": False}]
)
def test_a_mark_alone_and_a_message_with_it_are_no_error(value):
    assert error_of_value(value) is None


@pytest.mark.parametrize(
    "text", ['2026-01-02 10:00:00 - INFO - result:\n    "error": true,\n', "  failed: 0\n  error: null"]
)
def test_a_field_without_words_is_no_error_of_a_log(text):
    assert error_of_text(text) is None


@pytest.mark.parametrize("part", ["object='error' ", "message='", "code=1 ", 'message="\\'])
def test_a_flood_takes_linear_time(part):
    assert grows_linearly(lambda size: error_of_print("object='error' " + part * size), first=200, tries=2, doublings=6)
