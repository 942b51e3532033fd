"""What reports show in forms that were taken for something else: a wanted prompt, ids of open calls, quoted calls."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.evidence import Part, read_evidence, show_evidence
from prompt_debugger.core.evidence.reports.shown import shown_code
from tests.attacks.growth import grows_linearly


async def findings(text):
    return (await show_evidence(read_evidence(text))).findings


# --- the prompt that is complained of ----------------------------------------------


def prompt(end):
    return (
        f"<|im_start|>system\nBe kind.{end}<|im_end|>\n<|im_start|>user\nHello{end}<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("wanted", ["A prompt must look like this:", "It should be:"])
async def test_of_two_prompts_the_one_is_read_that_is_not_what_ought_to_come(wanted):
    text = f"{wanted}\n```\n{prompt('')}```\n\nBut the template renders\n\n```\n{prompt(chr(10))}```\n"

    assert "PD234" in {one.code for one in await findings(text)}


async def test_what_a_sentence_with_must_says_of_something_else_leaves_the_prompt_alone():
    text = f"The messages must come first. It renders\n```\n{prompt(chr(10))}```\n"

    assert "PD234" in {one.code for one in await findings(text)}


# --- pieces of calls that are still open -------------------------------------------


def pieces(*deltas):
    return "\n".join(f"Chunk {number}: {json.dumps(one)}" for number, one in enumerate(deltas, 1))


OPEN = {"id": "call_9", "function": {"name": "load_skill", "arguments": ""}}


async def test_an_empty_id_is_noted_though_the_call_is_still_open():
    found = await findings(pieces(OPEN, {"id": "", "function": {"arguments": '{"skill": "my-s'}}))

    assert [(one.code, one.severity.value) for one in found] == [("PD417", "note")]


async def test_a_later_piece_without_a_name_is_not_one_whose_name_is_null():
    found = await findings(pieces(OPEN, {"function": {"arguments": '{"skill": "my-s'}}))

    assert found == ()


# --- an item of Responses alone ----------------------------------------------------

PATCH = {
    "type": "custom_tool_call",
    "call_id": "call_1",
    "name": "apply_patch",
    "input": "*** Begin Patch\n*** End Patch",
}


@pytest.mark.parametrize("value", [PATCH, [PATCH], {"output": [PATCH]}])
def test_a_custom_call_alone_is_an_answer(value):
    assert read_evidence(json.dumps(value)).holds == (Part.MESSAGE,)


def test_a_body_with_an_input_and_a_type_of_another_kind_is_a_request():
    assert read_evidence(json.dumps({"model": "m", "input": "Hello"})).holds == (Part.REQUEST,)


# --- a call in quotes --------------------------------------------------------------

CALL = '[TOOL_CALLS]{"content": Window opened}'


@pytest.mark.parametrize("quoted", [f"'{CALL}'", f'"{CALL}"', f"\u201c{CALL}\u201d"])
async def test_a_call_that_a_sentence_quotes_is_the_output(quoted):
    text = f"With this model the answer sometimes is a call that makes no sense.  {quoted} The window was open already."

    assert read_evidence(text).raw == CALL


@pytest.mark.parametrize("quoted", ["'[TOOL_CALLS]'", "'[TOOL_CALLS]name[ARGS]{json}'"])
def test_a_marker_in_quotes_is_a_word(quoted):
    text = f"With this model the answer sometimes begins with {quoted} and then it goes on, which makes no sense to me."

    assert shown_code(text) is None


def test_looking_for_quoted_calls_takes_time_in_proportion_to_the_text():
    assert grows_linearly(lambda size: shown_code("'[TOOL_CALLS]{ " * size), first=500)
