"""Messages behind the words that `print(name, message)` puts before them, and errors beside shortened calls."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import Form, read_evidence, trace_of

_DICT = (
    "{'content': 'Let me check.', 'role': 'assistant', 'tool_calls': [{'id': '1', 'type': 'function', "
    "'function': {'name': 'check', 'arguments': '\"{\\\\\"code\\\\\": 1}\"'}}]}"
)
_JSON = (
    '{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", '
    '"arguments": "{\\"a\\": 1"}}]}'
)
_REFUSED = (
    "Invalid request: an assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: call_7"
)
_SHORTENED = """AIMessage(
    content="",
    tool_calls=[],
    invalid_tool_calls=[{"type": "invalid_tool_call", "id": "w:36", "name": "w", "args": "...broken...", "error": ""}],
)"""


@pytest.mark.parametrize("label", ["_dict ", "raw message ", "raw_tool_call ", "the raw answer "])
@pytest.mark.parametrize("message", [_DICT, _JSON])
@pytest.mark.parametrize(
    "rest", ["", "\nrole assistant\nname None", "\ntool_calls []\nTraceback (most recent call last):"]
)
def test_a_printed_name_before_a_message_is_left_out(label: str, message: str, rest: str) -> None:
    evidence = read_evidence(f"{label}{message}{rest}")
    assert evidence.chat is not None
    calls = evidence.chat.message["tool_calls"]
    assert isinstance(calls, list)
    assert len(calls) == 1


def test_a_call_with_its_name_before_its_arguments_keeps_its_name() -> None:
    for text in ('get_weather {"city": "Paris"}', 'write_file {"path": "a", "text": "b"}'):
        try:
            evidence = read_evidence(text)
        except RequestError:
            continue
        assert evidence.raw is None or evidence.raw.startswith(text.split()[0])


def test_an_error_beside_a_shortened_call_is_read() -> None:
    evidence = read_evidence(f"{_REFUSED}\n\n{_SHORTENED}")
    assert evidence.form is Form.ERROR
    assert evidence.error is not None
    assert "must be followed by tool messages" in evidence.error.message


def test_a_shortened_call_alone_still_asks_for_the_whole() -> None:
    with pytest.raises(RequestError, match="shortened with"):
        read_evidence(_SHORTENED)
    with pytest.raises(RequestError, match="shortened with"):
        read_evidence(f"I saw this today, with no error at all.\n\n{_SHORTENED}")


def test_one_chunk_that_python_printed_is_a_stream() -> None:
    chunk = (
        "{'id': '2024', 'created': 1726809949, 'model': 'glm-4-flash', 'choices': [{'index': 0, 'finish_reason': "
        "'tool_calls', 'delta': {'role': 'assistant', 'tool_calls': [{'id': 'call_1', 'index': 0, 'type': 'function', "
        "'function': {'name': 'get_datetime', 'arguments': '{}'}}]}}]}"
    )
    evidence = read_evidence(chunk)
    assert evidence.form is Form.STREAM
    assert evidence.chat is not None
    assert evidence.finish_reason == "tool_calls"


_TWICE = '"arguments":"{\\"city\\":\\"Oslo\\"}{\\"city\\":\\"Oslo\\"}"'
_REQUEST = '{"model": "m", "messages": [{"role": "user", "content": "Call the tool."}]}'


@pytest.mark.parametrize("shown", [_TWICE, f"  {_TWICE},", _TWICE.replace('}{\\"city\\":', '}{\\"city\\":\n  ')])
@pytest.mark.parametrize("before", ["", f"{_REQUEST}\n\n"])
def test_a_member_that_a_sentence_quotes_is_read(shown: str, before: str) -> None:
    evidence = read_evidence(f"{before}The final response contains:\n\n{shown}\n\nThis breaks every client.\n")
    assert evidence.chat is not None
    assert '}{"city":"Oslo"}' in str(evidence.chat.message["tool_calls"])


def test_a_member_within_a_sentence_or_an_object_stays_where_it_is() -> None:
    broken = '{"messages": [\n\n"arguments": "{}"\n\n'
    for text in ('We send "arguments": "{}" here, and it fails.', broken):
        try:
            assert read_evidence(text).chat is None
        except RequestError as error:
            assert error.message  # noqa: PT017  # either is right


def test_arguments_without_their_name_are_no_call_to_an_unknown_tool() -> None:
    tools = '"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]'
    text = f"{_REQUEST[:-1]}, {tools}}}\n\nThe final response contains:\n\n{_TWICE}\n\nThis breaks every client.\n"
    codes = [finding.code for finding in diagnose_trace(trace_of(read_evidence(text)))]
    assert "PD451" in codes
    assert "PD501" not in codes
