"""Checking a run takes time in proportion to it, however many calls were written, lost, returned or made up."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, ChatResult, Completion, JSONObject, Request, Trace
from prompt_debugger.core.pipeline.reading import read_run
from tests.attacks.growth import grows_linearly

pytestmark = pytest.mark.slow

BODY: JSONObject = {
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
}
FLOODS = ("<function=f>", "<|tool_calls_section_begin|>", '<tool_call>{"name": "f", "arguments": {}}</tool_call>')


def call(name: str) -> JSON:
    """Return a tool call of a message."""
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}


def check(raw: str, message: JSONObject, body: JSONObject = BODY) -> None:
    """Read and check a run."""
    trace = Trace(Request(body, json.dumps(body)), raw=Completion(raw, None, "stop"), chat=ChatResult(message, "stop"))
    for _ in read_run(trace, frozenset()):
        pass


@pytest.mark.parametrize("flood", FLOODS)
def test_lost_calls_are_reported_in_linear_time(flood: str) -> None:
    """Each of them was looked for in the whole account."""
    assert grows_linearly(
        lambda size: check(flood * size, {"role": "assistant", "content": None}), first=500, tries=2, doublings=4
    )


@pytest.mark.parametrize("name", ["f", "other", "made_up_{}"])
def test_returned_calls_are_reported_in_linear_time(name: str) -> None:
    """Each of them was looked for among all the others, and its name in the whole output."""

    def work(size: int) -> None:
        calls = [call(name.format(number)) for number in range(size)]
        check("<function=" * size + " other( " * size, {"role": "assistant", "content": "", "tool_calls": calls})

    assert grows_linearly(work, first=500, tries=2, doublings=4)


@pytest.mark.parametrize("unit", ["functools", "\n", "a", "{", "default_api.", "to=functions."])
def test_a_message_that_repeats_itself_is_looked_through_in_linear_time(unit: str) -> None:
    """A model that loops: a name was looked for from each letter of one word, whitespace from each blank."""

    def work(size: int) -> None:
        message: JSONObject = {"role": "assistant", "content": unit * size}
        trace = Trace(Request(BODY, json.dumps(BODY)), chat=ChatResult(message, "length"))
        for _ in read_run(trace, frozenset()):
            pass

    assert grows_linearly(work, first=1_000, tries=2, doublings=5)


def test_calls_that_each_have_a_finding_are_reported_in_linear_time() -> None:
    """Each finding was compared with every other one for what it follows from."""
    assert grows_linearly(
        lambda size: check("<|tool_call_begin|>" * size, {"role": "assistant", "content": None}),
        first=200,
        tries=2,
        doublings=4,
    )


def test_many_calls_are_held_against_a_long_schema_in_linear_time() -> None:
    """The schema was looked at, and written as text, for each of them."""

    def work(size: int) -> None:
        parameters: JSON = {"type": "object", "properties": {f"p{n}": {"type": "integer"} for n in range(size)}}
        function: JSON = {"name": "f", "parameters": parameters}
        body: JSONObject = {**BODY, "tools": [{"type": "function", "function": function}]}
        calls: JSON = [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": f'{{"p{n}": {n}}}'}}
            for n in range(size)
        ]
        check("", {"role": "assistant", "content": None, "tool_calls": calls}, body)

    assert grows_linearly(work, first=1_000, tries=2, doublings=1)
