"""Calls of which only pieces were copied: printed fields, open calls of a stream, a member in a line of prose."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

CALL = "{'id': 'c1', 'type': 'function', 'function': {'name': 'get_time', 'arguments': \"{'zone': 'UTC'}\"}}"


def codes(text: str) -> set[str]:
    return {one.code for one in shown(text).findings}


def titles(text: str) -> str:
    return " ".join(one.title for one in shown(text).findings)


def chunk(**delta: object) -> str:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
    }
    return f"data: {json.dumps(body)}\n\n"


def piece(arguments: str, name: str | None = None) -> str:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return chunk(tool_calls=[{"index": 0, **({"id": "c1"} if name else {}), "function": function}])


def test_fields_that_a_script_prints_by_name_are_an_answer():
    assert "PD450" in codes(f"content= ''\ntool_calls= [{CALL}]\nfinish_reason = 'tool_calls'\n")


def test_invalid_calls_of_langchain_are_read_beside_an_empty_one():
    text = (
        "tool_calls= [{'name': '', 'args': {}, 'id': None, 'type': 'tool_call'}]\n"
        "invalid_tool_calls= [{'name': 'go', 'args': '\"city\": \"Oslo\"}', 'id': 'a', 'type': 'invalid_tool_call'}]\n"
    )

    assert "The beginning of the arguments of the call to `go` is missing" in titles(text)


@pytest.mark.parametrize(
    "text",
    [
        "tool_calls= []\ninvalid_tool_calls= []\n",
        f"tool_calls = [{CALL}]\nclient.chat.completions.create(model='m', messages=[], tools=tool_calls)\n",
        "tool_calls = [build(one) for one in calls]\n",
    ],
)
def test_a_program_and_empty_lists_are_no_printed_answer(text):
    try:
        words = read_evidence(text).words
    except RequestError:
        return
    assert "printed fields" not in words


def test_whole_printed_calls_have_nothing_wrong_with_them():
    assert codes("tool_calls= [{'name': 'look', 'args': {'q': 'x'}, 'id': 'a', 'type': 'tool_call'}]\n") == set()


def test_arguments_that_begin_as_prose_are_not_open_arguments():
    text = f"{chunk(role='assistant', content='')}{piece('Hello', 'get_time')}{piece(' to you', 'get_time')}"
    text = f"Response.\n```\nHTTP/1.1 200 OK\n\n{text}\n```"

    assert "The arguments of the call to `get_time` are prose, not JSON" in titles(text)


@pytest.mark.parametrize("begun", ['{"zo', "", '"{', "  ", "tru"])
def test_open_arguments_may_go_on(begun):
    text = f"Response.\n```\nHTTP/1.1 200 OK\n\n{piece(begun, 'get_time')}{piece('ne', None)}\n```"

    assert "prose" not in titles(text)


def test_a_member_in_a_line_of_prose_is_read_across_a_break_of_the_line():
    text = (
        "## Actual\n\nThe response contains:\n\n"
        '  "arguments":"{\\"city\\":\\"Oslo\\"}{\\"city\\":\\"Oslo\\"}{\\"city\\":\n  \\"Oslo\\"}"\n\nClients fail.'
    )

    assert "3 JSON objects end to end" in titles(text)


def test_a_member_whose_text_is_whole_or_shortened_is_not_read():
    for arguments in ('{\\"city\\":\\"Oslo\\"}', '{\\"city\\":\\"Os...'):
        with pytest.raises(RequestError):
            read_evidence(f'## Actual\n\nThe response contains:\n\n  "arguments":"{arguments}"\n\nClients fail.')


def test_a_whole_call_below_the_word_arguments_is_named():
    call = '{"name": "convert_money", "arguments": {"amount": 5}}'

    assert "PD453" in codes(f"Arguments:\n{call}\n")
    assert "PD453" not in codes('Arguments:\n{"name": "Oslo", "arguments": {"amount": 5}}\n')
    assert "PD453" not in codes(f"{call}\n")


def test_an_answer_cut_within_its_reasoning_says_so():
    text = '{"choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_content":"Well, the us'

    with pytest.raises(RequestError, match="ends inside `reasoning_content`"):
        read_evidence(text)
    with pytest.raises(RequestError, match="before any call"):
        read_evidence('{"choices":[{"index":0,"message":{"role":"assistant","content":"Well, the us')


@pytest.mark.parametrize(
    ("opener", "is_said"), [("", True), ("<tool_call>\n", False), ("<tool_call>\n<tool_call>\n", False)]
)
def test_an_open_call_without_its_opener_says_both(opener, is_said):
    text = f"{opener}<function=look_up>\n<parameter=prompt>\nList all documents"

    assert "ends early" in titles(text)
    assert ("`<tool_call>` before it is missing" in titles(text)) is is_said


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('BEFORE: 1 call -> name=get_time, arguments={"city": "Oslo"}{"tz": "UTC"}   (invalid)', "to `get_time`"),
        ('合并后 `arguments = \'{"city":"Oslo"}{"city":"Rome"}\'` 的调用', "whose name was not copied"),
    ],
)
def test_whole_objects_end_to_end_are_read_in_a_sentence(text, name):
    assert f"{name} contain 2 JSON objects end to end" in titles(text)


@pytest.mark.parametrize(
    "text",
    [
        'It accepts arguments={"a": 1} {"b": 2} as two examples.',
        'It accepts arguments: {"a": 1}, {"b": 2}.',
        'It accepts arguments={"a": 1}.',
        'It accepts arguments={"a": 1}{"b": as well.',
    ],
)
def test_objects_that_are_apart_or_open_are_no_joined_arguments(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize("name", ["parameters", "arguments"])
def test_a_member_of_a_tool_is_no_broken_arguments(name):
    text = f'The endpoint rejects a tool whose schema is:\n```json\n"{name}": {{}}\n```\nIt fails.'

    with pytest.raises(RequestError):
        read_evidence(text)


def choice(call: str, name: str, index: int | None = None) -> str:
    piece = {"id": call, "function": {"name": name, "arguments": "{}"}}
    numbered = piece if index is None else {"index": index, **piece}
    return json.dumps({"delta": {"tool_calls": [numbered]}})


def test_choices_of_chunks_below_comments_are_one_stream_without_index():
    text = f"```\n// Chunk 1\n{choice('a', 'look')}\n\n// Chunk 2 (of its own)\n{choice('b', 'look')}\n```\n"

    assert "A tool call delta of the stream has no index" in titles(text)


def test_choices_of_chunks_with_an_index_have_nothing_wrong_with_them():
    text = f"{choice('a', 'look', 0)}\n{choice('b', 'look', 1)}\n"

    assert "PD417" not in codes(text)


def test_a_shortened_signature_leaves_nothing_else_out():
    signed = choice("a", "look").replace('"id"', '"extra_content": {"thought_signature": "EjQK..."}, "id"')

    assert "PD417" in codes(f"```\n// Chunk 1\n{signed}\n\n// Chunk 2\n{choice('b', 'look')}\n```\n")
    shortened = choice("a", "look").replace('"{}"', '"{\\"q\\": ...')
    with pytest.raises(RequestError):
        read_evidence(f"```\n// Chunk 1\n{shortened}\n```\n")


def test_whole_calls_with_others_left_out_beside_them_are_shown():
    value = '<｜DSML｜parameter name="cmd" string="true">ls</｜DSML｜parameter>'
    call = f'<｜DSML｜invoke name="run">\n{value}\n</｜DSML｜invoke>'

    assert "PD463" in codes(f"<｜DSML｜tool_calls>\n{call}\n{call}\n...\n</｜DSML｜tool_calls>")
    assert "PD463" not in codes(f"...\n{call}\n</｜DSML｜tool_calls>")


LLAMA_INDEX = (
    "ChatResponse(message=ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={{}}, "
    "blocks=[TextBlock(block_type='text', text='{so_far}')]), raw=ChatCompletionChunk(id='c', choices=[Choice("
    "delta=ChoiceDelta(content='{new}', role='assistant', tool_calls=None), finish_reason={reason}, index=0)], "
    "created=1, model='m', object='chat.completion.chunk'), delta='{new}', logprobs=None)"
)


def test_the_events_of_llama_index_are_a_stream_and_no_conversation():
    pieces = [("Hel", "None"), ("lo", "None"), ("", "'stop'")]
    events = [
        LLAMA_INDEX.format(so_far="Hello"[: 3 + 2 * at], new=new, reason=reason)
        for at, (new, reason) in enumerate(pieces)
    ]

    evidence = read_evidence("[" + ",\n".join(events) + "]")

    assert evidence.request is None
    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "Hello"
    assert evidence.chat.finish_reason == "stop"
