"""Pasted JSON of any shape is read or refused in one sentence, and raises nothing else."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, trace_of

KEYS = st.sampled_from(
    [
        "choices",
        "message",
        "delta",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "role",
        "type",
        "event_type",
        "interaction",
        "index",
        "id",
        "finish_reason",
        "stop_reason",
        "done",
        "done_reason",
        "response",
        "request",
        "messages",
        "input",
        "output",
        "candidates",
        "parts",
        "functionCall",
        "finishReason",
        "content_block",
        "output_index",
        "error",
        "prompt",
        "raw",
        "contents",
        "tools",
        "options",
        "usage",
        "thinking",
        "item",
        "status",
        "context",
        "body",
    ]
)
TEXTS = st.sampled_from(
    [
        "assistant",
        "tool_use",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "interaction.completed",
        "step.start",
        "{}",
        "response.completed",
        "response.output_item.added",
        "function_call",
        "message",
        "STOP",
        "response",
        "�",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)


def check(text: str) -> None:
    with suppress(RequestError):
        evidence = read_evidence(text)
        assert evidence.words
        assert trace_of(evidence).request is not None


@settings(max_examples=100)
@given(VALUES | OBJECTS)
def test_a_value_is_read_or_refused(value: object) -> None:
    check(json.dumps(value))


@settings(max_examples=60)
@given(st.lists(OBJECTS, min_size=1, max_size=5), st.booleans())
def test_a_stream_is_read_or_refused(events: list[dict[str, object]], is_sse: bool) -> None:
    lines = [json.dumps(event) for event in events]
    check("".join(f"data: {line}\n\n" for line in lines) if is_sse else "\n".join(lines))


@settings(max_examples=60)
@given(OBJECTS, st.integers(0, 200), st.integers(0, 200))
def test_a_piece_of_json_is_read_or_refused(value: dict[str, object], start: int, stop: int) -> None:
    check(json.dumps(value)[start : start + stop] or "{")
