"""Fields of an error that a text lists one per line, and bodies that describe their errors."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.errors.listed_fields import error_of_fields
from prompt_debugger.core.evidence.errors.values import error_of_value
from tests.attacks.growth import grows_linearly

LISTED = "- `HTTP 400`\n- `type: invalid_request_error`\n- `param: tools.1.type`\n- `code: unknown_kind`"


def test_listed_fields_are_the_error_that_they_are_of():
    evidence = read_evidence(LISTED)

    assert {*evidence.holds} == {Part.ERROR}
    assert (evidence.error.status, evidence.error.field) == (400, "tools.1.type")
    assert evidence.error.message == "invalid_request_error: unknown_kind"


def test_its_words_are_those_of_the_message():
    found = error_of_fields("* **status:** 422\n* **message:** The list of tools is empty.\n")

    assert (found.status, found.message) == (422, "The list of tools is empty.")


@pytest.mark.parametrize(
    "text",
    [
        "- `type: function`\n- `name: look`",  # of a tool
        "type: string\ncode: 7",
        "- `HTTP 200`\n- `type: message`\n- `param: x`",
        "- `HTTP 400`\n- I do not know why.",
        "code: invalid_string",
        "message: 400 grams\ntype: flour",
    ],
)
def test_other_lists_are_no_error(text):
    assert error_of_fields(text) is None


def test_prose_around_the_list_is_no_part_of_it():
    with pytest.raises(RequestError):
        read_evidence("type: function\nparam: none")


def test_a_described_error_is_read():
    found = error_of_value(
        {"tpe": "fail", "errors": [{"description": "No tools were sent.", "key": "k", "extras": None}]}
    )

    assert found.message == "No tools were sent."
    assert error_of_value({"errors": [{"description": "A tool."}]}) is None


@pytest.mark.parametrize("part", ["- `type: a_b`\n", "code: x" * 3, "HTTP 400 ", "`*`*- "])
def test_time_grows_linearly(part):
    assert grows_linearly(lambda size: error_of_fields(part * size), first=20, tries=2, doublings=5)


def test_a_body_of_nothing_but_a_message_counts_where_its_words_are_known():
    known = '{"message": "invalid request: cannot specify both message and tool_results in multistep mode"}'

    assert {*read_evidence(known).holds} == {Part.ERROR}
    assert {*read_evidence(f"Error: {known}\nat eval (endpoint.ts:93:17)").holds} == {Part.ERROR}
    assert error_of_value({"message": "The tool was registered."}) is None


def test_a_traceback_that_breaks_off_in_a_log_is_told_from_what_is_missing():
    head = "(APIServer pid=1) ERROR 11-18 13:56:21 [serving.py:12]"
    frame = 'File "/usr/lib/vllm/serving.py", line 10, in stream'
    evidence = read_evidence(f"{head} Failed.\n{head} Traceback (most recent call last):\n{head}   {frame}\n")

    assert any("breaks off in serving.py line 10" in note for note in evidence.notes)


def test_a_param_that_names_a_kind_of_fault_is_no_field():
    found = error_of_value(
        {"message": "Bad.", "type": "invalid_request_error", "param": "validation_error", "code": "x"}
    )

    assert found.field is None
    assert error_of_value({"message": "Bad.", "type": "invalid_request_error", "param": "messages"}).field == "messages"


def test_what_is_tried_again_is_told_with_what_was_raised():
    line = "10:00:01 - WARNING: Retrying openai.acompletion in 4.0 seconds as it raised {}: {}.\n"
    log = line.format("APIError", "Internal Server Error (500)")
    evidence = read_evidence(
        f"{log}10:00:01 - WARNING: Error in Handler callback: 'Handler' object has no attribute 'retry'"
    )

    assert evidence.error.message == "Internal Server Error (500)"
    assert evidence.error.code == "APIError"
