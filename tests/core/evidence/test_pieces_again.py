"""Pieces of answers of which a part was cut or elided prove neither an end nor broken arguments."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

CALL = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}


async def codes(text):
    return {one.code for one in (await show_evidence(read_evidence(text))).findings}


async def test_a_finish_reason_contradicts_no_call_of_which_a_part_was_left_out():
    text = '{"choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", '
    text += '"type": "function", "<snip>finish_reason": "tool_calls"}], "usage": {"completion_tokens": 30}}'

    assert "PD412" not in await codes(text)


async def test_a_finish_reason_contradicts_a_message_that_is_whole():
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "tool_calls"}]}

    assert "PD412" in await codes(json.dumps(answer))


@pytest.mark.parametrize("prompt", ["root@host:/app# ", "user@host:~$ ", "~/app $ "])
async def test_a_shell_s_prompt_below_a_cut_answer_is_no_finish_reason(prompt):
    whole = json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}, "finish_reason": "stop"}]})
    text = f"I get\n\n```json\n{whole.partition(chr(34) + 'stop')[0]}\n{prompt}\n```\n"

    assert "PD323" not in await codes(text)


async def test_a_finish_reason_without_quotes_is_one():
    text = "ChatCompletion(id='x', choices=[Choice(finish_reason=halted, index=0, message=Message(content='Hi.'))])"

    assert "PD323" in await codes(text)


@pytest.mark.parametrize("text", ['{"city": "Oslo"}<|tool', '{"city": "Oslo"}</', ', "arguments": {"city": "Oslo"}}'])
def test_arguments_with_a_piece_of_what_is_around_them_are_not_broken(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize("text", ['\', "arguments": {"a": 1}}\'', '{"city": "Oslo"}{"city": "Rome"}'])
async def test_arguments_that_are_quoted_whole_are_what_they_are(text):
    assert await codes(text) & {"PD450", "PD451", "PD453"}


@pytest.mark.parametrize("arguments", ["", "{}"])
async def test_the_first_piece_of_a_streamed_call_lacks_no_arguments(arguments):
    piece = {"index": 0, **CALL, "function": {"name": "find", "arguments": arguments}}
    text = f'tool_calls": [{json.dumps(piece)}]}}, "finish_reason": null}}]}}'

    try:
        assert "PD416" not in await codes(text)
    except RequestError:
        assert not arguments
