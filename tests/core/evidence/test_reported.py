"""Answers that a report describes and does not show, and several answers in one report."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

FENCE = "```"


def findings_of(text):
    return {finding.code: finding for finding in shown(text).findings}


@pytest.mark.parametrize(
    "text",
    [
        "The tool call comes back as plain text in the content, and nothing is executed because it is not parsed.",
        'With our gateway the model replies with raw JSON `{"name": ...}` instead of a tool call. It never runs.',
        "Bug: the function call ends up inside `message.content`. `tool_calls` is empty, finish_reason is `stop`.",
        "### Problem\nThe client prints the tool call as text instead of running it.",
        'The model prints JSON like {"name": "read_file", "arguments": {"path": "a.py"}} instead of calling the tool.',
    ],
)
def test_a_call_that_came_as_text_is_reported_though_it_is_not_shown(text):
    found = findings_of(text)["PD469"]

    assert found.certainty.value == "inferred"
    assert "not shown" in found.title


@pytest.mark.parametrize(
    "text",
    [
        "If the parser is missing, tool calls would come back as plain text, which is not parsed.",
        "The tool call should be returned as plain text in this mode, and not be executed.",
        "We send the tool calls of earlier turns as text, because the API does not take them.",
        "| `hermes` | with the wrong parser the tool call stays in `content`, not executed |",
        "The wrong one fails silently: the tool call stays in the content, and is not parsed.",
        "Tool calls no longer appear as plain text in content; that bug is gone.",
        "The plugin displays every tool call as text in the chat window.",
        "The tool call works, but the final answer is not shown as text.",
        "Please add an option that shows a tool call as JSON text. The current view is not enough.",
        "Function calling does not work, the model just answers in plain text.",
        "Tool call arguments are empty when the tool has no parameters, which is correct.",
    ],
)
def test_what_may_or_ought_to_happen_is_not(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The client merged both tool calls and their parameters, so the tool does not exist.", "joined into one"),
        ("In streams the tool calls are concatenated, which is wrong.", "joined into one"),
        ("When streaming, the tool call arguments are empty ({}), non-streaming works fine.", "without its arguments"),
        ("The arguments of the tool call are missing: the server returns nothing for them.", "without its arguments"),
        ("Every tool_use block is wrong: a tool call arrives with empty arguments.", "without its arguments"),
        ("The adapter drops the tool call arguments, and the tool call fails.", "without its arguments"),
        (
            "\u4f7f\u7528\u7f51\u5173\u65f6\uff0c\u5de5\u5177\u8c03\u7528\u4e0d\u6267\u884c\uff0c\u539f\u6837\u8f93\u51fajson",
            "came as text",
        ),
    ],
)
def test_what_else_a_report_says_of_calls_is_inferred(text, words):
    assert words in findings_of(text)["PD469"].title


def test_a_described_answer_beside_a_request_keeps_the_request():
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


def test_a_call_that_a_sentence_shows_as_code_is_read_as_one():
    twice = "{'arguments': '\"{\\\\\"a\\\\\": 1}\"', 'name': 'ping'}"

    found = findings_of(f"### Bug\nThe second message has its arguments like this:\n`{twice}`\n, which is odd.\n")

    assert "encoded twice" in found["PD415"].title


def test_of_calls_shown_as_code_the_one_at_fault_is_shown():
    good, twice = (
        "{'arguments': '{\"a\": 1}', 'name': 'ping'}",
        "{'arguments': '\"{\\\\\"a\\\\\": 1}\"', 'name': 'ping'}",
    )

    assert "PD415" in findings_of(f"### Bug\nOnce it is `{good}`, and then it is `{twice}` without any change.\n")


def test_what_a_program_writes_into_an_agents_text_is_an_error():
    text = "I get this all the time:\nThought: I need a tool\nAction: sea"
    text += "Invalid Format: Missing 'Action Input:' after 'Action:'Do I"

    assert "not in the form that the agent reads" in findings_of(text)["PD445"].title


def test_an_errors_words_are_what_a_sentence_quotes():
    text = "A 400 with an empty body; behind the proxy the error reads:\n"
    text += "\"Missing required parameter: 'input[3].arguments'\""

    assert "proxy" not in findings_of(text)["PD100"].title


SPLIT = (
    '{"choices": [{"finish_reason": "stop", "message": {"content": "I look.", "role": "assistant"}}, {"finish_reason": '
    '"tool_calls", "message": {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": '
    '{"name": "ping", "arguments": "{}"}}]}}]}'
)


def test_an_error_about_an_answer_is_read_with_the_answer_in_the_same_log():
    log = f"ERROR could not parse the model response: {SPLIT}\n\nERROR 1 validation error for ChatResponse\n\nobject\n"

    found = findings_of(f"The bridge logs:\n{FENCE}\n{log}  Field required [type=missing]\n{FENCE}\n")

    assert {"PD445", "PD482"} <= {*found}


def test_a_request_without_tools_among_words_on_tool_calls_is_named():
    body = '{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true}'

    assert "PD139" in findings_of(f"Native tool calling is on, this is sent:\n{FENCE}json\n{body}\n{FENCE}\n")
    assert "PD139" not in findings_of(f"This is sent:\n{FENCE}json\n{body}\n{FENCE}\n")
    code = (
        "const r = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });"
    )
    page = f"The message has text, reasoning or tool calls, as in this example:\n\n{FENCE}ts\n{code}\n{FENCE}\n"
    assert "PD139" not in findings_of(page)


def test_a_described_answer_has_the_advice_for_the_server_that_is_named():
    found = findings_of("With LM Studio the client renders the tool call as chat output. It is never executed.")[
        "PD469"
    ]

    assert found.fix.startswith("LM Studio extracts calls only")


MESSAGE = "ChatCompletionMessage(content=None, role='assistant', tool_calls=[ChatCompletionMessageToolCall(id='c', \
function=Function(arguments='{\"city\": ', name='get_weather'), type='function')])"


@pytest.mark.parametrize(
    "around",
    [
        "\n>>> resp.choices[0].finish_reason\n'length'\n",
        "\nfinish_reason: length\n",
        "\nThe finish_reason is `length`.\n",
    ],
)
def test_a_message_has_the_finish_reason_that_the_words_around_it_name(around):
    trace = shown(f">>> resp.choices[0].message\n{MESSAGE}{around}")

    assert trace.chat is not None
    assert trace.chat.finish_reason == "length"
    assert "according to the text around the message" in trace.verdict.sentence


@pytest.mark.parametrize(
    "around",
    [
        "\nI expected the finish_reason: tool_calls\n",
        "\nfinish_reason: stop\nfinish_reason: length\n",
        "\nOpenAI's finish_reason is `stop`.\n",
        '\n{"finish_reason": "stop"}\n',
    ],
)
def test_a_finish_reason_of_something_else_is_not_the_message_s(around):
    trace = shown(f">>> resp.choices[0].message\n{MESSAGE}{around}")

    assert trace.chat is None or "according to the text around" not in trace.verdict.sentence
