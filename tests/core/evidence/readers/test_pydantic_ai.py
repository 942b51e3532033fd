"""Messages of pydantic-ai, printed and dumped: a request and the answer to it."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, read_evidence, show_evidence
from tests.attacks.growth import grows_linearly

ASKED = (
    "ModelRequest(parts=[SystemPromptPart(content='Be brief.', part_kind='system-prompt'), UserPromptPart("
    "content='Weather in Oslo?', timestamp=datetime.datetime(2025, 1, 2, 3, tzinfo=datetime.timezone.utc))], "
    "kind='request')"
)
CALLED = (
    "ModelResponse(parts=[ThinkingPart(content='A tool.'), ToolCallPart(tool_name='weather', "
    "args={'city': 'Oslo'}, tool_call_id='a')], model_name='m', kind='response')"
)
RETURNED = "ModelRequest(parts=[ToolReturnPart(tool_name='weather', content={'c': 3}, tool_call_id='a')])"
ANSWERED = "ModelResponse(parts=[TextPart(content='Three degrees.')])"


def test_a_printed_run_is_a_request_and_its_answer():
    evidence = read_evidence(f"[{ASKED}, {CALLED}, {RETURNED}, {ANSWERED}]")

    assert evidence.form is Form.EXCHANGE
    assert [message["role"] for message in evidence.request.messages] == ["system", "user", "assistant", "tool"]
    assert evidence.request.messages[2] == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "A tool.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
        ],
    }
    assert evidence.request.messages[3] == {"role": "tool", "tool_call_id": "a", "content": '{"c": 3}'}
    assert evidence.chat.message == {"role": "assistant", "content": "Three degrees."}


def test_a_run_that_ends_with_what_was_sent_is_a_request():
    evidence = read_evidence(f"messages: [\n{ASKED},\n{CALLED},\n{RETURNED}\n]")

    assert evidence.holds == (Part.REQUEST,)


@pytest.mark.parametrize(
    "arguments", ["ArgsJson(args_json='{\"a\": 1}')", "ArgsDict(args_dict={'a': 1})", "'{\"a\": 1}'"]
)
def test_arguments_of_all_releases_are_read(arguments):
    call = f"ToolCallPart(tool_name='f', args={arguments}, tool_call_id='a')"

    evidence = read_evidence(f"[{ASKED}, ModelResponse(parts=[{call}])]")

    assert evidence.chat.message["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'


def test_the_dump_as_json_is_read_the_same_way():
    value = [
        {"parts": [{"content": ["Look", {"url": "x"}], "part_kind": "user-prompt"}], "kind": "request"},
        {
            "parts": [{"tool_name": "f", "args": None, "tool_call_id": "a", "part_kind": "tool-call"}],
            "finish_reason": "tool_call",
            "kind": "response",
        },
    ]

    evidence = read_evidence(json.dumps(value))

    assert evidence.request.body["messages"] == [{"role": "user", "content": "Look"}]
    assert evidence.chat.finish_reason == "tool_calls"
    assert evidence.chat.message["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_a_retry_for_a_call_that_the_history_lacks_is_found():
    retry = "ModelRequest(parts=[RetryPromptPart(content='No.', tool_name='f', tool_call_id='b')])"

    trace = await show_evidence(read_evidence(f"[{ASKED}, {ANSWERED}, {retry}]"))

    assert [finding.code for finding in trace.findings] == ["PD106"]


async def test_a_call_left_in_text_is_found_though_the_tools_are_not_printed():
    written = 'ModelResponse(parts=[TextPart(content=\'<tool_call>\\n{"name": "f", "arguments": {}}\\n</tool_call>\')])'

    trace = await show_evidence(read_evidence(f"[{ASKED}, {written}]"))

    assert "PD426" in [finding.code for finding in trace.findings]


async def test_of_a_cut_message_nothing_is_concluded():
    trace = await show_evidence(read_evidence(f"[{ASKED}, {CALLED[:120]}"))

    assert trace.findings == ()
    assert trace.chat is None


def test_a_first_message_that_is_cut_is_refused():
    with pytest.raises(RequestError, match="is cut"):
        read_evidence(ASKED[:60])


def test_a_class_of_a_program_of_ones_own_is_left_alone():
    with pytest.raises(RequestError):
        read_evidence("MyModelRequest(parts=[1])")


@pytest.mark.parametrize("piece", [f"{ASKED}, ", "ModelRequest(parts=[", "ModelResponse(a="])
def test_the_time_grows_as_the_text(piece):
    def read(size: int) -> None:
        try:
            read_evidence(piece * size)
        except RequestError:
            return

    assert grows_linearly(read, first=20)
