"""A check that is ended for others goes on from where it was, or says so: it never judges a run that was not read."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.base.types import ChatResult, Completion, JSONObject, Parse, Request, Trace
from prompt_debugger.core.pipeline import diagnosis
from prompt_debugger.core.pipeline.diagnosis import checked_steps, judged_steps
from prompt_debugger.core.pipeline.reading import Checking, Diagnosis, read_run
from prompt_debugger.core.sandbox.worker import made_room

FIELD = "tools[0].function.parameters"


def run() -> Trace:
    tool: JSONObject = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    call: JSONObject = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return Trace(
        request=Request({"messages": [{"role": "user", "content": "x"}], "tools": [tool]}, ""),
        raw=Completion('<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', None, "stop"),
        chat=ChatResult({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"),
    )


async def ended_after(*steps: Any) -> AsyncGenerator[Any, None]:
    """Yield steps as a job does that is ended for others behind them."""
    for step in steps:
        yield step
    raise made_room("checking the run")


class Ends:
    """A sandbox that ends every job for others, behind some steps."""

    def __init__(self, *steps: object) -> None:
        self.steps = steps
        self.asked = 0

    def stream(self, *_: object) -> AsyncGenerator[Any, None]:
        self.asked += 1
        return ended_after(*self.steps)


@pytest.fixture
def read() -> tuple[Trace, Parse]:
    """A run and what reading it gives first, without processes."""
    trace = run()
    parse = next(step for step in read_run(trace, frozenset()) if isinstance(step, Parse))
    return trace, parse


async def test_a_run_that_was_never_read_is_not_judged(monkeypatch: pytest.MonkeyPatch):
    """Its verdict would be one of an answer without a raw output, and nothing would say so."""
    monkeypatch.setattr(diagnosis, "sandbox_of", lambda: pytest.fail("it was checked although it was not read"))

    with pytest.raises(SandboxError, match="others who used less were waiting") as raised:
        [trace async for trace in judged_steps(run(), ended_after())]

    assert raised.value.limit == "busy"


@pytest.mark.slow
async def test_what_was_read_is_handed_on_once_and_then_judged(read):
    trace, parse = read

    traces = [one async for one in judged_steps(trace, ended_after(parse))]

    assert [one.parse is not None for one in traces] == [True, True]
    assert [one.verdict is not None for one in traces] == [False, True]
    assert traces[-1].notes == ()
    *_, whole = read_run(trace, frozenset())
    assert isinstance(whole, Diagnosis)
    assert traces[-1].findings == whole.findings
    assert traces[-1].verdict == whole.verdict


@pytest.mark.slow
async def test_a_schema_whose_check_was_ended_for_others_is_left_out_by_name(read):
    trace, parse = read

    *_, judged = [one async for one in judged_steps(trace, ended_after(parse, Checking(FIELD, 1.0)))]

    [note] = judged.notes
    assert FIELD in note
    assert "because others who used less were waiting" in note
    assert "processor time" not in note


@pytest.mark.parametrize("behind", [(), (Checking(FIELD, 1.0),)], ids=["before a check", "in the same check"])
async def test_one_that_is_ended_again_and_again_says_so_once(monkeypatch: pytest.MonkeyPatch, read, behind):
    trace, parse = read
    ends = Ends(*behind)
    monkeypatch.setattr(diagnosis, "sandbox_of", lambda: ends)
    seen: list[object] = []

    async def follow() -> None:
        steps = ended_after(parse, *behind)
        async for step in checked_steps(steps, lambda: replace(trace, parse=parse)):
            seen.append(step)

    with pytest.raises(SandboxError) as raised:
        await follow()

    assert raised.value.message == "checking the run was ended after a moment: others who used less were waiting"
    assert seen == [parse], "what was handed on is not repeated"
    assert ends.asked <= 3
