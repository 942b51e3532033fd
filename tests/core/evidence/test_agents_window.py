"""What is copied out of an agent's window: content without escapes, a speaker's line, the agent's words below."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence.copying.escaping import escape_content
from prompt_debugger.core.evidence.reports.split import split
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

CALL = '<tool_call>\n{"name": "look_up", "arguments": {"city": "Bern"}}\n</tool_call>'
BELOW = "Model Response Incomplete\nThe model failed to use any tools in its response."


def codes_of(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


@pytest.mark.parametrize("behind", ['"tool_calls": []', '"refusal": null, "role": "assistant"'])
def test_content_whose_quotation_marks_are_not_escaped_is_read_with_its_call(behind):
    text = f'{{"content": "<function=look_up>{{"city": "the old town of Bern"}} </function>", {behind}}}'

    assert "PD426" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"role": "assistant", "content": "He said "no" and left", "tool_calls": []}',
        '{"role": "assistant", "content": "<function=f>{\\"a\\": 1}</function>"}',
        '{"role": "assistant", "content": "<function=f>{"a": 1}</function>", "tool_calls": [',
        'The content was "content": "<function=f>{"a": 1}</function>"}',
    ],
)
def test_prose_whole_json_and_what_is_broken_elsewhere_stay_as_they_are(text):
    assert escape_content(text) is None


def test_a_call_above_the_words_of_an_agent_that_saw_none_is_one_in_content():
    codes = codes_of(f"Roo said\n{CALL}\n\n{BELOW}")

    assert codes >= {"PD426", "PD445"}
    assert shown(f"{CALL}\n\nA line of the model.\n").refusal is None


def test_prose_above_such_words_holds_no_call():
    assert "PD426" not in codes_of(f"<br>I will look into it.\n\n{BELOW}")


def test_the_end_of_a_call_of_minimax_shows_that_its_beginning_is_missing():
    tail = '<parameter name="city">Bern</parameter>\n</invoke>\n</minimax:tool_call>'

    assert any("`minimax_m2`" in one.title for one in shown(tail).findings)
    assert "PD463" not in codes_of("The answer ends with `</minimax:tool_call>` and </parameter> is above it.")


@pytest.mark.parametrize(("off", "is_advised"), [("false", False), ("true", True)])
def test_a_piece_of_the_request_beside_an_answer_that_turns_thinking_off_is_not_advised_again(off, is_advised):
    answer = (
        '{"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": '
        '{"role": "assistant", "content": null, "reasoning_content": "Bern is in Switzerland, on the Aare."}}]}'
    )
    found = shown(
        f'The request:\n{{\n"chat_template_kwargs": {{"enable_thinking": {off}}}\n}}\nThe answer:\n{answer}\n'
    )
    fix = next(one.fix for one in found.findings if one.code == "PD459")

    assert ("enable_thinking" in (fix or "")) is is_advised


@pytest.mark.parametrize("part", ['"content": "<function=', '", "role": ', '\\"', "<tool_call>"])
def test_a_flood_takes_linear_time(part):
    text = '{"content": "<function=f>{"a": '
    assert grows_linearly(lambda size: escape_content(text + part * size), first=100, tries=2, doublings=5)


CALLS = '[{"name": "look_up", "arguments": {"city": "Bern"}}]'
LOG = '(APIServer pid=1) INFO:     10.0.0.7:39458 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n\n'


@pytest.mark.parametrize(
    "text",
    [
        f"Me: weather in Bern\n\nAI: {CALLS}",
        f"**User**: weather in Bern\n\n**Assistant**: {CALLS}",
        "AI: [{'name': 'look_up', 'arguments': {'city': 'Bern'}}]",
        f"{LOG}AI: {CALLS}",
    ],
)
def test_a_list_of_calls_that_a_model_said_is_read_as_one_call_is(text):
    assert [finding.code for finding in shown(text).findings] == ["PD463"]


@pytest.mark.parametrize(
    "text",
    [
        f"Tools: {CALLS}",
        'Assistant: [{"name": "look_up", "description": "Looks up", "parameters": {"type": "object"}}]',
        'AI: [{"name": "Bern", "population": 140000}]',
        "AI: [{'name': 'Bern', 'population': 140000}]",
    ],
)
def test_other_lists_below_a_label_are_no_calls(text):
    with pytest.raises(RequestError):
        shown(text)


def test_labels_in_bold_and_a_list_that_is_said_are_found_in_linear_time():
    assert grows_linearly(lambda size: split("**" + "a " * size), first=20_000)
    assert grows_linearly(lambda size: split("AI: [{'name': " * size), first=2_000)
