"""An event without a choice is healthy at both ends of a stream, an answer without one is not."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, Severity
from prompt_debugger.core.evidence import read_evidence, show_evidence

COUNTS: dict[str, JSON] = {"prompt_tokens": 21, "completion_tokens": 7, "total_tokens": 28}
CHUNK: dict[str, JSON] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": []}
ADKS: dict[str, JSON] = {
    "model_version": "gemini-2.5-flash",
    "content": {
        "role": "model",
        "parts": [{"function_call": {"id": "a", "name": "get_weather", "args": {"city": "Oslo"}}}],
    },
    "partial": False,
    "usage_metadata": {"candidates_token_count": 12, "prompt_token_count": 80, "total_token_count": 92},
}


async def _severities(text: str) -> dict[str, Severity]:
    trace = await show_evidence(read_evidence(text))
    return {one.code: one.severity for one in trace.findings}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"choices": []}),
        json.dumps({**CHUNK, "usage": COUNTS}),
        json.dumps({**CHUNK, "prompt_filter_results": [{"prompt_index": 0}]}),
        f"data: {json.dumps({**CHUNK, 'usage': COUNTS})}\n\ndata: [DONE]\n\n",
    ],
    ids=["bare", "the last", "Azure's first", "the last and the end"],
)
async def test_an_event_of_a_healthy_stream_is_no_broken_answer(text: str) -> None:
    assert await _severities(text) == {"PD310": Severity.NOTE}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"id": "chatcmpl-1", "object": "chat.completion", "choices": [], "usage": COUNTS}),
        json.dumps({"object": "chat.completion", "choices": []}),
        f"data: {json.dumps({**CHUNK, 'usage': {**COUNTS, 'completion_tokens': 0}})}\n\ndata: [DONE]\n\n",
    ],
    ids=["an answer", "a short answer", "nothing was generated"],
)
async def test_an_answer_without_a_choice_is_broken(text: str) -> None:
    assert await _severities(text) == {"PD310": Severity.ERROR}


@pytest.mark.parametrize("id_of_call", ["a", None])
async def test_what_the_agent_development_kit_keeps_of_an_answer_lacks_nothing(id_of_call: str | None) -> None:
    kept = json.dumps(ADKS).replace('"id": "a"', f'"id": {json.dumps(id_of_call)}')
    trace = await show_evidence(read_evidence(kept))

    assert trace.chat is not None
    assert "get_weather" in json.dumps(trace.chat.message)
    assert [one.code for one in trace.findings if one.severity is not Severity.NOTE] == []
