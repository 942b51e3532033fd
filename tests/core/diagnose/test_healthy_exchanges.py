"""Exchanges of real APIs in which nothing is wrong, or only what is said: pasted as a request and its answer."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import gather_evidence, trace_of

RATE: JSONObject = {"type": "object", "properties": {"pair": {"type": "string"}}, "required": ["pair"]}
TOOL: JSONObject = {"type": "function", "name": "get_rate", "parameters": RATE}
CALLED: JSONObject = {"type": "function_call", "call_id": "c1", "name": "get_rate", "arguments": '{"pair": "A/B"}'}
ACTION = 'Thought: I look it up.\nAction: search\nAction Input: {"q": "oslo"}'


def found(request: JSONObject, answer: JSONObject | str) -> dict[str, str]:
    """Return the codes of what is found, each with its title and severity."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    findings = diagnose_trace(trace_of(gather_evidence([f"{json.dumps(request, indent=1)}\n\n{text}"])))
    return {one.code: f"{one.severity}: {one.title} {one.fix}" for one in findings}


def response(*items: JSON, **more: JSON) -> JSONObject:
    return {"id": "r", "object": "response", "status": "completed", "output": [*items], **more}


def message(text: str) -> JSONObject:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def asks(*items: JSON, **more: JSON) -> JSONObject:
    return {"model": "m", "input": [{"role": "user", "content": "A to B?"}, *items], **more}


def answered(text: str) -> JSONObject:
    said: JSONObject = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}


def test_a_function_that_was_loaded_later_comes_back_in_a_namespace_of_its_name():
    request = asks(tools=[{"type": "tool_search"}, {**TOOL, "defer_loading": True}])

    assert found(request, response({**CALLED, "namespace": "get_rate"})) == {}
    assert "PD501" in found(request, response({**CALLED, "name": "get_price"}))


@pytest.mark.parametrize("kind", ["additional_tools", "tool_search_output"])
def test_tools_that_the_input_brings_are_offered(kind):
    other = {**TOOL, "name": "load"}
    later: JSONObject = {"type": kind, "role": "developer", "tools": [TOOL]}

    assert found(asks(later, tools=[other], tool_choice="auto"), response(CALLED)) == {}
    assert found(asks(later, tool_choice="auto"), response(CALLED)) == {}
    assert found(asks({"type": kind}, tools=[TOOL]), response(CALLED)) == {}
    assert "PD501" in found(asks(tools=[other]), response(CALLED))


def test_a_result_whose_call_the_server_keeps_is_not_unpaired():
    result: JSONObject = {"type": "function_call_output", "call_id": "c1", "output": "1.1"}

    assert found({"model": "m", "input": [result], "previous_response_id": "r0"}, response(message("1.1"))) == {}
    assert found({"model": "m", "input": [result], "conversation": "conv_1"}, response(message("1.1"))) == {}
    assert "PD106" in found({"model": "m", "input": [result]}, response(message("1.1")))


def test_a_result_of_a_call_that_messages_cannot_have_is_not_unpaired():
    search: JSONObject = {"type": "tool_search_call", "call_id": "s1", "arguments": {"queries": ["rate"]}}
    result: JSONObject = {"type": "function_call_output", "call_id": "s1", "output": "none"}
    other: JSONObject = {**result, "call_id": "s2"}

    assert found(asks(search, result), response(message("None."))) == {}
    assert "PD106" in found(asks(search, other), response(message("None.")))


@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_answer_with_another_item_alone_is_not_empty(is_streamed):
    search: JSONObject = {"type": "tool_search_call", "execution": "client", "arguments": {"queries": ["rate"]}}
    usage: JSONObject = {"input_tokens": 9, "output_tokens": 36, "total_tokens": 45}
    whole, empty = response(search, usage=usage), response(usage=usage)
    events: list[JSONObject] = [
        {"type": "response.created", "response": {}},
        {"type": "response.output_item.done", "output_index": 0, "item": search},
        {"type": "response.completed", "response": whole},
    ]
    streamed = "\n\n".join(f"data: {json.dumps(event)}" for event in events)

    assert "PD312" not in found(asks(tools=[{"type": "tool_search"}]), streamed if is_streamed else whole)
    assert "PD312" in found(asks(), empty)


def test_calls_of_two_messages_in_a_row_are_answered_after_them_by_anthropic():
    def used(call_id: str) -> JSONObject:
        return {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": "f", "input": {}}]}

    def results(*ids: str) -> JSONObject:
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": one, "content": "1"} for one in ids]}

    said: JSONObject = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "1"}]}
    answer: JSONObject = {**said, "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 1}}
    first: JSONObject = {"role": "user", "content": "Twice."}
    request: JSONObject = {"model": "m", "max_tokens": 9, "tools": [{"name": "f", "input_schema": {"type": "object"}}]}

    assert found({**request, "messages": [first, used("a"), used("b"), results("a", "b")]}, answer) == {}
    unanswered = [first, used("a"), used("b"), results("b"), {"role": "assistant", "content": "1"}, first]
    assert "PD129" in found({**request, "messages": unanswered}, answer)


def test_turns_in_a_row_that_were_answered_were_not_refused():
    turns: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}
    error: JSONObject = {"error": {"message": "roles must alternate", "type": "BadRequestError", "code": 400}}

    assert found(turns, answered("c")) == {}
    assert "PD120" in found(turns, error)


def test_a_choice_without_tools_that_was_answered_is_left_alone_where_it_asks_for_nothing():
    asked: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "a"}]}

    assert found({**asked, "tool_choice": "auto"}, answered("c")) == {}
    assert "PD125" in found({**asked, "tool_choice": "required"}, answered("c"))


@pytest.mark.parametrize("written", [47, 2])
def test_a_limit_of_gemini_is_that_of_the_request_whatever_it_counted(written):
    request: JSONObject = {
        "contents": [{"role": "user", "parts": [{"text": "List."}]}],
        "generationConfig": {"maxOutputTokens": 50},
    }
    parts: list[JSON] = [{"text": "Here are all:"}] if written > 9 else []
    candidate: JSONObject = {"content": {"role": "model", "parts": parts}, "finishReason": "MAX_TOKENS"}
    usage: JSONObject = {"promptTokenCount": 9, "candidatesTokenCount": written, "totalTokenCount": 9 + written}
    (title,) = found(request, {"candidates": [candidate], "usageMetadata": usage}).values()

    assert "Raise `maxOutputTokens` (50 now)" in title
    assert "other than" not in title
    assert "reasoning_effort" not in title  # which is a field of chat completions


def test_one_event_is_a_stream_and_no_fragment():
    candidate = {"content": {"role": "model", "parts": [{"text": "Oslo."}]}, "finishReason": "STOP", "index": 0}
    evidence = gather_evidence([f"data: {json.dumps({'candidates': [candidate], 'modelVersion': 'gemini-x'})}\r\n\r\n"])

    assert "middle" not in " ".join(evidence.notes)
    assert evidence.words == "a stream of Gemini's generateContent"


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "stop"), (2, "length"), (3, "content_filter"), (9, "number 9"), (-9, "number -9")]
)
def test_numbers_for_reasons_are_read_as_vertex_writes_them(number, reason):
    candidate = {"content": {"role": "model", "parts": [{"text": "Oslo."}]}, "finishReason": number}
    evidence = gather_evidence([json.dumps({"candidates": [candidate], "usageMetadata": {"totalTokenCount": 9}})])

    assert evidence.chat is not None
    assert evidence.chat.finish_reason == reason


def test_what_creates_a_cache_has_no_answer_to_judge():
    request: JSONObject = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "Long."}]}], "ttl": "300s"}
    created: JSONObject = {"name": "cachedContents/x", "expireTime": "2026-05-13T20:01:50Z", "usageMetadata": {}}

    assert "PD412" not in found(request, created)


def test_a_document_written_twice_is_told_from_one_that_was_not_constrained():
    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    wanted: JSONObject = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    request: JSONObject = {"messages": [{"role": "user", "content": "a?"}], "response_format": wanted}

    assert "more than once" in found(request, answered('{"a": 1}\n{"a": 1}'))["PD505"]
    assert "is not the JSON" in found(request, answered('{"a": 1}\n{"b": 1}'))["PD505"]
    assert "is not the JSON" in found(request, answered('Here: {"a": 1}'))["PD505"]


def test_a_call_in_react_is_a_note_where_the_prompt_asks_for_it():
    taught = "Use this format:\nAction: the tool\nAction Input: its arguments as JSON"
    request: JSONObject = {"messages": [{"role": "system", "content": taught}, {"role": "user", "content": "Oslo?"}]}
    plain: JSONObject = {"messages": [{"role": "user", "content": "Oslo?"}]}

    assert found(request, answered(ACTION))["PD426"].startswith("note: The call to `search`")
    assert found(plain, answered(ACTION))["PD426"].startswith("warning")
    assert found(request, answered(f"{ACTION}\nObservation: 3 °C"))["PD426"].startswith("warning")
