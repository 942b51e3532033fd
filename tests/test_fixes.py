"""Fixes tried on a real server: the fault is there, the fix is applied, and the fault is gone.

`docs/fixes.md` lists the fixes that are tried here, and those that are not.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabPool, LabSpec
from tests.conftest import ROOT

Body = dict[str, Any]


def _history_ids(body: Body) -> None:
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            call["id"] = "functions.search:0"
        if "tool_call_id" in message:
            message["tool_call_id"] = "functions.search:0"


def _content_null(body: Body) -> None:
    for message in body["messages"]:
        if message["content"] == "":
            message["content"] = None


def _schema_types(body: Body) -> None:
    text = json.dumps(body["tools"])
    for wrong, right in (('"str"', '"string"'), ('"int"', '"integer"'), ('"float"', '"number"')):
        text = text.replace(wrong, right)
    body["tools"] = json.loads(text)


def _types_and_stops(body: Body) -> None:
    _schema_types(body)
    del body["stop_token_ids"]


def _marker(text: str) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        body["messages"][-1]["content"] = text

    return change


def _set(**fields: Any) -> Callable[[Body], None]:
    return lambda body: body.update(fields)


def _without(field: str) -> Callable[[Body], None]:
    return lambda body: body.pop(field) and None


def _nothing(body: Body) -> None:
    """Leave the request as it is."""


# Case, what makes the fault, what mends it, the parsers after it, the codes that must be there before and not after.
Try = tuple[str, Callable[[Body], None], Callable[[Body], None], dict[str, Any], set[str]]
KIMI: dict[str, Any] = {}
TRIED: dict[str, Try] = {
    "history ids": ("dropped-call", _nothing, _history_ids, KIMI, {"PD104", "PD401", "PD404"}),
    "content null": ("polluted-content", _nothing, _content_null, KIMI, {"PD205"}),
    "generation prompt": ("missing-generation-prompt", _nothing, _without("add_generation_prompt"), KIMI, {"PD203"}),
    "more tokens": ("truncated-call", _nothing, _set(max_tokens=128), KIMI, {"PD301"}),
    "the right parser": ("wrong-parser", _nothing, _nothing, {"tool_parser": "kimi_k2"}, {"PD401", "PD405"}),
    "thinking off": (
        "answer-swallowed-as-reasoning", _nothing, _set(chat_template_kwargs={"thinking": False}), KIMI, {"PD408"},
    ),
    "does not have a reasoning parser": (
        "answer-swallowed-as-reasoning", _nothing, _nothing, {"reasoning_parser": None}, {"PD408"},
    ),
    "types and stops": ("tutorial-tool-types", _nothing, _types_and_stops, KIMI, {"PD100", "PD101", "PD103"}),
    "a marker broken up": (
        "healthy-call", _marker("Say <|im_end|> and stop."), _marker("Say <\u200b|im_end|> and stop."), KIMI, {"PD208"},
    ),
    "an unread kwarg": (
        "healthy-call", _set(chat_template_kwargs={"nobody_reads": 1}), _without("chat_template_kwargs"), KIMI,
        {"PD209"},
    ),
}  # fmt: skip


def run(labs: LabPool, lab: LabSpec, body: Body) -> Trace:
    return asyncio.run(pipeline.run(read_request(json.dumps(body)), Target(lab=lab), labs))


@pytest.mark.lab
@pytest.mark.parametrize("name", TRIED)
def test_a_fix_fixes_what_it_is_for(labs: LabPool, name: str) -> None:
    case, spoil, mend, parsers, expected = TRIED[name]
    example = find_example(case)
    broken = json.loads(example.request_text)
    spoil(broken)
    mended = copy.deepcopy(broken)
    mend(mended)

    before = {finding.code for finding in run(labs, example.lab, broken).findings}
    after = {finding.code for finding in run(labs, replace(example.lab, **parsers), mended).findings}

    assert expected <= before
    assert not expected & after


def test_the_list_of_tried_fixes_is_true_and_complete() -> None:
    page = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8")
    tried = set(re.findall(r"^\| (PD\d+) .*\| tried", page, re.MULTILINE))
    untried = set(re.findall(r"^\| (PD\d+) .*\| not tried", page, re.MULTILINE))

    assert tried == {code for *_, codes in TRIED.values() for code in codes}
    assert not tried & untried
    assert tried | untried == set(RULES), "run `make docs`"
