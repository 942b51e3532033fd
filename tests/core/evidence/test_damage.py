"""What a copy lacks is blamed on nobody: a raw output beside its message, a printed object, a wrapped body."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

CALL = '<tool_call>\n{"name": "find", "arguments": {"word": "rain"}}\n</tool_call><|im_end|>'
MADE = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"word": "rain"}'}}


def codes(text: str) -> set[str]:
    return {one.code for one in shown(text).findings}


def pair(raw: str, content: str | None = None, **made: object) -> str:
    return json.dumps({"raw": raw, "message": {"role": "assistant", "content": content, "tool_calls": [MADE | made]}})


@pytest.mark.parametrize(
    "raw",
    [
        '…: {"word": "rain"}}\n</tool_call><|im_end|>',
        '<tool_call>\n{"name": "fi...": "rain"}}\n</tool_call><|im_end|>',
        '<tool_call>\n{"… {"word": "rain"}}\n</tool_call><|im_end|>',
        '<tool_call>\n{"name"…"arguments": {"word": "rain"}}\n</tool_call><|im_end|>',
    ],
)
def test_an_output_that_was_shortened_is_compared_with_nothing(raw):
    assert not codes(pair(raw)) & {"PD401", "PD402", "PD403", "PD413"}


def test_dots_of_prose_are_the_models():
    assert "PD413" in codes(pair(f"Let me look for it... {CALL}"))
    assert "PD413" in codes(pair(f"I look…\n{CALL}"))


def test_dots_that_the_message_has_too_are_the_models():
    raw = CALL.replace("rain", "a…b")
    arguments = '{"word": "a…b"}'

    assert "PD413" in codes(pair(f"Hm. {raw}", function={"name": "find", "arguments": arguments}))


def test_a_sign_that_python_would_take_for_comparisons_leaves_a_value_unknown():
    whole = (
        "ChatCompletion(id='x', choices=[Choice(finish_reason=None, message=ChatCompletionMessage(content=None, "
        "role='assistant', tool_calls=[ChatCompletionMessageFunctionToolCall(id='call_1', function=Function("
        "arguments='{\"word\": \"rain\"}', name='find'), type='function')]))], created=1, model='m', "
        "object='chat.completion')"
    )

    assert "PD412" in codes(whole)
    assert "PD412" not in codes(whole.replace("finish_reason=", "finish_reason<snip>"))


def test_a_piece_that_goes_on_outside_is_no_content():
    piece = "{'name': 'find', 'arguments': '{\"word\": \"rain\"}'}}]}, 'finis"

    message = read_evidence(piece).chat.message

    assert message.get("content") is None
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["find"]


def test_an_object_with_agents_keys_is_still_content():
    assert "PD426" in codes('{"function": "find", "arguments": {"words": ["rain"]}}')


def test_a_body_with_a_slip_is_unwrapped_all_the_same():
    content = json.dumps(CALL.removesuffix("<|im_end|>")).replace("rain", "ra\nin")
    message = f'{{\n    "role": "assistant",\n    "content": {content},\n   }}'
    body = f'{{\n "choices": [\n  {{\n   "message": {message},\n  }}\n ]\n}}'
    found = shown(body).findings

    assert [one.code for one in found] == ["PD426"]
    assert "malformed" not in found[0].title
