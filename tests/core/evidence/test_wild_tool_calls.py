"""What people paste about tool calls that were changed on their way: pieces of a stream, elided prints, fragments."""

from __future__ import annotations

import contextlib
import json
import time

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import said, shown


def codes(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


def piece(arguments: str, name: str | None = None, **delta: str) -> str:
    call = {"index": 0, "function": {"name": name, "arguments": arguments}}
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": {**delta, "tool_calls": [call]}}]}) + "\n\n"


def test_pieces_that_repeat_the_role_may_come_from_the_middle_of_a_call():
    with pytest.raises(RequestError, match="begins in the middle of a call"):
        read_evidence(piece('ity": "', role="assistant") + piece('Paris"', role="assistant"))


def test_pieces_that_repeat_the_role_and_never_have_a_name_are_a_call_without_one():
    assert "PD466" in codes(piece('{"city"', role="assistant") + piece(': "Paris"}', role="assistant"))


def test_markers_that_are_plain_text_are_no_lost_tokens():
    content = '<think>Hm.</think>[TOOL_REQUEST]{"name": "f", "arguments": {}}[END_TOOL_REQUEST]'
    text = said(json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}))

    assert "read the JSON between the two markers" in text
    assert "skip_special_tokens" not in text
    assert "removed" not in text


@pytest.mark.parametrize(
    ("quoted", "says"),
    [
        ("''', ...\"\"files\": ['a.py', \"...", "single quotes"),
        ('\'b\', ...""text": "a"b"c"}"...', "breaks in the middle"),
        ("'<', \"<tool_call\"...", "markup of a call"),
        ("'<', \"<!DOCTYPE \"...", "wrong address"),
    ],
)
def test_the_place_that_a_decoder_quotes_says_what_is_wrong(quoted, says):
    assert says in said(f"SyntaxError: Unexpected token {quoted} is not valid JSON")


def test_strings_with_an_empty_line_between_them_are_not_joined():
    text = said("'{\"a\": 1}{\"a\": 1}'\n\n'Error: Extra data: line 1 column 9 (char 8)'")

    assert "}Error" not in text
    assert "more follows its first value" in text


@pytest.mark.parametrize(
    "text",
    [
        "Let me look...\n\n<read_file>\n<path>a.md</path>\n</read_file>",
        "<update_todo_list>\n  <todos>...</todos>\n</update_todo_list>",
    ],
)
def test_dots_in_the_text_around_a_call_in_xml_hide_nothing(text):
    assert codes(text) == {"PD426"}


def test_xml_that_is_no_tool_of_a_client_is_no_call():
    with pytest.raises(RequestError):
        read_evidence("See...\n\n<chapter>\n<title>One</title>\n</chapter>")


def test_blanks_that_a_screen_sets_in_the_marks_of_deepseek_are_taken_out():
    value = '< | DSML | parameter name="cmd" string="true">ls | wc</ | DSML | parameter >'
    text = (
        f'< | DSML | tool_calls >\n< | DSML | invoke name="run">\n{value}\n</ | DSML | invoke>\n</ | DSML | tool_calls>'
    )

    assert codes(text) == {"PD463"}
    assert "`run`" in said(text)
    assert "deepseek_v32" in said(text)


def test_a_word_between_bars_is_no_tag_of_deepseek():
    with pytest.raises(RequestError):
        read_evidence("Compare <a | DSML | b> with the others.")


def test_a_name_with_markup_is_no_tool_to_declare():
    text = said("Model tried to call unavailable tool 'look<arg_key>at</arg_key>'. Available tools: look, run.")

    assert "contains markup" in text
    assert "Declare the tool" not in text
    assert "Declare the tool" in said("Model tried to call unavailable tool 'looks'. Available tools: look, run.")


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("[agent] Error: Tool 'add' denied by policy.auto: unknown tools", True),
        ("[agent] Error: Tool 'run' denied by policy.auto: asks for a confirmation", False),
    ],
)
def test_a_call_that_a_policy_denies_as_unknown(line, is_found):
    text = f"[agent] start\n{line}\n"
    try:
        assert ("does not know" in said(text)) is is_found
    except RequestError:
        assert not is_found


def test_several_objects_that_litellm_could_not_read():
    text = (
        '{"a": 1}{"a": 2}\n\nFailed to parse tool call arguments for tool \'f\' (chat completions).\n'
        "Error: Extra data: line 1 column 9 (char 8). Arguments: {...}{...}"
    )

    assert "several objects are several calls" in said(text).lower()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<tool_call>run_shellcommand</arg_key><arg_value>ls</arg_value></tool_call>", "PD463"),
        (
            '{"role": "assistant", "content": "<tool_call>run_shell command</arg_key>\\n<arg_value>ls</arg_value>"}',
            "PD426",
        ),
    ],
)
def test_a_name_that_runs_into_the_first_key(text, code):
    assert code in codes(text)
    assert "`<arg_key>` before its first key is missing" in said(text)


def test_a_name_before_its_first_key_is_in_order():
    text = "<tool_call>run_shell<arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>"

    assert "missing" not in said(text)


def call_of(name: str, **request: object) -> str:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return json.dumps({**request, "role": "assistant", "content": None, "tool_calls": [call]})


def test_the_name_under_which_gemini_knows_all_tools_is_none():
    assert "which is not a tool" in said(call_of("default_api"))
    assert "which is not a tool" not in said(call_of("default_apis"))


def test_a_text_that_node_prints_in_pieces_is_quoted_whole():
    text = "{\n  error: true,\n  message: 'Tool validation failed for look.\\n' +\n    '- at: Required\\n',\n}"

    assert "- at: Required" in said(text)


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ('raw = \'<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>\'', True),
        ('raw = \'<tool_call>\n  {"name": "f", "arguments": {}}\n</tool_call>\'', True),
        ("raw = '<tool_call>' + other + '</tool_call>'", False),
    ],
)
def test_a_string_that_python_assigns_is_read_as_what_it_holds(text, is_read):
    if is_read:
        assert codes(text) == {"PD463"}
    else:
        with pytest.raises(RequestError):
            read_evidence(text)


@pytest.mark.parametrize("text", ["x = '" + "<tool_call>" * 20_000 + "'", "<tool_call>" * 20_000, "' +\n '" * 40_000])
def test_floods_are_read_in_linear_time(text):
    started = time.perf_counter()
    with contextlib.suppress(RequestError):
        read_evidence(text)

    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    ("text", "is_fault"),
    [
        ('The model answers {"name": "look", "arguments": {"at": 1}} as text and tool_calls is empty.', False),
        ("messages[1].tool_calls is empty", True),
    ],
)
def test_an_empty_list_of_an_answer_is_no_fault_of_the_request(text, is_fault):
    try:
        assert ("Something that the request must contain" in said(text)) is is_fault
    except RequestError:
        assert not is_fault


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Error: Invalid tool call: function name cannot be empty", "without the name of its tool"),
        (
            'It streams {"name": "look", "arguments": {}}, the function name is empty in the next chunk.',
            "without the name",
        ),
        ("Error: tools[0]: function name cannot be empty", "Something that the request must contain"),
    ],
)
def test_a_call_without_a_name_is_no_request_that_lacks_one(text, says):
    assert says in said(text)


def test_the_value_of_a_quoted_call_is_no_field_of_the_request():
    text = said('litellm.BadRequestError: tools is empty. The model answered: {"name": "look_up", "arguments": {}}')

    assert "`look_up`" not in text
