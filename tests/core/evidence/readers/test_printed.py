"""Objects that Python printed are read as the answers that they are, and nothing in them is evaluated."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence
from prompt_debugger.core.evidence.taking import is_cut
from prompt_debugger.core.evidence.values.python_repr import plain, read_fields, read_printed

ARGUMENTS = '{"city": "Oslo", "note": "it\'s \\u00e9\\n"}'
CALL = (
    "ChatCompletionMessageFunctionToolCall(id='call_1', function=Function("
    f"arguments={ARGUMENTS!r}, name='get_weather'), type='function')"
)
MESSAGE = f"ChatCompletionMessage(content=None, refusal=None, role='assistant', audio=None, tool_calls=[{CALL}])"
ANSWER = (
    "ChatCompletion(id='chatcmpl-1', choices=[Choice(finish_reason='tool_calls', index=0, logprobs=None, "
    f"message={MESSAGE}, stop_reason=None)], created=1, model='m', object='chat.completion', "
    "usage=CompletionUsage(completion_tokens=9, prompt_tokens=5, total_tokens=14))"
)
READ_CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}


def read_or_refuse(text):
    """Return what is read; `None` where it is refused."""
    try:
        return read_evidence(text)
    except RequestError:
        return None


def test_a_printed_answer_is_read_whole():
    evidence = read_evidence(ANSWER)

    assert evidence.form is Form.OBJECT
    assert evidence.words == "a printed `ChatCompletion`, 1 tool call"
    assert evidence.chat.message == {"content": None, "role": "assistant", "tool_calls": [READ_CALL]}
    assert (evidence.finish_reason, evidence.chat.usage.completion_tokens) == ("tool_calls", 9)


@pytest.mark.parametrize("text", [MESSAGE, CALL, f"[{CALL}]", f"response = {ANSWER}", f">>> r\n{ANSWER}"])
def test_a_part_of_an_answer_is_read(text):
    assert read_evidence(text).chat.message["tool_calls"] == [READ_CALL]


def test_a_dict_with_single_quotes_is_read():
    body = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": None, "x": True}}]}

    evidence = read_evidence(repr(body))

    assert evidence.form is Form.OBJECT
    assert evidence.chat.message["content"] is None
    assert evidence.finish_reason == "stop"


def test_a_dict_that_is_a_request_stays_a_request():
    assert read_evidence("{'messages': [{'role': 'user', 'content': None or 'a'}]}".replace("None or ", "")).request
    history = "[{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': None}]"
    assert read_evidence(history).form is Form.REQUEST


def test_code_that_makes_such_objects_stays_code():
    text = (
        "from langchain_openai import ChatOpenAI\n"
        "ChatOpenAI(model='m').invoke([HumanMessage(content='a'), AIMessage(content='b')])"
    )

    assert read_evidence(text).form is Form.REQUEST


@pytest.mark.parametrize("stop", range(20, len(ANSWER), 7))
def test_of_a_cut_object_only_what_is_whole_is_read(stop):
    """Half a text looks like half an answer, and `tool_calls` beside no call like a fault."""
    evidence = read_or_refuse(ANSWER[:stop])
    if evidence is None:
        return

    if is_cut(evidence):
        assert evidence.finish_reason is None
    assert evidence.chat.message["tool_calls"] == [READ_CALL]


def test_a_printed_stream_is_put_together():
    delta = "ChoiceDelta(content={}, function_call=None, refusal=None, role=None, tool_calls={})"
    call = "ChoiceDeltaToolCall(index=0, id={}, function=ChoiceDeltaToolCallFunction(arguments={!r}, name={}), type={})"
    lines = [
        delta.format("'Hm'", None),
        delta.format(None, "[" + call.format("'c1'", "", "'f'", "'function'") + "]"),
        delta.format(None, "[" + call.format(None, '{"a": ', None, None) + "]"),
        delta.format(None, "[" + call.format(None, "1}", None, None) + "]"),
    ]
    chunk = (
        "ChatCompletionChunk(id='c', choices=[Choice(delta={}, finish_reason={}, index=0)], created=1, model='m', "
        "object='chat.completion.chunk', usage=None)"
    )
    expected = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}

    alone = read_evidence("\n".join(lines))
    events = [chunk.format(line, None) for line in lines]
    events.append(chunk.format(delta.format(None, None), "'tool_calls'"))
    chunks = read_evidence("\n".join(events))

    for evidence in (alone, chunks):
        assert evidence.stream.message["content"] == "Hm"
        assert evidence.stream.message["tool_calls"] == [expected]
        assert evidence.stream.error is None
    assert (alone.finish_reason, chunks.finish_reason) == (None, "tool_calls")
    assert alone.words.startswith("4 printed events")


def test_a_message_of_anthropics_package_is_read():
    block = "ToolUseBlock(id='t1', input={'city': 'Oslo'}, name='f', type='tool_use')"
    text = (
        "Message(id='msg_1', content=[ThinkingBlock(signature='s', thinking='Hm', type='thinking'), "
        f"TextBlock(citations=None, text='Look.', type='text'), {block}], model='m', role='assistant', "
        "stop_reason='tool_use', stop_sequence=None, type='message', usage=Usage(input_tokens=1, output_tokens=2))"
    )
    function = {"name": "f", "arguments": '{"city": "Oslo"}'}

    message = read_evidence(text).chat.message
    lone = read_evidence(block).chat.message

    assert message["content"] == "Look."
    assert [call["function"] for call in message["tool_calls"]] == [function]
    assert [call["function"] for call in lone["tool_calls"]] == [function]


def test_a_printed_item_of_responses_is_read():
    text = (
        "ResponseFunctionToolCall(arguments='{\"a\": 1}', call_id='c1', name='f', type='function_call', "
        "id='fc_1', status='completed')"
    )

    assert read_evidence(text).chat.message["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": 1}'}
    whole = f"Response(id='resp_1', output=[{text}], object='response', error=None)"
    assert read_evidence(whole).chat.message["tool_calls"][0]["id"] == "c1"


def test_a_message_of_langchain_is_read_with_calls_that_it_could_not_parse():
    call = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
    bad = {"name": "g", "args": '{"a": ', "id": "c2", "error": "bad", "type": "invalid_tool_call"}
    fields = (
        "content=''",
        "additional_kwargs={}",
        "response_metadata={'finish_reason': 'tool_calls'}",
        "id='run-1'",
        f"tool_calls={[call]}",
        f"invalid_tool_calls={[bad]}",
    )

    for text in (" ".join(fields), f"AIMessage({', '.join(fields)})"):
        evidence = read_evidence(text)
        written = [item["function"]["arguments"] for item in evidence.chat.message["tool_calls"]]
        assert written == ['{"a": 1}', '{"a": ']
        assert evidence.finish_reason == "tool_calls"


def test_an_offline_run_gives_prompt_output_and_ids():
    text = (
        "[RequestOutput(request_id=0, prompt='Say hi', prompt_token_ids=[1, 2], outputs=[CompletionOutput(index=0, "
        "text=' hi<|im_end|>', token_ids=[5, 6], cumulative_logprob=None, finish_reason=stop, stop_reason=None)], "
        "finished=True)]"
    )

    evidence = read_evidence(text)

    assert (evidence.prompt, evidence.raw, evidence.token_ids) == ("Say hi", " hi<|im_end|>", (5, 6))
    assert evidence.finish_reason == "stop"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", None),
        ("{'a': 'x' \"y\", 1: (1, 2.5,), 'b': {1, 2}}", {"a": "xy", "1": [1, 2.5], "b": [1, 2]}),
        ("namespace(a=1, b=[<Reason.STOP: 'STOP'>, <object at 0x7f>])", {"a": 1, "b": ["STOP", None]}),
        (r"{'a': '\x41\u00e9\n\'', 'b': r'\n', 'c': b'\xc3\xa9'}", {"a": "Aé\n'", "b": r"\n", "c": "é"}),
        ("X(a=..., b=datetime.datetime(2026, 1, 2), c=...)", {"a": None, "b": {}, "c": None}),
        ("[1e999, nan, -3]", [None, None, -3]),
    ],
)
def test_what_python_prints_is_read(text, value):
    assert plain(read_printed(text).value) == value


def test_fields_without_a_class_are_read():
    assert plain(read_fields("a=1 b='x' c=D(e=None)\nf=[1] rest").value) == {
        "a": 1,
        "b": "x",
        "c": {"e": None},
        "f": [1],
    }


@pytest.mark.parametrize("text", ["__import__('os').system('x')", "open('/etc/passwd')", "[x for x in y]"])
def test_nothing_is_evaluated(text):
    read = read_printed(text)

    assert read is None or "root:" not in json.dumps(plain(read.value))


def test_deep_nesting_ends_in_a_cut():
    assert read_printed("[" * 10_000).is_cut
    assert read_printed("A(b=" * 10_000).is_cut


def _piece(call: str, reason: str = "None") -> str:
    return f"[Choice(delta=ChoiceDelta(content=None, role=None, tool_calls={call}), finish_reason={reason}, index=0)]"


@pytest.mark.parametrize("strip", ["", "[]"])
def test_choices_of_chunks_are_the_pieces_of_a_stream(strip):
    named = "[ChoiceDeltaToolCall(index=0, id=None, function=ChoiceDeltaToolCallFunction(None, name='f'), type=None)]"
    given = "[ChoiceDeltaToolCall(index=0, id=None, function=ChoiceDeltaToolCallFunction(arguments='{}', name=None))]"
    lines = [_piece(named), _piece(given), _piece("None", "'tool_calls'")]

    evidence = read_evidence("\n".join(line.strip(strip) for line in lines))

    assert evidence.stream is not None
    assert evidence.finish_reason == "tool_calls"
    assert evidence.stream.message["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}


def test_a_choice_of_a_whole_answer_is_no_piece():
    evidence = read_evidence("Choice(finish_reason='stop', index=0, message=ChatCompletionMessage(content='Hi.'))")

    assert evidence.stream is None


@pytest.mark.parametrize(("cut", "said"), [("role='assistant', sta", "It is mild."), ("type='output_t", None)])
def test_of_a_message_of_the_responses_api_that_is_cut_the_texts_before_the_cut_are_read(cut, said):
    printed = (
        "ResponsesAPIResponse(id='r', model='m', object='response', output=[ResponseReasoningItem(id='a', summary=[], "
        "type='reasoning'), ResponseOutputMessage(id='b', content=[ResponseOutputText(annotations=[], "
        "text='It is mild.', type='output_text', logprobs=[])], role='assistant', status='completed')])"
    )
    text = printed[: printed.index(cut[:10]) + len(cut)]

    if said is None:
        with pytest.raises(RequestError):
            read_evidence(text)
    else:
        assert read_evidence(text).chat.message["content"] == said
