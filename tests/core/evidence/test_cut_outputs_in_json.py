"""Outputs inside JSON that is cut, and printed calls of which more was around: no fault of a model is made of them."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

CUT = '{"raw": "<tool_call>\\n{\\"name\\": \\"get_weather\\", \\"arguments\\": {\\"city\\": \\'
WHOLE = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
PRINTED = "{'name': 'get_weather', 'arguments': '{\"city\": \"Oslo\"}'}"


@pytest.mark.parametrize("text", [f"she wrote:\n| {CUT}\n\n{WHOLE}", f'the "content":\n\n~~~text\n{CUT[:-1]}Os\n~~~'])
def test_a_cut_string_of_json_is_no_output(text):
    with pytest.raises(RequestError, match="an output inside incomplete JSON"):
        read_evidence(text)


@pytest.mark.parametrize("text", [WHOLE, f"she wrote:\n\n{WHOLE}", f'the "raw": {{}} was\n\n{WHOLE}'])
def test_a_whole_output_beside_words_is_read(text):
    assert [call.name for call in shown(text).parse.parsed.calls] == ["get_weather"]


@pytest.mark.parametrize("text", [PRINTED, PRINTED + "}]", f"({PRINTED})"])
def test_a_printed_function_of_a_call_is_a_part_of_an_answer(text):
    trace = shown(text)

    assert trace.chat is not None
    assert [call["function"]["name"] for call in trace.chat.message["tool_calls"]] == ["get_weather"]
    assert not trace.findings


def test_a_printed_call_with_an_object_of_arguments_may_be_a_models_own_text():
    trace = shown("{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}")

    assert trace.chat is None or not trace.chat.message.get("tool_calls")


def test_an_answer_that_breaks_off_takes_nothing_of_the_next_one():
    begun = '{"message": {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "'
    other = '{"id": "x", "choices": [{"message": {"role": "assistant", "content": (truncated)}]}'

    with pytest.raises(RequestError):
        read_evidence(f"{begun}\n\n{other}")


@pytest.mark.parametrize("created", ["1", "1.5"])
def test_a_key_that_lost_its_quotation_mark_is_no_end_of_the_text(created):
    message = (
        '{ "type": "message", "id": "m", "role": "assistant", "content": [{ "type": "output_text", "text": "Hi" }] }'
    )
    rest = 'top_p": 0.95, "truncation": "disabled", "usage": { "output_tokens": 2 }, "user": null, "metadata": {} }'
    text = f'{{"id": "", "object": "response", "created_at": {created}, "error": null, "output": [{message}], {rest}'

    try:
        said = " ".join(read_evidence(text).notes)
    except RequestError as error:
        said = str(error)

    assert "passages that are not JSON" in said or "A quotation mark is missing before the key 'top_p'" in said
    assert "ends" not in said
