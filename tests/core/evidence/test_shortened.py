"""What people shorten with `...`, cut, print piece by piece, or put between sentences: read as far as it is whole."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
PRINTED = (
    "ChatCompletion(id='c-...', choices=[Choice(finish_reason='tool_calls', index=0, message=ChatCompletionMessage("
    "content={}, role='assistant', tool_calls=[{}]))], ...)"
)
OF_CALL = "ChatCompletionMessageToolCall(id='c1', function=Function(arguments='{}', name='weather'), type='function')"


def codes_of(text):
    return {finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings}


@pytest.mark.parametrize("arguments", ['{"city": "Par...', '{"city": ...}', '{"city": "Par…'])
def test_a_call_that_someone_shortened_is_left_out_and_not_blamed(arguments):
    whole = OF_CALL.format('{"city": "Rome"}')
    evidence = read_evidence(PRINTED.format("None", f"{whole}, {OF_CALL.format(arguments)}"))

    assert [call["function"]["arguments"] for call in evidence.chat.message["tool_calls"]] == ['{"city": "Rome"}']
    assert any("1 call shortened with `...`" in note for note in evidence.notes)
    assert not codes_of(PRINTED.format("None", f"{whole}, {OF_CALL.format(arguments)}"))


def test_an_answer_of_nothing_but_shortened_calls_is_asked_for_whole():
    with pytest.raises(RequestError, match="was shortened with"):
        read_evidence(PRINTED.format("None", OF_CALL.format('{"city": "Par...')))


def test_arguments_that_a_limit_cut_are_still_cut():
    text = PRINTED.format("None", OF_CALL.format('{"text": "wait...')).replace("'tool_calls', index", "'length', index")

    assert "PD320" in codes_of(text)


def test_dots_within_whole_arguments_are_what_the_model_wrote():
    evidence = read_evidence(PRINTED.format("None", OF_CALL.format('{"text": "wait..."}')))

    assert len(evidence.chat.message["tool_calls"]) == 1


def event(**delta):
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


def of_call(arguments, **more):
    return event(tool_calls=[{"index": 0, "function": {"arguments": arguments, **more}}])


def test_a_stream_with_events_left_out_is_not_a_broken_call():
    head = event(role="assistant", content="") + of_call("", name="weather") + of_call('{"city": ')
    tail = of_call("}") + "data: [DONE]\n"

    assert any("PD" in code for code in codes_of(head + tail))
    gap = head + "...\n" + tail
    with pytest.raises(RequestError):
        read_evidence(gap)
    evidence = read_evidence(gap.replace('"content": ""', '"content": "Hm."'))
    assert evidence.chat.message == {"role": "assistant", "content": "Hm."}
    assert any("Events were left out" in note for note in evidence.notes)


def chunk(arguments, name=None, identifier=None):
    call = {"name": name, "args": arguments, "id": identifier, "index": 0}
    return f"content='' additional_kwargs={{}} id='run-1' tool_call_chunks=[{call}]"


CHUNKS = [chunk("", "f", "c1"), chunk('{"a'), chunk('": 1}')]


@pytest.mark.parametrize("has_class", [True, False])
def test_chunks_that_langchain_printed_are_pieces_of_one_answer(has_class):
    lines = CHUNKS
    if has_class:
        commas = [re.sub(" (additional|id|tool_call_chunks)", r", \1", line) for line in CHUNKS]
        lines = [f"AIMessageChunk({line})" for line in commas]

    evidence = read_evidence("\n".join(lines))

    assert [call["function"] for call in evidence.chat.message["tool_calls"]] == [
        {"name": "f", "arguments": '{"a": 1}'}
    ]
    assert not codes_of("\n".join(lines))


def test_chunks_without_the_first_are_not_a_call_without_a_name():
    with pytest.raises(RequestError, match="begins in the middle of a call"):
        read_evidence("\n".join(CHUNKS[1:]))


def test_messages_that_are_printed_one_a_line_are_not_chunks():
    lines = ["content='Hi' additional_kwargs={} id='run-1'", "content='Bye' additional_kwargs={} id='run-2'"]

    assert read_evidence("\n".join(lines)).words != "2 printed `AIMessageChunk`s"


def test_an_answer_cut_inside_its_message_is_read():
    head = f'{{"finish_reason": "stop",\n "message": {{\n  "content": {json.dumps(CALL)},\n  "role": "assistant",\n'
    evidence = read_evidence(head + '  "tool_cal')

    assert evidence.form is Form.FRAGMENT
    assert evidence.chat.message["content"] == CALL


SCRIPT = """from openai import OpenAI
client = OpenAI(base_url="http://localhost:8000/v1", api_key="x")
answer = client.chat.completions.create(
    model="m",
    messages=[{"role": "user", "content": "Weather?"}],
)
print(answer.choices[0].message)
"""


def test_a_script_between_sentences_and_what_it_printed():
    printed = f"ChatCompletionMessage(content={CALL!r}, role='assistant', tool_calls=[])"

    evidence = read_evidence(f"I run the following script\n{SCRIPT}and it prints\n{printed}\nwhich is wrong.")

    assert evidence.request.body["messages"] == [{"role": "user", "content": "Weather?"}]
    assert evidence.chat.message["content"] == CALL


def test_of_two_requests_the_one_that_is_not_said_to_work_is_read():
    works = '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'

    evidence = read_evidence(
        f"This works:\n\ncurl http://localhost:8000/v1/chat/completions -d '{works}'\n\nbut this does not:\n\n"
        f"```python\n{SCRIPT}```\n"
    )

    assert evidence.request.body["messages"][0]["content"] == "Weather?"
    assert any("contains 2 requests" in note for note in evidence.notes)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('We need the weather.commentary to=functions.f json{"a": 1}', "f"),
        ('  to=functions.save  xyz json\n  {"a": "two\n  lines"}xyz\n  Fine.', "save"),
        ("print(default_api.f(a=1))", "f"),
    ],
)
def test_text_with_a_stripped_call_is_the_content_of_a_message(text, name):
    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert trace.verdict is not None
    assert f"A tool call to `{name}` is in content" in trace.verdict.sentence


def test_a_field_of_chat_completions_in_a_body_of_responses_is_reported():
    body = {"model": "m", "input": "hi", "response_format": {"type": "json_object"}, "max_tokens": 9}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

    trace = asyncio.run(show_evidence(read_evidence(json.dumps({**body, "tools": [tool]}))))

    shown = {finding.title for finding in trace.findings if finding.code == "PD136"}
    assert len(shown) == 3
    assert trace.request.body["tools"] == [tool]
    assert not any("does not exist in chat completions" in notice.message for notice in trace.request.notices)


def test_an_answer_in_a_line_of_code_among_prose_is_read_as_the_answer():
    answer = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": CALL}}]}

    evidence = read_evidence(
        f"Sometimes `<tool_call>` is normal text:\n`{json.dumps(answer)}`\n\n**It should not be.**\n"
    )

    assert evidence.chat.message["content"] == CALL
    assert evidence.raw is None


@pytest.mark.parametrize(
    "fence",
    [
        '{\n "choices": [\n  {\n   "message": {\n    "content": "",\n    "reasoning": "Hm.\\n<tool_call>\\n{x',
        '# Generated text: \'<tool_call>\\n{"name": "f", "arguments": {"a": "Par',
    ],
)
def test_an_output_in_a_fence_of_something_cut_is_not_read_together_with_the_prose(fence):
    with pytest.raises(RequestError, match="output inside incomplete"):
        read_evidence(f"The response is not right:\n\n```\n{fence}\n")
