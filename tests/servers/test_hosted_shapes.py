"""Answers in the shapes of servers and vendors that are not run here, by what their trackers show: nothing false.

What is true of each was written down before it was asked: tabbyAPI#289, LocalAI#6218 and #788, the gateway of
aws-samples for Bedrock (#134), and documented answers of others.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import Behaviour, FaultyServer, answer, stream
from tests.servers.scenarios import body_of
from tests.servers.truth import returned_calls
from tests.threads import in_thread

USAGE: JSONObject = {"prompt_tokens": 122, "completion_tokens": 20, "total_tokens": 142}
PIECES = ('{"ci', 'ty": "Pa', 'ris"}')


def call(name: str = "call_1", **more: JSON) -> JSONObject:
    function: JSON = {"name": "get_weather", "arguments": "".join(PIECES)}
    return {"id": name, "type": "function", "function": function, **more}


def whole(message: JSONObject, reason: str | None = "tool_calls", **more: JSON) -> Behaviour:
    """Return a whole answer; `choice` adds to its choice, and no reason leaves that out."""
    added = more.pop("choice", {})
    assert isinstance(added, dict)
    choice: JSONObject = {"index": 0, "message": {"role": "assistant", **message}, **added}
    if reason is not None:
        choice["finish_reason"] = reason
    head: JSONObject = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "lab-model"}
    return answer(200, {**head, "choices": [choice], "usage": USAGE, **more})


def event(delta: JSONObject, reason: str | None = None, **more: JSON) -> JSONObject:
    choice: JSON = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "choices": [choice], **more}


def events(*those: JSONObject) -> Behaviour:
    data = "".join(f"data: {json.dumps(one)}\n\n" for one in those)
    return stream(f"{data}data: [DONE]\n\n".encode())


def in_pieces(number: int, opened: JSONObject) -> list[JSONObject]:
    """Return the events of a call whose arguments come in pieces."""
    first: JSON = {**call(), "index": number, "function": opened}
    more: list[JSONObject] = [{"index": number, "function": {"arguments": piece}} for piece in PIECES]
    return [event({"tool_calls": [first]}), *(event({"tool_calls": [one]}) for one in more)]


NAMED: JSONObject = {"name": "get_weather"}
ONE_CALL: JSON = [call(index=0)]
LAST = event({}, "tool_calls", usage=USAGE)
THINKS = event({"content": None, "reasoning": "I look."})
FILTERED: JSONObject = {"choices": [], "id": "", "model": "", "object": "", "prompt_filter_results": []}
SIGNED: JSON = {"google": {"thought_signature": "abc="}}
NULLS: JSONObject = dict.fromkeys(("content", "refusal", "annotations", "audio", "function_call", "reasoning_content"))
WORDS: JSONObject = {"content": "It is sunny in Paris."}
LEAKED: JSONObject = {"content": "It is sunny in Paris.<|im_end|>"}
MINUS: JSONObject = dict.fromkeys(USAGE, -1)


class Shape(NamedTuple):
    """How an answer comes, and what is true of it: how many calls, and which findings there are."""

    sent: Behaviour
    calls: int = 1
    codes: tuple[str, ...] = ()
    is_stream: bool = False


SHAPES = {
    "TabbyAPI": Shape(
        whole({"content": "", "tool_calls": [call()], "tool_calls_json": None}, "stop", choice={"stop_str": "<f"}),
        codes=("PD412",),
    ),
    "LocalAI, calls promised": Shape(whole(WORDS), 0, ("PD412",)),
    "LocalAI, no reason": Shape(whole(WORDS, None), 0, ("PD412",)),
    "LocalAI, streamed": Shape(events(THINKS, event({"tool_calls": ONE_CALL}), LAST), is_stream=True),
    "Bedrock's gateway": Shape(events(*in_pieces(1, {**NAMED, "arguments": ""}), LAST), is_stream=True),
    "KoboldCpp": Shape(events(event({"tool_calls": ONE_CALL}, "tool_calls")), is_stream=True),
    "Groq": Shape(whole({"reasoning": "I look.", "tool_calls": [call()]}, x_groq={"id": "1"})),
    "Groq, streamed": Shape(
        events(event({"tool_calls": ONE_CALL}), event({}, "tool_calls", x_groq={"usage": USAGE})), is_stream=True
    ),
    "Cerebras": Shape(whole({"tool_calls": [call()]}, time_info={"queue_time": 0.1})),
    "Fireworks": Shape(events(*in_pieces(0, NAMED), LAST), is_stream=True),
    "Together": Shape(whole({**WORDS, "tool_calls": []}, "eos", choice={"seed": 1}, prompt=[]), 0),
    "Nebius": Shape(whole({**NULLS, "tool_calls": [call()]}, prompt_logprobs=None)),
    "Azure": Shape(events(FILTERED, *in_pieces(0, {**NAMED, "arguments": ""}), LAST), is_stream=True),
    "Vertex": Shape(whole({"extra_content": {}, "tool_calls": [call(extra_content=SIGNED)]})),
    "llamafile": Shape(whole(LEAKED, "stop"), 0, ("PD456",)),
    "text-generation-webui": Shape(whole({"content": "", "tool_calls": [call(index="0")]})),
    "Xinference": Shape(whole({"content": "", "tool_calls": [call()]}, usage=MINUS)),
}

ERRORS: dict[str, tuple[Behaviour, str]] = {
    "DeepInfra": (answer(404, {"detail": {"error": "Model is not available"}}), "Model is not available"),
    "Vertex": (
        answer(400, [{"error": {"code": 400, "message": "a parameter has no type", "status": "INVALID_ARGUMENT"}}]),
        "a parameter has no type",
    ),
    "GPUStack": (answer(404, {"code": 404, "reason": "Not Found", "message": "Model not found"}), "Model not found"),
    "FastChat": (
        answer(400, {"object": "error", "message": "Only lab-model allowed now, your model m", "code": 40301}),
        "Only lab-model allowed now",
    ),
}
LATER: dict[str, tuple[Behaviour, str]] = {
    "SambaNova": (answer(429, {"error": {"message": "Rate limit exceeded", "code": "rate_limit_exceeded"}}), "limit"),
    "Baseten": (answer(503, {"error": "Model is still loading"}), "loading"),
}


def run(sent: Behaviour, *, is_stream: bool = False, **asked: JSON) -> Trace:
    class Server(FaultyServer):
        def _behaviour_of(self, request: Any) -> Behaviour:
            if request.path.endswith("/models"):
                return answer(200, {"object": "list", "data": [{"id": "lab-model", "owned_by": "someone"}]})
            return sent if request.path.endswith("/chat/completions") else answer(404)

    with in_thread(Server("", {})) as url:
        fields: JSONObject = {"stream": True} if is_stream else {}
        request = Request(body=body_of("healthy", model="lab-model", **fields, **asked), text="")
        return asyncio.run(
            pipeline.run(request, Target(base_url=f"{url.removesuffix('/v1')}/v1"), LabPool(max_running=0))
        )


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_said_of_an_answer_is_true(name: str) -> None:
    shape = SHAPES[name]
    trace = run(shape.sent, is_stream=shape.is_stream)
    verdict = trace.verdict

    assert verdict is not None
    assert returned_calls(trace) == [("get_weather", {"city": "Paris"})] * shape.calls
    assert {one.code for one in trace.findings} == set(shape.codes)
    assert (verdict.dropped_calls, verdict.invented_calls, verdict.altered_calls) == (0, 0, 0)


@pytest.mark.parametrize("name", ERRORS)
def test_a_refusal_is_told_in_the_servers_words(name: str) -> None:
    sent, words = ERRORS[name]
    verdict = run(sent).verdict

    assert verdict is not None
    assert verdict.stage == "request"
    assert words in verdict.sentence


@pytest.mark.parametrize("name", LATER)
def test_what_passes_is_to_be_waited_for(name: str) -> None:
    sent, words = LATER[name]
    with pytest.raises(BackendError) as raised:
        run(sent)

    assert words in f"{raised.value} {raised.value.hint}"
    assert "wait" in str(raised.value.hint)


def test_an_answer_of_workers_ai_is_another_form() -> None:
    tool: JSON = {"name": "get_weather", "arguments": {"city": "Paris"}}
    result: JSON = {"response": None, "tool_calls": [tool]}
    verdict = run(answer(200, {"result": result, "success": True, "errors": [], "messages": []})).verdict

    assert verdict is not None
    assert "Workers AI" in verdict.sentence
