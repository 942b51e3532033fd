"""A raw output that a report labels beside an answer, and words that complain of an answer in which nothing shows."""

import json

import pytest

from prompt_debugger.core.base.types import Basis
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.evidence import trace_of


def answer(arguments):
    call = {"id": "c1", "type": "function", "function": {"name": "find_train", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})


def stream(arguments):
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "find_train", "arguments": arguments}}
    chunks = ({"tool_calls": [call]}, None), ({}, "tool_calls")
    lines = [{"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in chunks]
    return "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n"


CALL = '{"name": "find_train", "arguments": {"to": "Bergen"}}'
MARKED = f"<tool_call>\n{CALL}\n</tool_call>"


@pytest.mark.parametrize(
    "text",
    [
        f"raw: [{CALL}]\n\nstreamed:\n{stream('{}')}",
        f"**Raw output:** [{CALL}]\n\nThe answer:\n{answer('{}')}",
        f"Model output:\n```\n{MARKED}\n```\n\nWhat came:\n{answer('{}')}",
        f"raw model output:\n{MARKED}\n\nwhat the client sees:\n```json\n{answer('{}')}\n```",
    ],
)
async def test_a_labelled_raw_output_is_compared_with_the_answer(text):
    evidence = read_evidence(text)
    trace = await show_evidence(evidence)

    assert "find_train" in (evidence.raw or "")
    assert trace_of(evidence).evidence is Basis.ASSUMED_RUN
    assert {finding.code for finding in trace.findings} & {"PD402", "PD404"}, text
    assert "No problem" not in trace.verdict.sentence


@pytest.mark.parametrize(
    "text",
    [
        f"raw: true\n\n{answer('{}')}",
        f"Expected:\nraw: [{CALL}]\n\n{answer('{}')}",
        f'raw: [{{"name": "sing", "arguments": {{"song": "Halleluja"}}}}]\n\n{answer("{}")}',
        f'raw: [{{"name": "find_train", "arguments": {{"to": ...}}}}]\n\n{answer("{}")}',
        f"raw: [{CALL}]\nraw: [{CALL.replace('Bergen', 'Oslo')}]\n\n{answer('{}')}",
    ],
)
def test_what_is_no_raw_output_of_this_run_is_not_compared(text):
    assert read_evidence(text).raw is None


async def test_an_answer_of_which_someone_complains_is_not_called_healthy():
    said = "The arguments are wrong with this release."
    complained = await show_evidence(read_evidence(f"{said}\n\n{answer('{}')}"))
    praised = await show_evidence(read_evidence(f"Nothing is wrong with this release.\n\n{answer('{}')}"))

    assert "is not visible in the answer alone" in complained.verdict.sentence
    assert "No problem was found" in praised.verdict.sentence


async def test_a_note_is_named_where_the_words_complain():
    choices = [
        {"delta": {"content": "Hel"}, "finish_reason": ""},
        {"delta": {"content": "lo"}, "finish_reason": "stop"},
    ]
    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]} for choice in choices]
    lines = "\n\n".join(f"data: {json.dumps(chunk)}" for chunk in chunks)
    text = f"The finish_reason is wrong, this breaks our client.\n\n```\n{lines}\n\ndata: [DONE]\n```\n"

    run = await show_evidence(read_evidence(text))

    assert [finding.code for finding in run.findings] == ["PD323"]
    assert "Nothing more serious than a note was found" in run.verdict.sentence
    assert "not visible" not in run.verdict.sentence
