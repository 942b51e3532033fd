"""Calls that stand as text in content: every family's own markup is known, what is only shown is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Request, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.calls.broken_bare_calls import open_bare_call
from prompt_debugger.core.diagnose.calls.written_calls import (
    begun_bare_call,
    fenced_calls,
    written_calls,
)
from tests.core.formats.scenarios import Written, written

# What these write is JSON, Python or words that prose may hold too; functionary has `>>>`, which quotes mail as well.
BARE = {"calling_tool", "functionary", "gemma3", "llama3_json", "pythonic", "tool_arrow", "ui_tars", "xlam"}
CALLING = [one for one in written() if one.scenario.calls and not one.scenario.reasoning]
FAMILIES = {one.format for one in CALLING}


def found(one: Written, content: str) -> list[ToolCallAttempt]:
    body: JSONObject = {"messages": [{"role": "user", "content": "Go on."}], "tools": list(one.tools)}
    return list(written_calls(Trace(request=Request(body=body, text="")), content))


def of_family(name: str) -> list[Written]:
    return [one for one in CALLING if one.format == name]


@pytest.mark.parametrize("family", sorted(FAMILIES - BARE))
def test_the_calls_of_every_family_with_markup_are_found_in_content(family: str) -> None:
    for one in of_family(family):
        names = Counter(name for name, _ in one.scenario.calls)

        assert Counter(call.name for call in found(one, one.raw)) == names, one.scenario.title


@pytest.mark.parametrize("family", sorted(BARE))
def test_a_call_without_markup_is_no_evidence(family: str) -> None:
    for one in of_family(family):
        assert found(one, one.raw) == [], one.scenario.title


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_call_in_code_is_only_shown(family: str) -> None:
    for one in of_family(family):
        if "`" not in one.raw:
            assert found(one, f"So it is written:\n```\n{one.raw}\n```\nThat is all.") == [], one.scenario.title
        if not {"`", "\n"} & set(one.raw):
            assert found(one, f"Write `{one.raw}` to call it.") == [], one.scenario.title


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_call_of_a_tool_that_no_one_offers_is_none(family: str) -> None:
    other: JSONObject = {"type": "function", "function": {"name": "unheard_of", "parameters": {"type": "object"}}}

    for one in of_family(family):
        assert found(replace(one, tools=(other,)), one.raw) == [], one.scenario.title


BARE_CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
TAGGED = f"<tool_call>\n{BARE_CALL}\n</tool_call>"


def fenced(content: str, **body: JSON) -> list[str]:
    tool: JSONObject = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    asked: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "Go on."}], "tools": [tool], **body}
    return [content[slice(*call.char_span)] for call in fenced_calls(Trace(Request(asked, "")), content)]


@pytest.mark.parametrize("inner", [BARE_CALL, f"\n  {BARE_CALL}", f"[{BARE_CALL}]"], ids=["plain", "indented", "list"])
def test_a_fence_with_nothing_but_a_call_is_one_also_among_words(inner: str) -> None:
    for content in (f"```json\n{inner}\n```", f"I call it:\n```\n{inner}\n```\nDone."):
        assert [text.strip("[]") for text in fenced(content)] == [BARE_CALL]


def test_a_call_in_tags_counts_only_where_its_fence_is_all_of_the_text() -> None:
    assert len(fenced(f"```\n{TAGGED}\n```")) == 1
    assert fenced(f"So it is written:\n```\n{TAGGED}\n```") == []


@pytest.mark.parametrize(
    ("inner", "body"),
    [
        (f"call {BARE_CALL}", {}),
        ('{"name": "search", "arguments": {}}', {}),
        ('{"name": "get_weather", "arguments": {"city": "Os', {}),
        (BARE_CALL, {"response_format": {"type": "json_object"}}),
        (BARE_CALL, {"tool_choice": "none"}),
        (BARE_CALL, {"messages": [{"role": "user", "content": f"What is {BARE_CALL}?"}]}),
    ],
    ids=["words", "not offered", "cut", "JSON wanted", "no call wanted", "quoted from the request"],
)
def test_what_else_stands_in_a_fence_is_no_call(inner: str, body: JSONObject) -> None:
    assert fenced(f"```json\n{inner}\n```", **body) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "f", "arguments": {"a": 1', "f"),
        (' {"type": "function", "function": {"name": "a.b", "parameters": {', "a.b"),
        ('{"name": "f", "arguments": {"a": 1}}', None),
        ('{"name": "f", "age": 3', None),
        ('Look: {"name": "f", "arguments": {"a": 1', None),
    ],
)
def test_a_bare_call_is_open_where_its_brackets_are(text: str, name: str | None) -> None:
    assert open_bare_call(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "f", "arguments": {"a"', "f"),
        (' [{"tool_name": "f", "parameters": {}}] and more', "f"),
        ('{"name": "f"}', None),
        ('So {"name": "f", "arguments": {', None),
    ],
)
def test_a_text_begins_with_a_bare_call_whatever_follows(text: str, name: str | None) -> None:
    assert begun_bare_call(text) == name
