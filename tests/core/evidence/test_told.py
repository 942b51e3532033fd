"""Answers that a report tells of and does not show, and several answers in one report."""

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

FENCE = "```"


def shown(text):
    return asyncio.run(show_evidence(read_evidence(text)))


def findings_of(text):
    return {finding.code: finding for finding in shown(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        "The tool call comes back as plain text in the content, and nothing is executed because it is not parsed.",
        'With our gateway the model replies with raw JSON `{"name": ...}` instead of a tool call. It never runs.',
        "Bug: the function call ends up inside `message.content`. `tool_calls` is empty, finish_reason is `stop`.",
        "### Problem\nThe client prints the tool call as text instead of running it.",
    ],
)
def test_a_call_that_came_as_text_is_told_of_though_it_is_not_shown(text):
    found = findings_of(text)["PD469"]

    assert found.certainty.value == "inferred"
    assert "not shown" in found.title


@pytest.mark.parametrize(
    "text",
    [
        "If the parser is missing, tool calls would come back as plain text, which is not parsed.",
        "The tool call should be returned as plain text in this mode, and not be executed.",
        "We send the tool calls of earlier turns as text, because the API does not take them.",
        "Tool calls no longer appear as plain text in content; that bug is gone.",
        "The plugin displays every tool call as text in the chat window.",
        "The tool call works, but the final answer is not shown as text.",
        "Please add an option that shows a tool call as JSON text. The current view is not enough.",
    ],
)
def test_what_may_or_ought_to_happen_is_not(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_told_answer_beside_a_request_keeps_the_request():
    body = '{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": []}'
    text = f"I send this:\n{FENCE}json\n{body}\n{FENCE}\nThe tool call is returned as plain text instead.\n"

    evidence = read_evidence(text)

    assert evidence.request is not None
    assert "PD469" in findings_of(text)


CALL = '{"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "ping", "arguments": "{}"}}]}'


def test_what_was_expected_is_not_read_as_the_answer():
    body = '{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": []}'
    text = f"Sent:\n{FENCE}json\n{body}\n{FENCE}\nI get prose. What I was expecting:\n{FENCE}json\n{CALL}\n{FENCE}\n"

    assert read_evidence(text).chat is None


STREAM = """\
data: {"id": "a", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", \
"content": "Hello"}, "finish_reason": null}]}

data: {"id": "a", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

data: [DONE]
"""
GATEWAY = """\
event: message_start
data: {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ""}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}

event: message_stop
data: {"type": "message_stop"}
"""


def test_of_two_answers_the_one_is_shown_in_which_something_is_wrong():
    text = f"The server:\n{FENCE}\n{STREAM}{FENCE}\nThe gateway:\n{FENCE}\n{GATEWAY}{FENCE}\n"

    assert "PD483" in findings_of(text)


def test_an_answer_that_is_a_good_example_is_not_looked_at():
    text = f"The server:\n{FENCE}\n{STREAM}{FENCE}\nExpected:\n{FENCE}\n{GATEWAY}{FENCE}\n"

    assert "PD483" not in findings_of(text)
