"""Odd answers to requests of Responses and Messages: each is called what it is."""

from __future__ import annotations

import asyncio
import json

import brotli
import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import Behaviour, answer, faulty_server

USAGE: JSONObject = {"input_tokens": 5, "output_tokens": 4, "total_tokens": 9}
_TEXT: JSON = [{"type": "output_text", "text": "It is sunny.", "annotations": []}]
_OUTPUT: JSON = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": _TEXT}]
RESPONSE: JSONObject = {
    "id": "r1", "object": "response", "status": "completed", "model": "m", "output": _OUTPUT, "usage": USAGE,
}  # fmt: skip
MESSAGE: JSONObject = {
    "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "It is sunny."}], "usage": {"input_tokens": 5, "output_tokens": 4},
}  # fmt: skip
CHAT: JSONObject = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}}]}
MODELS: JSON = {"object": "list", "data": [{"id": "m", "object": "model"}]}
APIS: dict[str, tuple[JSONObject, JSONObject]] = {
    "/v1/responses": ({"model": "m", "input": "How is the weather?"}, RESPONSE),
    "/v1/messages": (
        {"model": "m", "max_tokens": 50, "system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]},
        MESSAGE,
    ),
}


def run(path: str, sent: Behaviour, *, is_stream: bool) -> Trace:
    """Ask by the API of a path; what was not asked for gets the same answer."""

    async def go() -> Trace:
        async with faulty_server({"/v1/models": answer(200, MODELS), path: sent}) as server:
            body: JSONObject = {**APIS[path][0], **({"stream": True} if is_stream else {})}
            return await pipeline.run(
                read_request(json.dumps(body)), Target(base_url=server.base_url), LabPool(max_running=0)
            )

    return asyncio.run(go())


def title_of(path: str, sent: Behaviour, *, is_stream: bool) -> str:
    trace = run(path, sent, is_stream=is_stream)
    return next((finding.title for finding in trace.findings if finding.code == "PD310"), "")


@pytest.mark.parametrize("path", APIS)
def test_one_document_for_a_stream_is_in_no_other_form(path: str) -> None:
    said = title_of(path, answer(200, APIS[path][1]), is_stream=True)

    assert said == "The server answered a streaming request with one JSON document."


def test_lines_of_events_are_called_lines() -> None:
    whole: list[JSON] = [{"type": "response.created", "response": RESPONSE}]
    whole.append({"type": "response.completed", "response": RESPONSE})
    lines = "".join(f"{json.dumps(event)}\n" for event in whole)

    said = title_of("/v1/responses", answer(200, lines.encode(), "application/x-ndjson"), is_stream=True)

    assert said == "The streamed answer came as lines of JSON, not as server-sent events."


@pytest.mark.parametrize("path", APIS)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (json.dumps(CHAT).encode(), "The answer arrived in another form: a chat completion."),
        (b"null", "The answer is not one of this API: it is `null`."),
    ],
)
def test_what_is_no_answer_of_the_api_is_no_error_of_the_server(path: str, body: bytes, said: str) -> None:
    assert title_of(path, answer(200, body), is_stream=False) == said


@pytest.mark.parametrize("path", APIS)
def test_a_stream_in_a_packing_that_is_not_read_is_named(path: str) -> None:
    packed = answer(200, brotli.compress(b"data: {}\n\n"), "text/event-stream", content_encoding="br")

    with pytest.raises(BackendError, match="compressed its answer as 'br'"):
        run(path, packed, is_stream=True)


@pytest.mark.parametrize("path", APIS)
def test_an_error_without_a_code_or_words_is_none(path: str) -> None:
    blank = answer(200, {**APIS[path][1], "error": {"code": 0, "message": ""}})

    assert title_of(path, blank, is_stream=False) == ""


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_is_not_finished_is_called_that(status: str) -> None:
    trace = run(
        "/v1/responses", answer(200, {**RESPONSE, "status": status, "output": [], "usage": None}), is_stream=False
    )

    (found,) = (finding for finding in trace.findings if finding.code == "PD412")
    assert found.title == f"The response has the status `{status}`: it was not finished when it was returned."
    assert "`GET /v1/responses/ID`" in str(found.fix)


def test_a_full_context_is_the_limit_where_messages_say_so() -> None:
    cut: JSONObject = {**MESSAGE, "stop_reason": "model_context_window_exceeded"}
    trace = run("/v1/messages", answer(200, cut), is_stream=False)

    (found,) = (finding for finding in trace.findings if finding.code == "PD322")
    assert "the model's context, as the server reports" in found.title
