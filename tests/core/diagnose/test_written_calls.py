"""Calls that stand as text in content: every family's own markup is known, what is only shown is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSONObject, Request, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.written_calls import written_calls
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
