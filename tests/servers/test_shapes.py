"""Answers in vendors' shapes, through all stages: healthy ones raise no alarm, faulty ones are named."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject, Request, Severity, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import faulty_server, stream
from tests.servers.more_shapes import MORE_FAULTY, MORE_HEALTHY
from tests.servers.scenarios import body_of
from tests.servers.shapes import DONE, Shape, event, message
from tests.servers.shapes import FAULTY as FAULTY_SHAPES
from tests.servers.shapes import HEALTHY as HEALTHY_SHAPES
from tests.servers.truth import assert_healthy

HEALTHY, FAULTY = HEALTHY_SHAPES | MORE_HEALTHY, FAULTY_SHAPES | MORE_FAULTY
REFUSED = {name for name, shape in FAULTY.items() if shape.status is not None}


def run(shape: Shape, *, is_stream: bool = False) -> Trace:
    """Run the question about Paris against a server of a shape."""

    async def go() -> Trace:
        async with faulty_server(shape.behaviours()) as server:
            fields: JSONObject = {**shape.asks, **({"stream": True} if is_stream else {})}
            request = Request(body=body_of("healthy", model="m", **fields), text="")
            return await pipeline.run(request, Target(base_url=server.base_url), LabPool(max_running=0))

    return asyncio.run(go())


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_answer_raises_no_alarm_and_nothing_is_claimed_of_it(name: str, is_stream: bool) -> None:
    trace = run(HEALTHY[name], is_stream=is_stream)

    assert trace.chat is not None
    assert trace.verdict is not None
    assert_healthy(trace)
    assert "Nothing lost" not in trace.verdict.sentence


@pytest.mark.parametrize("name", sorted(set(FAULTY) - REFUSED))
def test_a_faulty_answer_is_named(name: str) -> None:
    shape = FAULTY[name]
    trace = run(shape, is_stream=shape.streamed is not None)

    assert trace.verdict is not None
    found = [finding for finding in trace.findings if finding.code in shape.codes]
    assert {finding.code for finding in found} == set(shape.codes), (trace.findings, trace.verdict.sentence)
    errors = {finding.code for finding in trace.findings if finding.severity is Severity.ERROR}
    assert errors <= set(shape.codes)
    assert "Nothing lost" not in trace.verdict.sentence
    assert any(shape.said in f"{finding.title} {finding.detail}" for finding in found)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refusal_that_says_nothing_of_the_request_is_an_error_with_its_words(name: str) -> None:
    with pytest.raises(BackendError) as refused:
        run(FAULTY[name])

    assert refused.value.status == FAULTY[name].status
    assert FAULTY[name].said in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize(
    ("shape", "tokens"), [(HEALTHY["OpenAI"], 3), (Shape(message(""), "stop"), 36)], ids=["few tokens", "both empty"]
)
def test_an_empty_stream_is_no_loss_where_little_was_counted_or_the_whole_answer_is_empty_too(
    shape: Shape, tokens: int
) -> None:
    ended = event(
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"completion_tokens": tokens}}
    )
    begun = event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    trace = run(replace(shape, streamed=stream(begun + ended + DONE)), is_stream=True)

    (found,) = (finding for finding in trace.findings if finding.code == "PD312")
    assert found.severity is Severity.WARNING
    assert "without streaming" not in found.title
