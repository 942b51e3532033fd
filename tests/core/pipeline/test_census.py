"""The reading of a run's raw output, and when it is compared with the message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import (
    CallOutcome,
    ChatResult,
    Completeness,
    Completion,
    Fate,
    JSONObject,
    Request,
    Trace,
)
from prompt_debugger.core.pipeline.census import take_census

MESSAGE: JSONObject = {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
TRACE = Trace(
    Request(body={}, text=""),
    raw=Completion("Let me check.", None, "stop"),
    chat=ChatResult(message=MESSAGE, finish_reason="tool_calls"),
)


def test_a_whole_text_is_held_against_the_message() -> None:
    ledger = take_census(TRACE, special_texts=frozenset()).ledger

    assert [entry.fate for entry in ledger.entries] == [Fate.LOST]
    assert ledger.invented == ("tool_calls[0]",)


@pytest.mark.parametrize("completeness", [Completeness.STRIPPED, Completeness.UNKNOWN])
def test_text_that_may_lack_control_tokens_is_read_alone(completeness: Completeness) -> None:
    assert TRACE.raw is not None
    trace = replace(TRACE, raw=replace(TRACE.raw, completeness=completeness))

    ledger = take_census(trace, special_texts=frozenset()).ledger

    assert [entry.fate for entry in ledger.entries] == [Fate.CONTENT]
    assert {match.outcome for match in ledger.matches} == {CallOutcome.UNKNOWN}
    assert ledger.invented == ()
