"""Calls in content in forms that no server parses, and what is said of names that a parser cut."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.calls.bare_invoke import report_bare_invoke
from prompt_debugger.core.diagnose.calls.calls_in_a_row import report_calls_in_a_row
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.diagnose.calls.off_header import report_off_header
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.rules.call_in_message_text import find
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.request import read_request
from tests.attacks.growth import grows_linearly

ROW = '{"name": "read", "arguments": {"path": "a"}}\n{"name": "jobs"}'


def asked(**fields: object) -> Trace:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("read", "jobs")]
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": tools, **fields}
    return Trace(read_request(json.dumps(body)))


def test_calls_of_which_one_has_a_name_alone_are_found() -> None:
    report = report_calls_in_a_row(asked(), ROW)

    assert report is not None
    assert "calls to `read`, `jobs`" in report.title


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "jobs"}',  # a record
        '{"name": "read", "arguments": {}}\n{"name": "Ada"}',
        '{"name": "read", "arguments": {}}\n{"name": "jobs", "age": 3}',
        '{"name": "read", "arguments": {}}\n{"name": "jobs"} and so on',
        '{"name": "read", "arguments": {}} {"name": "jo',
    ],
)
def test_other_objects_in_a_row_are_no_calls(text: str) -> None:
    assert report_calls_in_a_row(asked(), text) is None


def test_objects_that_were_asked_for_are_no_calls() -> None:
    assert report_calls_in_a_row(asked(response_format={"type": "json_object"}), ROW) is None
    assert report_calls_in_a_row(asked(tool_choice="none"), ROW) is None


def test_small_tags_around_a_call_whose_name_comes_last_are_those_of_one_model() -> None:
    found = find_client_call('<toolcall> {"type": "function", "arguments": {"q": "tea"}, "name": "look"} </toolcall>')

    assert found is not None
    assert (found.name, found.notation) == ("look", Notation.TOOLCALL)


@pytest.mark.parametrize("text", ['<toolcall> {"type": "object"} </toolcall>', '<toolcall> {"arguments": {"a": ', "x"])
def test_other_objects_in_such_tags_are_none(text: str) -> None:
    found = find_client_call(text)

    assert found is None or found.notation is not Notation.TOOLCALL


@pytest.mark.parametrize(
    ("model", "has_claude", "has_minimax"),
    [("claude-opus-4-1", True, False), ("MiniMax-M2", False, True), ("m", True, True)],
)
def test_bare_tags_are_explained_for_the_known_model(model: str, *, has_claude: bool, has_minimax: bool) -> None:
    report = report_bare_invoke(
        asked(model=model), '<invoke name="read">\n<parameter name="a">b</parameter>\n</invoke>'
    )

    assert report is not None
    assert ("With Claude" in str(report.fix), "With MiniMax" in str(report.fix)) == (has_claude, has_minimax)


KIMI = "<|tool_calls_section_begin|><|tool_call_begin|>{}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
BARE = '<minimax:tool_call>\ninvoke name="{}">\nparameter name="a">1parameter>\ninvoke>\n</minimax:tool_call>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (KIMI.format("functions.read!7"), "has no index"),
        (BARE.format("jobs"), "`<` and `</` of its tags are missing"),
    ],
)
def test_a_call_in_content_says_what_departs_from_its_notation(text: str, says: str) -> None:
    report = report_off_header(asked(), text)

    assert report is not None
    assert says in report.detail


@pytest.mark.parametrize(
    "text",
    [
        KIMI.format("functions.read:0"),  # as it should be
        KIMI.format("functions.reader:0"),  # another tool
        BARE.format("other"),
        'invoke name="jobs">',
        f"Write `{KIMI.format('functions.read!7')}` for it.",  # a quotation
    ],
)
def test_other_calls_depart_from_nothing(text: str) -> None:
    assert report_off_header(asked(), text) is None


D = "\uff5cDSML\uff5c"
OPENED = f'<{D}tool_calls>\n<{D}invoke name="read">\n<{D}parameter name="path" string="false">["a",'


def test_a_call_that_begins_again_within_its_own_arguments_is_no_matter_of_a_limit() -> None:
    report = only_report(f"Let me see.\n{OPENED}{OPENED}{OPENED}")

    assert "begins 3 times in content, each within the one before" in report.title
    assert "max_tokens" not in str(report.fix)
    assert "--tool-call-parser" not in str(report.fix)


def test_a_call_that_begins_once_is_cut() -> None:
    report = only_report(f"Let me see.\n{OPENED}")

    assert "begins in content and is not closed" in report.title


def only_report(content: str) -> Report:
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    evidence = read_evidence(json.dumps({"request": asked().request.body, "response": answer}))
    (report,) = find(trace_of(evidence))
    return report


def test_the_model_that_a_logged_message_names_is_known() -> None:
    text = '<invoke name="read">\n<parameter name="a">b</parameter>\n</invoke>'
    message = {"role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": text}]}
    report = report_bare_invoke(trace_of(read_evidence(json.dumps({"type": "assistant", "message": message}))), text)

    assert report is not None
    assert "MiniMax, start" not in str(report.fix)


def test_rows_and_tags_are_read_in_linear_time() -> None:
    assert grows_linearly(lambda size: report_calls_in_a_row(asked(), '{"name": "jobs"}\n' * size), first=200)
    assert grows_linearly(lambda size: find_client_call('<toolcall> {"type": "a", ' * size), first=200)
