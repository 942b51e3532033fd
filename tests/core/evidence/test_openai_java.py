"""What OpenAI's package for Java prints: whole answers, chunks of a stream, and what was cut."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import gather_evidence, read_evidence, show_evidence
from prompt_debugger.core.evidence.readers.base import Paste
from prompt_debugger.core.evidence.readers.openai_java import READER
from tests.attacks.growth import grows_linearly

CALL = (
    "ChatCompletionMessageToolCall{{function=ChatCompletionMessageFunctionToolCall{{id=call_1, function=Function{{"
    "arguments={arguments}, name=get_weather, additionalProperties={{}}}}, type=function, additionalProperties={{}}}}}}"
)
WHOLE = (
    "ChatCompletion{{id=chatcmpl-1, choices=[Choice{{finishReason={reason}, index=0, logprobs=null, "
    "message=ChatCompletionMessage{{content={content}, refusal=null, role=assistant, annotations=, audio=null, "
    "functionCall=null, toolCalls={calls}, additionalProperties={{}}}}, additionalProperties={{}}}}], created=1, "
    "model=acme-1, object_=chat.completion, serviceTier=, systemFingerprint=null, usage=CompletionUsage{{"
    "completionTokens=9, promptTokens=20, totalTokens=29, additionalProperties={{}}}}, additionalProperties={{}}}}"
)
CHUNK = (
    "[Choice{{delta=Delta{{content=, functionCall=, refusal=, role=, toolCalls=[ToolCall{{index=0, id={id}, function="
    "Function{{arguments={arguments}, name={name}, additionalProperties={{}}}}, type=function, additionalProperties="
    "{{}}}}], additionalProperties={{reasoning_content={thought}}}}}, finishReason={reason}, index=0, logprobs=null, "
    "additionalProperties={{}}}}]"
)


def whole(content: str = "", arguments: str = '{"city": "Paris, FR"}', reason: str = "tool_calls") -> str:
    calls = f"[{CALL.format(arguments=arguments)}]" if arguments else "null"
    return WHOLE.format(content=content, calls=calls, reason=reason)


def chunk(arguments: str = "", call: str = "", name: str = "", reason: str = "null", thought: str = "") -> str:
    return CHUNK.format(arguments=arguments, id=call, name=name, reason=reason, thought=thought)


def test_an_answer_is_read_with_its_calls_its_end_and_its_counts():
    found = read_evidence(f"response: {whole()}")

    assert found.chat is not None
    [call] = found.chat.message["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("call_1", "get_weather")
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris, FR"}
    assert (found.chat.finish_reason, found.chat.message["content"]) == ("tool_calls", None)
    assert found.chat.usage is not None
    assert found.chat.usage.completion_tokens == 9


async def test_a_call_in_its_content_is_found_and_a_plain_answer_is_not_blamed():
    written = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'

    lost = await show_evidence(gather_evidence([whole(written, "", "stop")]))
    plain = await show_evidence(gather_evidence([whole("It is mild, I think.", "", "stop")]))

    assert "PD426" in [finding.code for finding in lost.findings]
    assert [finding.code for finding in plain.findings] == []


def test_chunks_are_joined_as_the_stream_that_they_are():
    lines = [
        chunk(call="call_1", name="get_weather"),
        chunk('{"city": '),
        chunk('"Paris"}'),
        chunk(reason="tool_calls"),
    ]

    found = read_evidence("\n".join(lines))

    assert found.stream is not None
    [call] = found.stream.message["tool_calls"]
    assert (call["function"]["name"], call["function"]["arguments"]) == ("get_weather", '{"city": "Paris"}')
    assert found.stream.finish_reason == "tool_calls"


def test_chunks_of_the_middle_are_refused_for_what_they_lack():
    with pytest.raises(RequestError, match="No part of the answer is complete"):
        read_evidence("\n".join([chunk(call="call_1", name="f"), chunk('{"a": ')]))


def test_reasoning_beside_the_fields_is_kept():
    found = read_evidence("\n".join([chunk(thought="Which city, {x}?"), chunk(reason="stop")]))

    assert found.stream is not None
    assert found.stream.message.get("reasoning_content") == "Which city, {x}?"


@pytest.mark.parametrize("cut", ["name=get_weather", "arguments={", ", refusal="])
def test_what_is_cut_inside_its_message_is_no_answer(cut):
    text = whole()
    text = text[: text.index(cut) + 3]

    assert READER.finds(Paste(text)) == 0.0
    with pytest.raises(RequestError):
        READER.read(Paste(text))


@pytest.mark.parametrize("piece", ["Choice{delta=Delta{content=", "Choice{finishReason=a, index=", whole(), chunk()])
def test_it_is_found_in_linear_time(piece):
    assert grows_linearly(lambda size: READER.finds(Paste(piece * size)), first=10, tries=2, doublings=4)
