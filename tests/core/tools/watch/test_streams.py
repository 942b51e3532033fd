"""A streamed answer beside what the server's own parsers read in the same output whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from prompt_debugger.core.base.types import Server, ServerOutcome
from prompt_debugger.core.tools.watch.alarms import alarm_of
from prompt_debugger.core.tools.watch.counts import Counts, is_bad
from prompt_debugger.core.tools.watch.reading import stream_differs
from tests.core.diagnose.cases import build_trace

RAW = "Let me see.<|im_end|>"
CALL: Any = {"type": "function", "function": {"name": "search", "arguments": '{"q": 1}'}}


class Parsers:
    """A server that reads an output again."""

    def __init__(self, whole: ServerOutcome) -> None:
        self.server = None
        self.base_url = "http://127.0.0.1:8000/v1"
        self.asked = 0
        self._whole = whole

    async def run_parser(self, *_: object) -> ServerOutcome:
        self.asked += 1
        return self._whole


async def _differs(
    whole: ServerOutcome, *, request: Any = None, features: frozenset[str] = frozenset({"derender"})
) -> Any:
    message = {"content": "Let me see. ", "calls": [["search", '{"q":1}', "functions.search:0"]]}
    asked = {"stream": True} if request is None else request
    trace = build_trace({"request": asked, "tools": ["search"], "raw": RAW, "message": message, "evidence": "same-run"})
    trace = replace(trace, server=Server("http://127.0.0.1:8000/v1", kind="vllm", features=features))
    client: Any = Parsers(whole)
    return await stream_differs(client, trace), client.asked


async def test_spaces_and_the_spelling_of_arguments_are_no_differences() -> None:
    assert await _differs(ServerOutcome(None, "Let me see.", (CALL,))) == ((), 1)


@pytest.mark.parametrize(
    ("whole", "fields"),
    [
        (ServerOutcome(None, "Let me see.", ()), ("tool_calls",)),
        (ServerOutcome("So", None, (CALL,)), ("content", "reasoning")),
    ],
)
async def test_what_the_parsers_read_otherwise_is_named(whole: ServerOutcome, fields: tuple[str, ...]) -> None:
    assert await _differs(whole) == (fields, 1)


async def test_what_was_not_streamed_or_cannot_be_read_again_is_passed_over() -> None:
    other = ServerOutcome(None, None, ())

    assert await _differs(other, request={"stream": False}) == ((), 0)
    assert await _differs(other, features=frozenset()) == ((), 0)
    assert await _differs(ServerOutcome(None, None, (), error="no")) == ((), 1)


def test_it_is_an_alarm_and_a_metric() -> None:
    row: Any = {"data_index": 1, "status": "success", "request": {"model": "m"}, "debugger": {"attempts": 1}}
    bad = {**row, "debugger": {**row["debugger"], "stream_differs": ["tool_calls"]}}
    counts = Counts()
    counts.add(bad, "a client")

    assert (is_bad(bad), is_bad(row)) == (True, False)
    assert "streamed and whole, it differs (`tool_calls`)" in alarm_of(bad, "a client").line
    assert "prompt_debugger_streams_differ_total 1" in counts.metrics()
