"""Tool calls as people show them: within a report, in fragments, printed, in streams of which a part was left out."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence, show_evidence

CALL = "<function=read>\n<parameter=path>\na.md\n</parameter>\n</function>\n</tool_call>"
TOKENS = '<|tool_call_start|>[find(id="7")]<|tool_call_end|>'


def shown(text: str) -> Trace:
    return asyncio.run(show_evidence(read_evidence(text)))


def codes(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        f"It shows this as text:\n\n```\n{CALL}\n```\n\nThe first call worked.",
        f"The chat window of LM Studio has\n\n```xml\n{CALL}\n```\n\nand stops.",
        f"Ollama never runs the tool, I get this in the client\n\n{CALL}\n\nAny idea?",
    ],
)
def test_an_output_in_a_report_is_read_without_the_words_around_it(text):
    trace = shown(text)

    assert trace.raw.text.strip() == CALL
    assert {finding.code for finding in trace.findings} == {"PD463"}


@pytest.mark.parametrize("text", [f"Let me look.\n\n{TOKENS}", f"Let me look.\n\n{CALL}"])
def test_the_words_of_a_model_before_its_call_belong_to_its_output(text):
    assert shown(text).raw.text == text


def test_a_call_with_its_control_tokens_may_be_content():
    assert "The text is a call to `find`" in shown(TOKENS).verdict.sentence


def test_an_output_that_holds_its_prompt_is_no_content():
    assert "PD463" not in codes(f"<|im_start|>user\nFind 7.<|im_end|>\n<|im_start|>assistant\n{TOKENS}")


def test_a_fragment_is_whole_but_for_the_bracket_that_was_not_copied():
    text = '"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\'a\': True}"}}]'

    assert codes(text) == {"PD450"}


def test_the_last_of_several_messages_in_a_fragment_is_the_answer():
    text = r'"responseMessages": [{"role": "assistant", "content": "{\"name\": \"f\", \"arguments\": {\"a\": 1}}"}],'

    assert codes(text) == {"PD426"}


def test_calls_that_other_clients_print_are_calls():
    trace = shown("ToolCall(function=Function(name='f', arguments='{\"a\": 1'), id='c')")

    assert [call.name for call in returned_calls(trace)] == ["f"]
    assert "PD320" in {finding.code for finding in trace.findings}


GAPS = """# call 1
ChoiceDeltaToolCall(index=0, id='c1', function=ChoiceDeltaToolCallFunction(arguments='', name='f'), type='function')
ChoiceDeltaToolCall(index=0, id='', function=ChoiceDeltaToolCallFunction(arguments='x', name=None), type='function')
...
# call 2
ChoiceDeltaToolCall(index=0, id='c2', function=ChoiceDeltaToolCallFunction(arguments='', name='f'), type='function')
"""


def test_a_stream_with_gaps_shows_that_an_index_came_twice():
    assert "PD417" in codes(GAPS)


def test_a_stream_with_gaps_shows_that_a_name_came_twice():
    one = 'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}}]}'

    assert "PD464" in codes(f"{one}\n...\n{one}\n...\ndata: [DONE]\n")


def test_a_gap_alone_proves_nothing():
    with pytest.raises(RequestError, match=r"shortened"):
        read_evidence(GAPS.partition("# call 2")[0])


@pytest.mark.parametrize("shortened", ['"tools": [ ... ]', '"messages": [{...}]', '"tools": […]'])
def test_a_command_that_was_shortened_is_said_to_be(shortened):
    command = f'curl http://localhost:8000/v1/chat/completions -d \'{{"model": "m", {shortened}}}\''

    with pytest.raises(RequestError, match=r"left out of the JSON at `...`"):
        read_evidence(command)


def test_a_log_that_begins_with_a_bracket_is_not_said_to_be_json():
    with pytest.raises(RequestError) as caught:
        read_evidence("[server] nothing of interest happened at all, it seems")

    assert "JSON" not in caught.value.message


def test_doubled_braces_of_a_format_string_are_named():
    trace = shown('<tool_call>\n{{"name": "f", "arguments": {"a": 1}}}\n</tool_call>')

    assert "its outer braces are doubled" in trace.verdict.sentence
