"""Words of people, of an agent's environment and of tests that ran are no errors of a chat request."""

from __future__ import annotations

import contextlib
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.copying.transcripts import drop_bars
from tests.core.evidence.test_not_evidence import show_or_nothing

USER = "Convert the file. If the tool is not called, the answer is invalid."
SHELL = "bash: line 3: syntax error near unexpected token `(' in run.sh"
STEP = {
    "action": "python run.py",
    "observation": f"{SHELL}\nError: Invalid value for the tool: 'mode' must be 'a' or 'b'",
    "response": "Now I call the tool.",
    "thought": "Now I call the tool.",
}
HISTORY = [
    {"role": "system", "content": "You are an agent with tools."},
    {
        "role": "user",
        "content": "Your edit has new error(s).\n\nERRORS:\n- E999 SyntaxError: invalid value, tool failed",
    },
]
RAN = """test_empty (api.tests.Queries) ... ok
test_raise_exception_in_template (api.tests.Chat) ... ok
test_watch (api.tests.Reload) ... skipped 'Cannot connect to the agent service.'
ERROR: test_tool_is_missing (api.tests.Tools)
PASSED tests/test_llm.py::test_error_invalid_value
"""


def codes(text: str) -> set[str]:
    return {one.code for one in show_or_nothing(text)}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"input": [{"place": "Oslo"}, {"messages": [{"role": "user", "content": USER}]}], "name": "f"}),
        json.dumps(STEP, indent=2),
        json.dumps([STEP, STEP], indent=2),
        "\n".join(json.dumps(HISTORY, indent=2).splitlines()[3:]),
        RAN,
    ],
    ids=["input", "step", "steps", "tail", "tests"],
)
def test_what_was_said_in_a_trajectory_is_no_error(text: str) -> None:
    assert not {"PD100", "PD445", "PD221"} & codes(text)


@pytest.mark.parametrize(
    "text",
    [
        'The model said:\n{"role": "user", "content": "Hi"}\n\nopenai.BadRequestError: Error code: 400 - Invalid value '
        "for 'tools[0].type'",
        f"{RAN}\nopenai.BadRequestError: Error code: 400 - Invalid value for 'tools[0].type'",
        json.dumps({"run": {"error": "Completion failed: Invalid value for 'tools[0].type'"}}),
    ],
    ids=["message", "tests", "record"],
)
def test_an_error_beside_them_is_one(text: str) -> None:
    assert "PD100" in codes(text)


def test_a_line_of_a_log_that_is_a_message_is_no_error() -> None:
    line = {"message": {"role": "tool", "content": [{"type": "text", "text": "(no output)"}], "isError": False}}

    assert "PD445" not in codes(json.dumps(line))
    assert "PD445" in codes("Error: the LLM returned an empty response")


def test_words_of_messages_are_left_out_in_linear_time() -> None:
    for text in ('{"role": "user", "content": "' + "\\" * 200_000, '"thought": "' * 30_000 + '"observation": "'):
        with contextlib.suppress(RequestError):
            assert Part.ERROR not in read_evidence(text).holds


OLLAMA = [
    {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "Hel"}, "done": False},
    {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "lo"}, "done": False},
    {
        "model": "m",
        "created_at": "t",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
    },
]
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0, "options": {"num_ctx": 8192}}


@pytest.mark.parametrize("indent", [None, 2])
def test_the_lines_of_a_stream_below_a_request_are_one_answer(indent: int | None) -> None:
    text = json.dumps(BODY, indent=indent) + "\n\n" + "\n".join(json.dumps(one) for one in OLLAMA)

    evidence = read_evidence(text)

    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "Hello"
    assert evidence.request is not None
    assert not any("responses" in note for note in evidence.notes)


def test_a_field_of_ollamas_own_api_is_right_where_that_api_answered() -> None:
    body = json.dumps(BODY)

    assert "PD105" not in codes(body + "\n\n" + "\n".join(json.dumps(one) for one in OLLAMA))
    assert "PD105" in codes(body)


@pytest.mark.parametrize(
    ("kind", "fires"), [("apply_patch_call", False), ("web_search_call", False), ("message", True)]
)
def test_a_call_of_a_tool_that_is_no_function_is_a_call(kind: str, *, fires: bool) -> None:
    request = {"model": "m", "input": "Patch it.", "tools": [{"type": "apply_patch"}], "tool_choice": "required"}
    item = {
        "type": kind,
        "role": "assistant",
        "content": [{"type": "output_text", "text": "No."}],
        "status": "completed",
    }
    answer = {"id": "r", "object": "response", "status": "completed", "output": [item]}

    assert ("PD504" in codes(f"{json.dumps(request)}\n\n{json.dumps(answer)}")) is fires


@pytest.mark.parametrize("bar", ["│ ", "┃ ", "» ", "| "])
def test_the_bars_of_a_chats_quotation_are_no_part_of_what_it_quotes(bar: str) -> None:
    call = '<tool_call>\n{"name": "get_weather",\n"arguments": {"city": "Oslo"}}\n</tool_call>\n'

    quoted = "\n".join(f"{bar}{line}" for line in call.split("\n"))

    assert drop_bars(f"ann wrote:\n{quoted}") == f"ann wrote:\n{call}"
    assert drop_bars(quoted) is None
    assert drop_bars("A table:\n| a | b |\n| 1 | 2 |") is None


def test_the_end_of_a_printed_answer_is_no_part_of_its_arguments() -> None:
    end = "'{\"city\": \"Oslo\"}'}}]}, 'finish_reason': 'tool_calls'}], 'usage'"

    assert "PD453" not in codes(end)
