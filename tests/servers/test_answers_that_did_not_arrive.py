"""An answer that never arrived, through a gateway, while a second run of the prompt has its raw output.

nginx, Caddy, HAProxy and Envoy were run before a vLLM for these shapes: the gateway gives up, or the connection ends.
What a second run wrote was not lost by a parser, as nothing shows what the first run would have answered.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import JSONObject, Request, Stage, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import Behaviour, answer, faulty_server, raw, stream
from tests.servers.running_servers import LAB_MODEL
from tests.servers.scenarios import body_of

CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
)
WRITTEN: JSONObject = {
    "id": "cmpl-1",
    "object": "text_completion",
    "model": "lab-model",
    "choices": [{"index": 0, "text": CALL, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 120, "completion_tokens": 28, "total_tokens": 148},
}
MODELS: JSONObject = {"object": "list", "data": [{"id": "lab-model", "object": "model", "owned_by": "vllm"}]}
BEGUN = b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"I"},"finish_reason":null}]}\n\n'
PAGE = b"<html><head><title>504 Gateway Time-out</title></head></html>"
TIMED_OUT = b"<html><body><h1>504 Gateway Time-out</h1>\nThe server didn't respond in time.\n</body></html>"
CUT = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"id": "chatcmpl-1"'
HOW: dict[str, tuple[Behaviour, bool, str, str]] = {
    "nginx waited": (answer(504, PAGE, "text/html"), False, "did not arrive", "stopped waiting"),
    "nginx waited, streamed": (answer(504, PAGE, "text/html"), True, "did not arrive", "stopped waiting"),
    "HAProxy waited": (answer(504, TIMED_OUT, "text/html"), False, "did not arrive", "`timeout server`"),
    "Caddy has no server": (answer(502), False, "did not arrive", "the server behind it"),
    "Envoy waited": (answer(504, b"upstream request timeout", "text/plain"), False, "did not arrive", "stopped"),
    "cut in the middle": (raw(CUT), False, "did not arrive", "proxy in between"),
    "cut stream": (stream(BEGUN, is_closed_properly=False), True, "broke off", "time limits"),
}


def run(sent: Behaviour, *, is_stream: bool) -> Trace:
    """Ask for the weather; the raw completion is sound, the chat is not."""

    async def go() -> Trace:
        paths = {"/v1/models": answer(200, MODELS), "/v1/completions": answer(200, WRITTEN)}
        paths["/v1/completions#stream"] = _streamed()
        async with faulty_server({**paths, "/v1/chat/completions": sent}) as server:
            request = Request(body=body_of("healthy", model="lab-model", stream=is_stream), text="")
            target = Target(base_url=server.base_url, tokenizer=str(LAB_MODEL))
            return await pipeline.run(request, target, LabPool(max_running=0))

    return asyncio.run(go())


def _streamed() -> Behaviour:
    return stream(f"data: {json.dumps(WRITTEN)}\n\ndata: [DONE]\n\n".encode())


@pytest.mark.parametrize("name", HOW)
def test_what_a_second_run_wrote_was_not_lost_by_a_parser(name: str) -> None:
    sent, is_stream, said, remedy = HOW[name]

    trace = run(sent, is_stream=is_stream)

    assert trace.raw is not None
    assert trace.verdict is not None
    found = [finding for finding in trace.findings if finding.severity.value == "error"]
    assert [finding.code for finding in found] == ["PD310"]
    assert said in found[0].title
    assert remedy in found[0].fix
    assert (trace.verdict.stage, trace.verdict.dropped_calls) == (Stage.COMPLETE, 0)
