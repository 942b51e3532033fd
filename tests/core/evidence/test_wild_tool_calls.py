"""What people paste about tool calls that were changed on their way: pieces of a stream, elided prints, fragments."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.evidence import read_evidence, show_evidence


def shown(text: str) -> Trace:
    return asyncio.run(show_evidence(read_evidence(text)))


def codes(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


def said(text: str) -> str:
    return " ".join(f"{one.title} {one.detail} {one.fix}" for one in shown(text).findings)


def piece(arguments: str, name: str | None = None, **delta: str) -> str:
    call = {"index": 0, "function": {"name": name, "arguments": arguments}}
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": {**delta, "tool_calls": [call]}}]}) + "\n\n"


def test_pieces_that_repeat_the_role_may_come_from_the_middle_of_a_call():
    with pytest.raises(RequestError, match="begins in the middle of a call"):
        read_evidence(piece('ity": "', role="assistant") + piece('Paris"', role="assistant"))


def test_pieces_that_repeat_the_role_and_never_have_a_name_are_a_call_without_one():
    assert "PD466" in codes(piece('{"city"', role="assistant") + piece(': "Paris"}', role="assistant"))


def test_markers_that_are_plain_text_are_no_lost_tokens():
    content = '<think>Hm.</think>[TOOL_REQUEST]{"name": "f", "arguments": {}}[END_TOOL_REQUEST]'
    text = said(json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}))

    assert "read the JSON between the two markers" in text
    assert "skip_special_tokens" not in text
    assert "removed" not in text


@pytest.mark.parametrize(
    ("quoted", "says"),
    [
        ("''', ...\"\"files\": ['a.py', \"...", "single quotes"),
        ('\'b\', ...""text": "a"b"c"}"...', "breaks in the middle"),
        ("'<', \"<tool_call\"...", "markup of a call"),
        ("'<', \"<!DOCTYPE \"...", "wrong address"),
    ],
)
def test_the_place_that_a_decoder_quotes_says_what_is_wrong(quoted, says):
    assert says in said(f"SyntaxError: Unexpected token {quoted} is not valid JSON")


def test_strings_with_an_empty_line_between_them_are_not_joined():
    text = said("'{\"a\": 1}{\"a\": 1}'\n\n'Error: Extra data: line 1 column 9 (char 8)'")

    assert "}Error" not in text
    assert "more follows its first value" in text
