"""A lone chunk whose call has no index, and calls that a span wraps: what is missing is said of the piece alone."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence


def findings_of(text: str) -> set[str]:
    return {finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings}


def chunk(**call: object) -> str:
    entry = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": ""}, **call}
    delta = {"role": "assistant", "tool_calls": [entry]}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return json.dumps({"id": "c-1", "object": "chat.completion.chunk", "choices": [choice]}, indent=2)


def test_the_first_chunk_of_a_call_without_an_index_shows_the_defect():
    assert "PD417" in findings_of(chunk())


def test_the_first_chunk_of_a_call_with_its_index_and_a_later_piece_without_show_nothing():
    assert "PD417" not in findings_of(chunk(index=0))
    with pytest.raises(RequestError, match="in the middle of a call"):
        findings_of(chunk(id=None, function={"arguments": "{"}))


def span(call_id: str) -> str:
    call = {"tool_call": {"id": call_id, "function": {"name": "look_up", "arguments": '{"city": "Bern"}'}}}
    return json.dumps({"completions": [{"message": {"role": "assistant", "tool_calls": [call]}}]}, indent=2)


def test_a_call_that_a_span_wraps_is_read_with_its_id():
    assert "PD507" in findings_of(f"note the id\n{span('')[1:-1]}")
    assert "PD507" not in findings_of(f"note the id\n{span('call_1')[1:-1]}")
