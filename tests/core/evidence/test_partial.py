"""Of a text that is not whole only what is there to be seen is said, by whatever rule."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.comparable import is_partial
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.copying.wrapped import join_print
from tests.attacks.growth import grows_linearly

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
PRINTED = (
    "ChatCompletion(id='x', choices=[Choice(finish_reason='stop', index=0, logprobs=None, message="
    "ChatCompletionMessage(content='Hello', refusal=None, role='assistant', tool_calls=None))], created=1, model='m', "
    "object='chat.completion')"
)


def shown(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return trace, {finding.code for finding in trace.findings}


def test_few_rules_are_asked_of_a_part_and_each_sees_what_is_there():
    asked = {rule.name for rule in RULES.values() if getattr(rule, "stands_in_part", False)}

    assert "python-arguments" in asked
    assert not asked & {"missing-call-id", "unpaired-tool-result", "unknown-finish-reason", "empty-answer"}


def test_nothing_follows_from_what_a_request_lacks_whose_two_ends_were_not_copied():
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]})

    trace, codes = shown(", " + body[1:-30])

    assert is_partial(trace)
    assert codes <= {"PD227"}


def test_a_fault_that_is_there_is_still_said():
    broken = {**CALL, "function": {"name": "get_weather", "arguments": "{'city': 'Oslo'}"}}
    text = json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [broken]}}], "usage": {"total": 7}})

    trace, codes = shown(text.replace('"usage"', '...\n"usage"'))

    assert is_partial(trace)
    assert "PD450" in codes


def test_a_string_that_lost_its_key_shows_that_something_was_left_out():
    usage = '"usage": {"prompt_tokens": 9, "completion_tokens": 30, "total_tokens": 39}'
    text = f'{{"choices": [{{"index": 0, "message": {{"r…/tool_call>", "tool_calls": []}}}}], {usage}}}'

    with pytest.raises(RequestError, match="left out"):
        shown(text)


@pytest.mark.parametrize("arguments", ['{"city"..."Oslo"}', '{"city": <snip>}', "{\\”city\\”: \\”Oslo\\”}"])
def test_arguments_that_someone_shortened_or_retyped_are_no_fault(arguments):
    call = {**CALL, "function": {"name": "get_weather", "arguments": arguments}}
    text = json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "stop"}]})

    codes: set[str] = set()
    with suppress(RequestError):  # nothing is left of it
        codes = shown(text)[1]

    assert not codes & {"PD308", "PD506", "PD450"}


def test_three_dots_within_a_value_shorten_nothing():
    call = {**CALL, "function": {"name": "get_weather", "arguments": "{'city': 'Os... or so'}"}}
    text = json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "stop"}]})

    assert "PD450" in shown(text)[1]


@pytest.mark.parametrize(
    "before", ["", "Mar  3 10:00:01 host app[12]: ", "| version | output |\n| --- | --- |\n| 1 | "]
)
def test_a_printed_object_that_a_terminal_wrapped_is_on_one_line_again(before):
    head, _, start = before.rpartition("\n")
    line = start + PRINTED
    wrapped = "\n".join(line[at : at + 72] for at in range(0, len(line), 72))

    joined = join_print(f"{head}\n{wrapped}" if head else wrapped)

    assert joined is not None
    assert joined.endswith(PRINTED)


def test_a_printed_object_on_lines_of_its_own_stays_so():
    assert join_print(PRINTED) is None
    assert join_print(PRINTED.replace(", ", ",\n  ")) is None
    wrapped = [PRINTED[at : at + 72] for at in range(0, len(PRINTED), 72)]
    assert join_print("\n".join(f"{97 + number}|{line}" for number, line in enumerate(wrapped[:2]))) is None
    assert join_print("\n".join(f"> {line}" for line in wrapped)) is None
    assert join_print(f"{'x' * 72}\n{'y' * 72}\nz {PRINTED}") is None


def test_a_fence_within_folded_html_is_read_alone():
    output = '<tool_call>\n{"name": "f", "arguments": {"a"'
    text = f"<details>\n<summary>Output</summary>\n\n~~~json\n{output}\n~~~\n\n</details>"

    trace, codes = shown(text)

    assert trace.raw is not None
    assert "details" not in trace.raw.text
    assert "PD308" not in codes


def test_a_stripped_text_with_an_output_below_it_is_no_content_without_control_tokens():
    stripped = "analysisI look it up.assistantfinalFour."
    output = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>'

    alone, below = shown(stripped)[0], shown(f"{stripped}\n\n{output}")[0]

    assert alone.chat is not None
    assert not any("no control token" in note for note in below.notes)


def test_a_call_that_somebody_shortened_was_not_dropped_by_a_parser():
    raw = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>'
    call = {**CALL, "function": {"name": "get_weather", "arguments": '{…Oslo"}'}}
    pair = {"raw": raw, "message": {"role": "assistant", "content": None, "tool_calls": [call]}}

    trace, codes = shown(json.dumps(pair))

    assert is_partial(trace)
    assert not codes & {"PD401", "PD402", "PD403"}


def test_a_printed_string_ends_before_a_blank_line():
    cut = "ChoiceDelta(content='Hello', role='assistant', tool_calls=None)\nChoiceDelta(content=' th\n\n"

    trace, codes = shown(cut + 'What\'s this?\n\n<tool_call>\n{"name": "f"}\n</tool_call>')

    assert trace.chat is None or "tool_call" not in str(trace.chat.message.get("content"))
    assert "PD406" not in codes


def test_an_output_that_ends_inside_a_call_is_not_compared_with_the_answer_above_it():
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]}
    output = '<|im_start|>assistant\n<tool_call>\n{"name'

    _, codes = shown(f"{json.dumps(answer)}\n\n```\n{output}\n```")

    assert not codes & {"PD301", "PD401", "PD403"}


def test_a_wrapped_paragraph_loses_its_margin_too():
    line = json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}, "finish_reason": "stop"}]})
    wrapped = "\n".join(f"    {line[at : at + 50]}" for at in range(0, len(line), 50))

    trace, codes = shown(f"{wrapped}\n\nNothing else came.")

    assert trace.chat is not None
    assert trace.chat.message["tool_calls"] == [CALL]
    assert "PD466" not in codes


def test_joining_takes_linear_time():
    assert grows_linearly(lambda size: join_print("ChatCompletion(id=\n" + ("a" * 70 + "\n") * size), first=40)
