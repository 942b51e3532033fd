"""Causes of differences: one thing is changed at a time, and what helps is named; what nothing shows is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine
from prompt_debugger.core.pipeline.census import read_raw
from scripts.engine_causes import Output, cause_of
from tests.core.tools.plugin.test_streams import kimi_call

ODD = kimi_call('{"city": "a </b> c"}')
TWO = kimi_call('{"city": "Rome"}') * 2


class OneParser(VllmEngine):
    """An engine whose parser reads what a rule lets through."""

    def __init__(self, reads: Callable[[RawOutput], bool], streams: Callable[[RawOutput], bool] = bool) -> None:
        self._reads, self._streams = reads, streams

    async def parse_with(self, parsers, output, *, streaming=True, is_space_free=False, **_):
        calls: list[JSONObject] = []
        if self._reads(output):
            found = read_raw(output.raw, ReadContext(), message=None).parsed.calls
            calls = [{"function": {"name": call.name, "arguments": call.arguments}} for call in found]
        equal = bool(self._streams(output)) if streaming else None
        return {parsers[0]: VllmOutcome(None, None, tuple(calls), stream_equal=equal)}


def output_of(raw: str) -> Output:
    parse = read_raw(raw, ReadContext(), message=None)
    return Output(RawOutput(raw, finish_reason="stop"), parse)


@pytest.mark.parametrize(
    ("raw", "reads", "cause"),
    [
        (ODD, lambda one: "</b>" not in one.raw, "something in a value (a tag"),
        (f"Let me see. {ODD}", lambda one: "Let me" not in one.raw, "the text around the call"),
        (TWO, lambda one: one.raw.count("<|tool_call_begin|>") < 2, "it reads one call, and not several"),
        (kimi_call("{}").replace("functions.get_weather:0", "search"), lambda one: ":0<" in one.raw, "it refuses"),
        (ODD, lambda one: "Paris" in one.raw or one.tools is not None, "it types values by the tool's schema"),
        (ODD, lambda one: one.raw != ODD and "Paris" in one.raw, ""),
        (ODD, lambda one: False, "it does not read a plain call of this family either"),
    ],
)  # fmt: skip
async def test_what_helps_is_the_cause(raw: str, reads: Callable[[RawOutput], bool], cause: str) -> None:
    found = await cause_of(OneParser(lambda one: bool(reads(one))), "vllm:kimi_k2", output_of(raw), "kimi_k2")

    assert found.startswith(cause)
    assert bool(found) is bool(cause)


async def test_a_call_is_tried_as_the_model_writes_it_and_a_plain_one_behind_reasoning() -> None:
    raw = (
        "<|channel|>analysis<|message|>Need it.<|end|><|start|>assistant to=functions.search<|channel|>commentary json"
    )
    output = output_of(raw + '<|message|>{"query": "a"}<|call|>')

    def reads(one: RawOutput) -> bool:
        return "<|start|>assistant<|channel|>commentary to=" in one.raw

    assert (await cause_of(OneParser(reads), "sglang:gpt-oss", output, "harmony")).startswith("it wants a call as the")
    nothing = await cause_of(OneParser(lambda one: False), "sglang:gpt-oss", output, "harmony")
    assert nothing.startswith("it does not read a plain call")


async def test_a_stream_that_differs_is_tried_likewise() -> None:
    engine = OneParser(lambda one: True, lambda one: "Let me" not in one.raw)

    found = await cause_of(engine, "vllm:kimi_k2", output_of(f"Let me see. {ODD}"), "kimi_k2")

    assert found == "the text around the call misleads it"
