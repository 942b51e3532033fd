"""Hermes and Qwen: JSON in tags, and what models make of it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS
from tests import strategies

TOOLS = (strategies.tool_for("get_weather", {"city": "x"}), strategies.tool_for("search", {"q": "x"}))
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'


def read(raw, **context):
    return FORMATS["hermes"].read(raw, ReadContext(tools=TOOLS, **context))


@pytest.mark.parametrize(
    ("body", "name", "arguments", "status"),
    [
        (CALL, "get_weather", '{"city": "Paris"}', "complete"),
        ('{"arguments": {"a": {"b": [1, "}"]}}, "name": "f"}', "f", '{"a": {"b": [1, "}"]}}', "complete"),
        ('{"name": "f"}', "f", "", "complete"),
        ('{"name": "f", "arguments": {}}', "f", "{}", "complete"),
        ('{"name": "f", "parameters": {"a": 1}}', "f", '{"a": 1}', "complete"),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', "f", '"{\\"a\\": 1}"', "complete"),
        ('{"name": "f", "arguments": {"a": "\\u00e9\\n"}}', "f", '{"a": "\\u00e9\\n"}', "complete"),
        ('{"function": {"name": "f", "arguments": {"a": 1}}}', "f", '{"a": 1}', "complete"),
        ('{"arguments": {"a": 1}}', None, '{"a": 1}', "malformed"),
        ('{"name": "f", "arguments": {"a": 1}', "f", '{"a": 1}', "malformed"),
        ('{"name": "f", "arguments": {"a": "x\n"}}', "f", '{"a": "x\n"}', "malformed"),
        ('{"name": "f", "arguments": {a: 1}}', "f", "{a: 1}", "malformed"),
        ('{"name": "f", "arguments": 7}', "f", "7", "malformed"),
    ],
)
def test_a_tag_gives_one_call_with_what_its_json_holds(body, name, arguments, status):
    (found,) = read(f"<tool_call>\n{body}\n</tool_call>").calls

    assert (found.name, found.arguments, found.status) == (name, arguments, status)
    assert (found.problem is None) == (status == "complete") or found.problem.startswith("the arguments are JSON")


def test_the_closing_tag_inside_a_string_is_part_of_the_string():
    text = '{"q": "</tool_call><tool_call>{"}'

    parsed = read(
        f'A.\n<tool_call>\n{{"name": "search", "arguments": {text}}}\n</tool_call>\n<tool_call>\n{CALL}\n</tool_call>'
    )

    assert [text, '{"city": "Paris"}'] == [found.arguments for found in parsed.calls]
    assert parsed.content == "A."


def test_one_broken_sibling_spoils_no_other_call():
    raw = f'<tool_call>\n{{"name": "f", "arguments": {{"a": "x}}\n</tool_call>\n<tool_call>\n{CALL}\n</tool_call>'

    assert [found.status for found in read(raw).calls] == ["malformed", "complete"]


@pytest.mark.parametrize(
    ("raw", "name", "arguments"),
    [
        ("<tool_call>", None, ""),
        ("<tool_call>\n{", None, ""),
        ('<tool_call>\n{"name": "get_w', "get_w", ""),
        ('<tool_call>\n{"name": "get_weather", "arguments": ', "get_weather", ""),
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Par', "get_weather", '{"city": "Par'),
        (f"<tool_call>\n{CALL}", "get_weather", '{"city": "Paris"}'),
    ],
)
def test_a_cut_call_is_truncated_with_what_there_is(raw, name, arguments):
    (found,) = read(raw, finish_reason="length").calls

    assert (found.name, found.arguments, found.status) == (name, arguments, "truncated")


@pytest.mark.parametrize(
    ("raw", "reasoning", "content"),
    [
        ("<think>\nHm.\n</think>\n\nHello.", "Hm.", "Hello."),
        ("<think>\n\n</think>\n\nHello.", "", "Hello."),
        ("<think>\n  a\n\n</think>\n\n\nb\n", "  a\n", "\nb\n"),
        ("Hello.\n", None, "Hello.\n"),
        (f"Hello.\n\n<tool_call>\n{CALL}\n</tool_call>", None, "Hello.\n"),
        (f"\n\n<tool_call>\n{CALL}\n</tool_call>\n", None, None),
        (f"<tool_call>\n{CALL}\n</tool_call>\nDone.", None, "Done."),
        (f"Hello.\n<tool_call>\n{CALL}\n</tool_call>\nDone.", None, "Hello.\nDone."),
        ("<|im_end|>", None, None),
        ("", None, None),
    ],
)
def test_line_breaks_that_the_template_writes_are_framing_and_no_others(raw, reasoning, content):
    parsed = read(raw)

    assert (parsed.reasoning, parsed.content) == (reasoning, content)


def test_later_reasoning_blocks_are_reasoning_too():
    parsed = read(f"<think>\na\n</think>\n\nOne.\n<tool_call>\n{CALL}\n</tool_call>\n<think>\nb\n</think>\n\nTwo.")

    assert (parsed.reasoning, parsed.content) == ("ab", "One.Two.")
    assert len(parsed.calls) == 1


def test_reasoning_tags_inside_arguments_are_arguments():
    raw = '<tool_call>\n{"name": "search", "arguments": {"q": "<think>x</think>"}}\n</tool_call>'

    parsed = read(raw)

    assert (parsed.reasoning, parsed.content) == (None, None)
    assert [found.arguments_json for found in parsed.calls] == [{"q": "<think>x</think>"}]
