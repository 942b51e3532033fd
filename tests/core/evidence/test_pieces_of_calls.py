"""Pieces of calls that people copy without what is around them: a function, arguments, deltas in other text, flags."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence
from tests.attacks.growth import grows_linearly


def calls_of(text):
    chat = read_evidence(text).chat
    return [] if chat is None else [call["function"] for call in chat.message["tool_calls"]]


def codes_of(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return {finding.code for finding in trace.findings}, trace.verdict.sentence


def test_a_function_with_its_arguments_as_text_is_a_call_of_a_message():
    assert calls_of('{"name": "find", "arguments": "{\\"a\\": 1}"}') == [{"name": "find", "arguments": '{"a": 1}'}]


def test_a_function_with_its_arguments_as_an_object_is_what_a_model_writes():
    assert read_evidence('{"name": "find", "arguments": {"a": 1}}').form is Form.OUTPUT


def test_a_tool_is_not_a_call():
    with pytest.raises(RequestError):
        read_evidence('{"name": "find", "arguments": "a list", "description": "Finds."}')


def test_an_item_of_a_response_is_read_alone():
    item = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    text = {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}

    assert calls_of(json.dumps(item)) == [{"name": "find", "arguments": "{}"}]
    assert read_evidence(json.dumps(text)).chat.message["content"] == "Hi."
    assert "Responses" in read_evidence(json.dumps(text)).words


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('\'"{\\"a\\": \\"b\\"}"\'', "PD415"),
        ('{"a": 1}{"a": 2}', "PD451"),
        ('arguments={"a": 1}{"a": 2}', "PD451"),
        ('{"cmd": "x", "b\\n</parameter": ', "PD452"),
        ('\', "arguments": {"a": 1}}\'', "PD453"),
        ("name='f', arguments='[ARGS]{\\'a\\': 1}', id=''", "PD452"),
        ('read("{\\"cmd\\": 1, \\"b\\n</parameter>\\": 2}")', "PD452"),
    ],
)
def test_arguments_alone_that_cannot_be_decoded(text, code):
    assert code in codes_of(text)[0]


@pytest.mark.parametrize("text", ['{"a": 1}', '"a sentence that stands in quotation marks"', '{"a": 1', "f(1, 2)"])
def test_what_says_nothing_of_a_call_is_not_taken_for_arguments(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_deltas_with_labels_before_them_are_one_call():
    text = (
        'chunk 1: { index: 0, id: "a", type: "function", function: { name: "find", arguments: \'{"q\' } }\n'
        'chunk 2: { index: 0, id: "a", function: { arguments: \'": 1}\' } }'
    )

    assert calls_of(text) == [{"name": "find", "arguments": '{"q": 1}'}]
    assert "PD464" in codes_of(text)[0]


def test_events_with_sentences_between_them_prove_nothing_of_what_stood_there():
    first = {
        "choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}}]
    }
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    text = f"{json.dumps(first, indent=1)}\n\nThe last event of the stream is then:\n\n{json.dumps(last, indent=1)}"

    codes, sentence = codes_of(text)

    assert codes == {"PD412"}
    assert "finish_reason `stop`" in sentence


def test_objects_that_are_not_events_are_not_made_a_stream():
    text = 'one: {"type": "a", "x": 1}\ntwo: {"type": "b", "x": 2}'

    with pytest.raises(RequestError):
        read_evidence(text)


def test_messages_one_after_the_other_are_a_conversation():
    call = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "run", "arguments": "{}"}}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "command is required"}

    assert "PD137" in codes_of(f"{json.dumps(call)},\n{json.dumps(result)}")[0]


def test_a_lone_event_proves_nothing_of_the_end_of_its_stream():
    assert codes_of('{"delta": {"role": "assistant", "content": "", "reasoning": "Hm."}}')[0] == set()


def test_a_lone_event_that_opens_a_call_says_nothing_of_its_arguments():
    block = {"type": "tool_use", "id": "t", "name": "find", "input": {}}

    assert codes_of(json.dumps({"type": "content_block_start", "index": 0, "content_block": block}))[0] == set()


def test_a_name_that_was_printed_as_null_begins_no_other_call():
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "find", "arguments": '{"q": "'}},
        {"index": 0, "id": "", "function": {"name": "null", "arguments": 'x"}'}},
    ]
    text = "\n\n".join(
        "data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]}) for one in pieces
    )

    assert calls_of(text) == [{"name": "find", "arguments": '{"q": "x"}'}]
    assert "PD464" in codes_of(text)[0]


def test_of_several_commands_the_one_with_a_parser_is_read():
    command = "vllm serve Qwen/Qwen3.5-9B --tool-call-parser hermes"
    text = f"docker run vllm/vllm-openai:latest -lc 'ray start --head && {command}'"

    assert read_evidence(text).server.tool_parser == "hermes"
    assert codes_of(text)[0] == {"PD465"}


def test_the_flags_above_a_request_belong_to_its_answer():
    content = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    answer = {
        "choices": [{"message": {"role": "assistant", "content": content, "tool_calls": []}, "finish_reason": "stop"}]
    }
    command = "python3 -m sglang.launch_server --model-path /m --tool-call-parser qwen25"
    request = """curl http://h/v1/chat/completions -d '{"messages": [{"role": "user", "content": "x"}]}'"""

    _, sentence = codes_of(f"{command}\n\n{request}\n\n{json.dumps(answer)}")

    assert "because the parser `qwen25` does not read the notation `qwen3_coder`" in sentence


@pytest.mark.parametrize(
    ("said", "parser"),
    [
        ("I run vLLM with --tool-call-parser hermes and get", "hermes"),
        ("用vllm部署，参数--tool-call-parser hermes，得到", "hermes"),
        ("vLLM. One should use --tool-call-parser hermes. I get", None),
        ("vLLM with --tool-call-parser hermes or --tool-call-parser qwen3_coder gives", None),
    ],
)
def test_a_parser_that_a_sentence_names_is_the_servers_unless_it_is_advised(said, parser):
    server = read_evidence(
        f'{said}: Choice(finish_reason="stop", message=Message(content="Hi.", tool_calls=[]))'
    ).server

    assert (None if server is None else server.tool_parser) == parser


def test_text_whose_quotes_are_all_escaped_is_read_without_the_escapes():
    evidence = read_evidence('{\\"name\\": \\"f\\", \\"arguments\\": {\\"a\\": 1}}')

    assert evidence.raw == '{"name": "f", "arguments": {"a": 1}}'


def test_a_message_header_is_not_an_assignment():
    assert read_evidence("to=find<|message|>{}").form is Form.OUTPUT


@pytest.mark.parametrize("piece", ['{"a": 1}', "x: {index: 0} delta\n", '"</parameter'])
def test_the_time_grows_as_the_text(piece):
    def run(size):
        with suppress(RequestError):
            read_evidence(piece * size)

    assert grows_linearly(run, first=500)


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n// the next one\n"])
def test_deltas_of_a_call_alone_one_a_line_are_one_call(between):
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "book", "arguments": ""}}
    later = [{"index": 0, "function": {"arguments": part}} for part in ('{"seat"', ': "12A"}')]

    evidence = read_evidence(between.join(json.dumps(one) for one in (first, *later)))

    assert evidence.chat is not None
    (call,) = evidence.chat.message["tool_calls"]
    assert call["function"] == {"name": "book", "arguments": '{"seat": "12A"}'}


def test_calls_that_are_whole_are_never_joined():
    calls = [
        {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": "book", "arguments": "{}"}}
        for at in (0, 1)
    ]

    read = calls_of("\n".join(json.dumps(one) for one in calls))

    assert {one["arguments"] for one in read} == {"{}"}
