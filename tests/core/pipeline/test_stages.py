"""Whole runs against a real vLLM: what they hold, how they end, and what a dying server leaves."""

import asyncio
import json
import os
import signal

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import DebuggerError, LabError
from prompt_debugger.core.base.types import Basis, Stage
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabPool, LabSpec

pytestmark = pytest.mark.lab

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def request_of(**fields):
    body = {"messages": [{"role": "user", "content": "What's the weather in Paris?"}], "temperature": 0, **fields}
    return read_request(json.dumps(body))


def run(request, labs, **target):
    return asyncio.run(pipeline.run(request, Target(**target), labs))


async def followed(request, labs):
    async with pipeline.follow(request, Target(), labs) as (progresses, task):
        while (progress := await progresses.next()) is not None:
            yield progress
        await task


def test_stages_fill_up_in_order(labs):
    seen = []

    async def go():
        request = read_request(find_example("healthy-call").request_text)
        async for progress in followed(request, labs):
            trace = progress.trace
            stages = (trace.server, trace.local_prompt, trace.chat, trace.parse, trace.verdict)
            seen.append(tuple(stage is not None for stage in stages))

    asyncio.run(go())

    assert seen == sorted(seen)
    assert seen[-1] == (True,) * 5


def test_raw_completion_on_the_same_ids_gives_the_same_output(labs):
    trace = run(read_request(find_example("parallel-calls").request_text), labs)

    assert trace.evidence is Basis.SAME_RUN
    assert trace.raw_again.token_ids == trace.raw.token_ids
    assert trace.chat_stream.token_ids == trace.raw.token_ids


def test_a_forced_choice_gives_raw_completion_the_same_grammar(labs):
    trace = run(request_of(tools=[TOOL], tool_choice="required", max_tokens=64), labs)

    assert trace.raw.constraint or trace.raw_again.constraint
    assert trace.raw_again.token_ids == trace.raw.token_ids
    assert trace.chat.message["tool_calls"][0]["function"]["name"] == "get_weather"


def test_a_refused_request_is_a_verdict_not_an_exception(labs):
    trace = run(request_of(max_tokens=-5), labs)

    assert trace.refusal.status == 400
    assert trace.verdict.stage is Stage.REQUEST
    assert trace.chat is None
    assert trace.local_prompt is not None


def test_closing_the_iterator_ends_the_run_and_leaves_the_lab(labs):
    async def go():
        request = request_of(max_tokens=1500, ignore_eos=True)
        async for progress in followed(request, labs):
            if progress.raw_text or progress.chat_text:
                break
        return progress

    progress = asyncio.run(go())

    assert progress.trace.verdict is None
    assert labs.peek(LabSpec()).is_alive
    assert run(read_request(find_example("healthy-call").request_text), labs).verdict.stage is None


def test_a_server_killed_midway_is_one_clear_error_and_the_next_run_boots_another():
    labs = LabPool()

    async def go():
        request = request_of(max_tokens=1900, ignore_eos=True)
        last, killed = None, False
        try:
            async for progress in followed(request, labs):
                last = progress
                if not killed and (progress.raw_text or progress.chat_text):
                    os.kill(labs.peek(LabSpec()).pid, signal.SIGKILL)
                    killed = True
        except DebuggerError as error:
            return last, error
        return last, None

    try:
        last, error = asyncio.run(go())
        again = run(read_request(find_example("healthy-call").request_text), labs)
    finally:
        labs.stop_all()

    assert isinstance(error, LabError) or last.trace.chat_stream.error
    assert error is None or "killed from outside" in error.message
    assert last.trace.request.body["max_tokens"] == 1900
    assert last.trace.local_prompt is not None
    assert again.verdict.stage is None


def test_an_endpoint_without_tokenizer_still_gets_a_verdict(labs, lab_url):
    trace = run(read_request(find_example("dropped-call").request_text), labs, base_url=lab_url, model="lab-model")

    assert trace.verdict.dropped_calls == 1
    assert not trace.server.is_lab
