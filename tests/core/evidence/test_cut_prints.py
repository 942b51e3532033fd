r"""A print that is cut, or shortened with `...`, is read as far as it shows a call in content."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.evidence import read_evidence, show_evidence

CALL = r"<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>".replace('\\"', '"')
HUMAN = "HumanMessage(content='1 + 1?', additional_kwargs={}, response_metadata={}, id='h1')"


def found(text: str) -> tuple[Finding, ...]:
    return asyncio.run(show_evidence(read_evidence(text))).findings


@pytest.mark.parametrize("end", ["response_metadata={'token_usage': {'total_tokens': 25, ...", "response_met"])
def test_a_last_message_that_is_cut_behind_its_content_is_the_answer(end):
    text = f"{{'messages': [{HUMAN}, AIMessage(content='{CALL}', additional_kwargs={{}}, {end}"

    assert [one.code for one in found(text)] == ["PD426"]


@pytest.mark.parametrize("after", ["...", "...\n\nThat is not a call.", "\u2026"])
@pytest.mark.parametrize("length", [35, 50])
def test_a_call_that_begins_in_shortened_content_is_shown_where_it_is(length, after):
    only, *others = found(f"The agent returns\n\nAIMessage(content='{CALL[:length]}{after}")

    assert only.code == "PD426"
    assert not others
    assert "begins in content" in only.title
    assert "max_tokens" not in only.fix
    assert "model stopped" not in only.detail


def test_other_content_that_is_cut_says_nothing():
    with pytest.raises(RequestError, match="ends inside `content`"):
        read_evidence("AIMessage(content='The sum is two, and it is...")


def test_a_cut_message_without_a_text_is_no_answer():
    assert not found(f"[{HUMAN}, AIMessage(content='', additional_kwargs={{'refusal': No")


@pytest.mark.parametrize("sign", ["...", "\u2026"])
def test_whole_calls_in_content_that_is_shortened_at_its_end_are_shown(sign):
    content = f"<start_function_call>call:look{{}}<end_function_call>call:look{{}}<end_function_call>call:lo{sign}"
    text = f'tool_calls    : null\nfinish_reason : "length"\ncontent       : "{content}"\n'

    assert "PD426" in [one.code for one in found(text)]


def test_shortened_content_without_a_whole_call_says_nothing():
    content = "<start_function_call>call:lo..."
    with pytest.raises(RequestError, match="No part of the answer is complete"):
        read_evidence(f'tool_calls    : null\nfinish_reason : "stop"\ncontent       : "{content}"\n')
