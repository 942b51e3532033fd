"""Reports about calls: what a client refused, what a sentence says of the object below it, printed objects cut off."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.answers.shapes import call_of_framework
from prompt_debugger.core.evidence.readers.base import Paste
from prompt_debugger.core.evidence.readers.refused_call import READER
from prompt_debugger.core.evidence.reports.leads import is_of_other
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import codes, said, shown

REFUSED = (
    'Invalid arguments for tool look: JSON parsing failed: Text: {"place": "Oslo"}{"place": "Rome"}.\nError message: no'
)


@pytest.mark.parametrize(
    "text",
    [
        REFUSED,
        f"Both calls run without streaming. Error:\n\n```\nAI_InvalidToolArgumentsError: {REFUSED}\n```\n",
        'Part {"type":"error","error":{"name":"AI_InvalidToolArgumentsError","message":"'
        + REFUSED.replace('"', '\\"').replace("\n", "\\n")
        + '","stack":"at parse"}}',
    ],
)
def test_two_objects_in_what_a_client_refused_are_two_calls(text):
    assert codes(text) == ["PD451"]


def test_a_body_that_quotes_such_arguments_is_no_matter_of_the_schema():
    message = REFUSED.replace('"', '\\"').replace("\n", "\\n")
    text = said(f'{{"error": {{"message": "{message}"}}, "status": 500}}')

    assert "two JSON objects end to end" in text
    assert "does not match the tool's parameters" not in text


def test_an_empty_text_stays_an_empty_text_also_within_json():
    body = r'{"message": "Invalid arguments for tool ping: JSON parsing failed: Text: .\nError message: no end"}'

    assert READER.finds(Paste(f"Delta {body}}}")) == 0.0


def test_quoted_arguments_are_read_in_linear_time():
    start = r'x {"message": "Invalid input for tool look: JSON parsing failed: Text: {\"a\": \"'
    grows_linearly(lambda count: READER.finds(Paste(start + r"\"\n" * count)), first=2_000)


@pytest.mark.parametrize(
    ("lead", "is_other"),
    [
        ("It is one object in `arguments`. This object should be parsed into both fields.", False),
        ("The call is in the text but should have been there, and it should be moved to `tool_calls`.", False),
        ("It should be parsed into `tool_calls`:", True),
        ("This should be the result.", True),
    ],
)
def test_where_a_thing_belongs_does_not_make_it_what_ought_to_come(lead, is_other):
    assert is_of_other(lead) is is_other


WHOLE = (
    "ModelResponse(id='r1', choices=[Choices(finish_reason='stop', index=0, message=Message(content=None, "
    "role='assistant', tool_calls=[ChatCompletionMessageToolCall(function=Function(arguments="
    """'{"name": "look", "arguments": {"place": "Oslo"}}', name=''), id='c1', type='function')]))], model='m')"""
)
CUT = "ModelResponse(id='r2', choices=[StreamingChoices(finish_reason=None, index=0, delta=Delta(content='{', role="
LONG = "The gateway gives a call whose name is empty and whose arguments have all of what the model wrote, " * 3


@pytest.mark.parametrize("lead", ["It prints:", LONG + "which is one object. It should be parsed into the two fields."])
def test_the_whole_answer_counts_and_not_the_beginning_of_a_printed_stream(lead):
    text = f"{lead}\n\n```python\n{WHOLE}\n```\n\nStreamed, the call is in `content`:\n\n```python\n{CUT}\n```\n"

    assert "PD466" in codes(text)


def test_a_printed_object_that_is_cut_is_no_content():
    text = f"I get only this in `content`:\n\n```python\n{CUT}\n```\n\nWhat can I do?\n"

    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_template_that_got_broken_arguments_is_not_ollama():
    text = said(
        "Error code: 500 - {'error': {'code': 500, 'message': 'Invalid tool call arguments passed: "
        '{"place":"Oslo""days":2} at row 9, column 3:\\n{{ raise_exception(x) }}\'}}'
    )

    assert "A call in the history has arguments that are not a JSON object" in text
    assert "Ollama" not in text


def test_an_outer_tag_that_is_missing_is_known():
    text = said("Error parsing Ollama response: Error: expected element type <function> but have <parameter>")

    assert "an outer tag is missing" in text
    assert "not in the tables" not in text


def test_a_choice_that_an_old_release_does_not_know_is_known():
    assert "0.8.3" in said('400: Value error, `tool_choice` must either be a named tool, "auto", or "none".')


MIXED = {"place": 'Oslo"}.functions.run:1 <|tool_call_argument_begin|> {'}


@pytest.mark.parametrize(
    "call",
    [
        {"type": "tool_use", "id": "t1", "name": "look", "input": MIXED},
        {"type": "tool-call", "toolCallId": "t1", "toolName": "look", "args": MIXED},
        {"type": "tool-call", "toolCallId": "t1", "toolName": "look", "input": MIXED},
    ],
)
@pytest.mark.parametrize("frame", ["{}", "{},\n", "I put it together from the stream:\n```\n{},\n```\nWhat is it?\n"])
def test_a_call_of_another_api_that_was_copied_alone_is_read(call, frame):
    text = frame.replace("{}", json.dumps(call, indent=2))

    assert codes(text) == ["PD452"]
    assert "continues into `<|tool_call_argument_begin|>`" in said(text)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "tool_use", "name": "look"},
        {"type": "tool-call", "toolName": "look"},
        {"type": "tool_result", "tool_use_id": "t1", "name": "look", "input": {}},
    ],
)
def test_what_is_less_than_a_call_or_no_call_is_none(value):
    assert call_of_framework(value) is None


def test_what_a_client_joined_for_a_block_counts_where_its_input_is_empty():
    block = {"type": "tool_use", "id": "t1", "name": "look", "input": {}, "input_json": '{"a": 1}{"a": 2}'}

    assert codes(json.dumps(block)) == ["PD451"]
    assert codes(json.dumps({**block, "input": {"a": 1}})) == []


def test_a_value_that_quotes_a_whole_call_continues_into_nothing():
    quoted = "<|tool_call_begin|>functions.run:0<|tool_call_argument_begin|>{}<|tool_call_end|>"

    assert codes(json.dumps({"type": "tool_use", "id": "t1", "name": "save", "input": {"text": quoted}})) == []


def pieces(second: str, first_id: str = "call_7f...") -> str:
    head = f'{{"delta":{{"tool_calls":[{{"index":0,"id":"{first_id}","type":"function",\n'
    head += '  "function":{"name":"look","arguments":""}}]}}'
    first = json.dumps({"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"place":"Oslo"}'}}]}})
    return f"// the head\n{head}\n\n// its arguments\n{first}\n\n// those of the next call\n{second}\n"


def test_a_shortened_id_leaves_the_pieces_of_a_stream_as_they_are():
    call = {"index": 0, "function": {"arguments": '{"place":"Rome"}'}}

    assert "contain 2 JSON objects end to end" in said(pieces(json.dumps({"delta": {"tool_calls": [call]}})))


@pytest.mark.parametrize("second_id", [None, "call_8"])
def test_two_objects_at_one_index_are_told_apart_by_id_only_where_there_are_two(second_id):
    heads = [{"id": "call_7", "type": "function", "function": {"name": "look", "arguments": ""}}, {}, {}]
    heads[2] = {} if second_id is None else {"id": second_id}
    texts = ["", '{"place":"Oslo"}', '{"place":"Rome"}']
    calls = [
        {**head, "index": 0, "function": {**head.get("function", {}), "arguments": text}}
        for head, text in zip(heads, texts, strict=True)
    ]
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    text = said("\n\n".join(f"data: {json.dumps(event)}" for event in events))

    assert ("only the first one has an id" in text) is (second_id is None)


def test_arguments_that_were_shortened_still_prove_nothing():
    call = {"index": 0, "function": {"arguments": '{"place":"Ro...'}}

    with pytest.raises(RequestError):
        shown(pieces(json.dumps({"delta": {"tool_calls": [call]}})))


PRINTED = (
    "# first\nChoiceDeltaToolCall(index=0, id='a', function=ChoiceDeltaToolCallFunction(arguments='', name='f'))\n"
    "ChoiceDeltaToolCall(index=0, id='', function=ChoiceDeltaToolCallFunction(arguments='{}', name=None))\n{gap}"
    "# second\nChoiceDeltaToolCall(index=0, id='b', function=ChoiceDeltaToolCallFunction(arguments='', name='f'))\n"
)


def test_an_event_is_counted_from_1_and_not_where_events_were_left_out():
    assert "First at event 3." in said(PRINTED.replace("{gap}", ""))
    assert "First at event" not in said(PRINTED.replace("{gap}", "...\n"))
    assert "index 0 belongs to `a` and to `b`" in said(PRINTED.replace("{gap}", "...\n"))


def test_objects_end_to_end_that_java_prints_are_all_read():
    calls = 'ToolCall[id=a, type=function, name=run, arguments={"cmd": "ls"}{"cmd": "pwd"}]'
    whole = calls.replace("}{", ", ").replace('"cmd": "pwd"', '"dir": "a"')
    answer = "AssistantMessage [messageType=ASSISTANT, toolCalls=[CALLS], textContent=, metadata={}]\n"

    assert codes(answer.replace("CALLS", calls)) == ["PD451"]
    assert codes(answer.replace("CALLS", whole)) == []


OPEN = (
    "I write it.\n\n<tool_call>\n<function=write>\n<parameter=path>\na.cs\n</parameter>\n"
    "<parameter=text>\nusing System;"
)


@pytest.mark.parametrize("lead", ["I see <tool_call> in the chat window:", "What I see in chat window:"])
def test_a_call_in_a_chat_window_that_was_shortened_was_not_cut_by_a_limit(lead):
    text = said(f"{lead}\n```\n{OPEN}\n...\n```\nWhy?\n")

    assert "A tool call to `write` begins in content." in text
    assert "max_tokens" not in text
    assert "max_tokens" in said(f"{lead}\n```\n{OPEN}\n```\nWhy?\n")


def test_a_shortened_call_is_not_said_to_be_right():
    text = said(f"{OPEN}\n...\n")

    assert "A part of it was left out where it was copied" in text
    assert "nothing wrong" not in text


def test_a_marker_before_the_fence_that_something_follows_is_part_of_the_output():
    raw = shown(f'<tool_call> {{"name": "f", "arguments": {{}}}}\n```\n{OPEN}\n```\nI printed the raw output.\n').raw

    assert raw is not None
    assert raw.text.startswith('<tool_call> {"name": "f"')


WANTED = (
    "Where tools are sent and the model decides to use one, the answer should contain a `tool_calls` array:\n\n"
    '```json\n{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": '
    '"function", "function": {"name": "look", "arguments": "{}"}}]}}]}\n```\n'
)
ACTUAL = "\nThe model generates Python code in the `content` field instead of using the `tool_calls` structure:\n\n"


def test_a_call_in_python_that_a_model_wrote_is_the_content_and_not_what_ought_to_come():
    text = f'{WANTED}{ACTUAL}```python\nlook(place="Oslo")\n```\n'

    assert read_evidence(text).chat.message["content"] == 'look(place="Oslo")'


def test_what_ought_to_come_is_called_that_where_nothing_else_is_read():
    assert "this is what ought to come" in " ".join(read_evidence(WANTED).notes)
    assert "ought to come" not in " ".join(read_evidence(WANTED.replace("should contain", "contains")).notes)


K3 = (
    '<|open|>toolscall tool="look" index="1"<|sep|><|open|>argument key="place" type="string"<|sep|>Oslo'
    "<|close|>argument<|sep|><|close|>call<|sep|><|close|>toolsmessage<|sep|>"
)


def test_a_call_of_kimi_k3_whose_tags_ran_together_departs_from_its_notation():
    whole = K3.replace("toolscall", "tools<|sep|><|open|>call").replace("toolsmessage", "tools<|sep|><|close|>message")

    assert "`<|sep|><|open|>` between `tools` and `call` is missing" in said(json.dumps({"type": "text", "text": K3}))
    assert "is missing" not in said(json.dumps({"type": "text", "text": whole}))
