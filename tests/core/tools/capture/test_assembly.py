"""A stream put together is the answer that would have come unstreamed, or it is said to be none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prompt_debugger.core.tools.capture.assembly import assemble
from prompt_debugger.core.tools.capture.exchange import Api, api_of


def _choice(index: int = 0, reason: str | None = None, **delta: Any) -> Any:
    return {"id": "c", "model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


def _part(index: int, arguments: str, **more: Any) -> Any:
    return {"index": index, **more, "function": {"arguments": arguments, **({"name": "f"} if more else {})}}


def test_a_chat_stream_with_two_calls_and_usage() -> None:
    chunks = [
        _choice(role="assistant", content=None),
        _choice(tool_calls=[_part(0, "", id="a", type="function")]),
        _choice(tool_calls=[_part(0, '{"x": ')]),
        _choice(tool_calls=[_part(0, "1}")]),
        _choice(tool_calls=[_part(1, "{}", id="b", type="function")]),
        _choice(reason="tool_calls"),
        {"id": "c", "choices": [], "usage": {"total_tokens": 3}},
    ]

    made = assemble(Api.CHAT, chunks, is_done=True)

    calls = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    assert made.problem == ""
    assert made.document == {
        "object": "chat.completion",
        "id": "c",
        "model": "m",
        "usage": {"total_tokens": 3},
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }


def test_each_choice_of_a_chat_stream_is_a_message_of_its_own() -> None:
    chunks = [_choice(1, content="b"), _choice(0, content="a"), _choice(0, "stop"), _choice(1, "length")]

    made = assemble(Api.CHAT, chunks, is_done=True).document

    assert made is not None
    read = [(one["message"]["content"], one["finish_reason"]) for one in made["choices"]]  # type: ignore[index, union-attr, call-overload]
    assert read == [("a", "stop"), ("b", "length")]


def test_the_ids_of_a_run_are_those_of_all_its_events() -> None:
    """LiteLLM gives those of each event in a place where the last one's would look like the whole."""
    one = _choice(content="a")
    one["prompt_token_ids"] = [7, 8]
    one["choices"][0]["token_ids"] = [1]
    two = _choice(content="b", reason="stop")
    two["choices"][0]["provider_specific_fields"] = {"token_ids": [2, 3]}

    made = assemble(Api.CHAT, [one, two], is_done=True).document

    assert made is not None
    assert made["prompt_token_ids"] == [7, 8]
    assert made["choices"][0]["token_ids"] == [1, 2, 3]  # type: ignore[index, call-overload]
    assert "provider_specific_fields" not in made["choices"][0]  # type: ignore[index, operator]


@pytest.mark.parametrize(
    ("chunks", "is_done", "word"),
    [
        ([_choice(content="a")], False, "without a finish reason"),
        ([], True, "no choice"),
        ([_choice(content="a", reason="stop"), {"error": {"message": "boom"}}], True, "boom"),
    ],
)
def test_a_chat_stream_that_is_not_an_answer(chunks: list[Any], is_done: bool, word: str) -> None:
    assert word in assemble(Api.CHAT, chunks, is_done=is_done).problem


def test_a_stream_of_completions() -> None:
    chunks: list[Any] = [
        {"choices": [{"index": 0, "text": "He"}]},
        {"choices": [{"index": 0, "text": "llo", "finish_reason": "stop"}]},
    ]

    made = assemble(Api.COMPLETIONS, chunks, is_done=True)

    assert made.document == {
        "object": "text_completion",
        "choices": [{"index": 0, "text": "Hello", "finish_reason": "stop"}],
    }


def test_a_stream_of_responses_that_is_cut_is_kept_as_far_as_it_came() -> None:
    reasoning = {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "So"}]}
    call = {"type": "function_call", "id": "f", "name": "g", "arguments": ""}
    begun = {"object": "response", "id": "x", "status": "in_progress", "output": []}
    chunks: list[Any] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "r"}},
        {"type": "response.reasoning_text.delta", "output_index": 0, "delta": "So"},
        {"type": "response.output_item.done", "output_index": 0, "item": reasoning},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ": 1"},
    ]

    made = assemble(Api.RESPONSES, chunks, is_done=False)

    assert made.problem == "the stream ended without the event that contains the response"
    assert made.document == {**begun, "output": [reasoning, {**call, "arguments": '{"a": 1'}]}
    assert assemble(Api.RESPONSES, chunks[:1], is_done=False).document == begun
    assert assemble(Api.RESPONSES, [], is_done=False).document is None


def test_a_stream_of_responses_ends_with_the_response() -> None:
    whole = {"object": "response", "output": []}
    chunks: list[Any] = [{"type": "response.created"}, {"type": "response.completed", "response": whole}]

    assert assemble(Api.RESPONSES, chunks, is_done=False).document == whole
    assert assemble(Api.RESPONSES, chunks[:1], is_done=False).problem


def _messages(*arguments: str, is_stopped: bool = True) -> list[Any]:
    start = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    deltas = [
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": one}}
        for one in arguments
    ]
    return [
        {"type": "message_start", "message": {"type": "message", "role": "assistant", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_start", "index": 1, "content_block": start},
        *deltas,
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        *([{"type": "message_stop"}] if is_stopped else []),
    ]


def test_a_stream_of_messages() -> None:
    made = assemble(Api.MESSAGES, _messages('{"x"', ": 1}"), is_done=False)

    assert made.problem == ""
    assert made.document == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }


@pytest.mark.parametrize(
    ("events", "word"),
    [
        (_messages("{}", is_stopped=False), "message_stop"),
        (_messages('{"x": '), "not JSON"),
        ([{"type": "error", "error": {"message": "overloaded"}}], "overloaded"),
    ],
)
def test_a_stream_of_messages_that_is_not_an_answer(events: list[Any], word: str) -> None:
    assert word in assemble(Api.MESSAGES, events, is_done=False).problem


@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize("odd", [{}, {"choices": 3}, {"choices": [None, {"delta": 1, "text": [], "index": "x"}]},
                                 {"type": "content_block_delta", "delta": 7}, {"type": "message_start"}])  # fmt: skip
def test_whatever_events_say_nothing_is_raised(api: Api, odd: Any) -> None:
    json.dumps(assemble(api, [odd, odd], is_done=True).document)


def _gemini(*parts: Any, **fields: Any) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, **fields}]}


def test_a_stream_of_gemini_is_one_answer_and_a_cut_one_is_kept_as_far_as_it_came() -> None:
    call = {"functionCall": {"name": "f", "args": {"x": 1}}}
    events = [
        _gemini({"text": "We"}),
        _gemini({"text": "ll"}, call),
        {**_gemini(finishReason="STOP"), "usageMetadata": {}},
    ]

    whole = assemble(Api.GEMINI, events, is_done=False)
    cut = assemble(Api.GEMINI, events[:2], is_done=False)

    assert whole.problem == ""
    assert whole.document == {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Well"}, call]}, "finishReason": "STOP"}],
        "usageMetadata": {},
    }
    assert "finishReason" in cut.problem
    assert cut.document == _gemini({"text": "Well"}, call)


@pytest.mark.parametrize("path", ["/v1beta/models/org/m:generateContent", "/v1beta/models/m:streamGenerateContent"])
def test_a_request_of_gemini_is_known_by_its_address(path: str) -> None:
    assert api_of("POST", path) is Api.GEMINI
