"""What suites send that check APIs for compliance, as one exchange each: read, and nothing false said of it.

The classes are those of `llm-comply` 0.5.0 (a text, a system prompt, several turns, a tool, a stream, an image, a
request that is wrong), the exchanges are our own.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from prompt_debugger.core.base.types import Severity
from prompt_debugger.core.tools.capture.exchange import Api
from prompt_debugger.core.tools.watch.line import Passed, read_line
from tests.core.tools.capture.test_cut_streams import STREAMS, _recorded
from tests.core.tools.capture.test_record import record

_HI: Any = {"role": "user", "content": "Greet me."}
_PAST: Any = [{"role": "user", "content": "I am Ann."}, {"role": "assistant", "content": "Hello, Ann."}, _HI]
_CITY: Any = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_ARGUMENTS = '{"city": "Oslo"}'


def _chat(*messages: Any, **fields: Any) -> Any:
    return {"model": "m", "messages": [*messages], **fields}


def _of_chat(message: Any, reason: str = "stop") -> Any:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def _of_responses(*items: Any) -> Any:
    return {"id": "r", "object": "response", "status": "completed", "output": [*items]}


def _of_messages(*blocks: Any, reason: str = "end_turn") -> Any:
    return {"id": "a", "type": "message", "role": "assistant", "content": [*blocks], "stop_reason": reason}


def _of_gemini(*parts: Any) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": "STOP"}]}


_CALL: Any = {"id": "c", "type": "function", "function": {"name": "f", "arguments": _ARGUMENTS}}
_TEXT: Any = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
_SAID: dict[str, Any] = {
    "/v1/chat/completions": _of_chat({"content": "Hello"}),
    "/v1/responses": _of_responses(_TEXT),
    "/v1/messages": _of_messages({"type": "text", "text": "Hello"}),
    "/v1beta/models/m:generateContent": _of_gemini({"text": "Hello"}),
}
_CALLED: dict[str, Any] = {
    "/v1/chat/completions": _of_chat({"tool_calls": [_CALL]}, "tool_calls"),
    "/v1/responses": _of_responses(
        {"type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": _ARGUMENTS}
    ),
    "/v1/messages": _of_messages(
        {"type": "tool_use", "id": "c", "name": "f", "input": {"city": "Oslo"}}, reason="tool_use"
    ),
    "/v1beta/models/m:generateContent": _of_gemini({"functionCall": {"name": "f", "args": {"city": "Oslo"}}}),
}
_MESSAGES: Any = {"model": "m", "max_tokens": 9}
_USER: Any = {"role": "user", "parts": [{"text": "Greet me."}]}
_MODEL: Any = {"role": "model", "parts": [{"text": "Hello."}]}
_BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "a text": _chat(_HI),
        "a system prompt": _chat({"role": "system", "content": "One word."}, _HI),
        "several turns": _chat(*_PAST),
        "a tool": _chat(_HI, tools=[{"type": "function", "function": {"name": "f", "parameters": _CITY}}]),
    },
    "/v1/responses": {
        "a text": {"model": "m", "input": [_HI]},
        "a system prompt": {"model": "m", "input": [{"role": "developer", "content": "One word."}, _HI]},
        "several turns": {"model": "m", "input": _PAST},
        "a tool": {"model": "m", "input": "hi", "tools": [{"type": "function", "name": "f", "parameters": _CITY}]},
    },
    "/v1/messages": {
        "a text": {**_MESSAGES, "messages": [_HI]},
        "a system prompt": {**_MESSAGES, "system": "One word.", "messages": [_HI]},
        "several turns": {**_MESSAGES, "messages": _PAST},
        "a tool": {**_MESSAGES, "messages": [_HI], "tools": [{"name": "f", "input_schema": _CITY}]},
    },
    "/v1beta/models/m:generateContent": {
        "a text": {"contents": [_USER]},
        "a system prompt": {"systemInstruction": {"parts": [{"text": "One word."}]}, "contents": [_USER]},
        "several turns": {"contents": [_USER, _MODEL, _USER]},
        "a tool": {"contents": [_USER], "tools": [{"functionDeclarations": [{"name": "f", "parameters": _CITY}]}]},
    },
}
_CASES = [(path, kind) for path, kinds in _BODIES.items() for kind in kinds]


def _read(path: str, body: Any, answered: Any, status: int = 200) -> Passed:
    _, written = record(body, json.dumps(answered).encode(), path=path)
    written["captured"]["status"] = status
    return read_line.function(json.dumps(written))


def _errors(passed: Passed) -> list[str]:
    assert passed.problem == ""
    assert passed.trace is not None
    return [one.code for one in passed.trace.findings if one.severity is Severity.ERROR]


@pytest.mark.parametrize(("path", "kind"), _CASES)
def test_a_healthy_exchange_is_read_and_no_error_is_found(path: str, kind: str) -> None:
    answered = _CALLED[path] if kind == "a tool" else _SAID[path]

    passed = _read(path, _BODIES[path][kind], answered)

    assert _errors(passed) == []
    assert passed.trace is not None
    assert passed.trace.chat is not None
    assert bool(passed.trace.chat.message.get("tool_calls")) is (kind == "a tool")


@pytest.mark.parametrize("api", STREAMS)
def test_a_healthy_stream_likewise(api: Api) -> None:
    text, _ = _recorded(api, len(STREAMS[api][2]))

    assert _errors(read_line.function(text)) == []


@pytest.mark.parametrize("path", _BODIES)
@pytest.mark.parametrize(
    ("status", "answered", "words"),
    [
        (404, {"detail": "Not Found"}, "Not Found"),
        (404, {"message": "no Route matched with those values"}, "no Route matched"),
        (400, {"error": {"message": "m is not a multimodal model", "type": "BadRequestError"}}, "multimodal"),
    ],
)
def test_a_refusal_is_read_in_whatever_form_it_comes(path: str, status: int, answered: Any, words: str) -> None:
    passed = _read(path, _BODIES[path]["a text"], answered, status)

    assert passed.problem == ""
    assert passed.trace is not None
    assert passed.trace.refusal is not None
    assert words in passed.trace.refusal.message


def test_what_is_no_answer_and_no_refusal_is_not_taken_for_one() -> None:
    passed = _read("/v1/chat/completions", _BODIES["/v1/chat/completions"]["a text"], {"detail": "Not Found"})

    assert passed.trace is None
    assert passed.problem


_REQUESTED = {"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages"}


@pytest.mark.parametrize("path", _REQUESTED)
@pytest.mark.parametrize("kind", ["a text", "a tool"])
def test_the_api_is_the_one_of_the_address(path: str, kind: str) -> None:
    trace = _read(path, _BODIES[path][kind], _SAID[path]).trace

    assert trace is not None
    assert (str(trace.api), str(trace.request.api)) == (_REQUESTED[path],) * 2
    assert (trace.request.native is None) is (path == "/v1/chat/completions")


def test_a_refusal_has_the_status_that_came_with_it() -> None:
    said = {"type": "error", "error": {"type": "invalid_request_error", "message": "m is not a multimodal model"}}

    trace = _read("/v1/messages", _BODIES["/v1/messages"]["a text"], said, 400).trace

    assert trace is not None
    assert trace.refusal is not None
    assert trace.refusal.status == 400


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1beta/models/gemini-x:generateContent", "gemini-x"),
        ("/v1beta/models/gemini-x:streamGenerateContent", "gemini-x"),
        ("/v1/projects/p/locations/l/publishers/google/models/gemini%2Dx:generateContent", "gemini-x"),
        ("/v1beta/models/gemini-x:countTokens", None),
        ("/v1/models/gemini-x", None),
    ],
)
def test_the_model_of_a_gemini_request_is_that_of_its_address(path: str, model: str | None) -> None:
    body: Any = {"contents": [{"role": "user", "parts": [{"text": "Greet me."}]}]}
    line = json.dumps({"id": 1, "captured": {"path": path, "status": 200}, "request": body, "response": _of_gemini()})

    trace = read_line(line).trace

    assert trace is not None
    assert trace.request.body.get("model") == model


def test_a_model_in_the_body_is_not_replaced_by_the_address() -> None:
    path = "/v1beta/models/other:generateContent"
    line = json.dumps({"id": 1, "captured": {"path": path, "status": 200}, "request": _chat(_HI),
                       "response": _of_chat({"content": "Hello"})})  # fmt: skip

    trace = read_line(line).trace

    assert trace is not None
    assert trace.request.body["model"] == "m"
