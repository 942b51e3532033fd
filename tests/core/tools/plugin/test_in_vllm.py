"""The written file inside the installed vLLM: what it gives is what the census says, streamed and not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.parse.engines import EngineLimits, RawOutput, VllmEngine
from prompt_debugger.core.tools.plugin.inside.deltas import Whole, WholeCall
from prompt_debugger.core.tools.plugin.write import write_plugin
from tests.core.tools.plugin.outputs import differences, outputs
from tests.core.tools.plugin.test_streams import STREAMED_OTHERWISE, WEATHER, kimi_call

pytestmark = pytest.mark.vllm
PARSER = "vllm:prompt_debugger+prompt_debugger"
# gpt-oss is parsed by vLLM itself, whatever parser is named.
OUTPUTS = [one for one in outputs() if len(one[2]) < 5_000 and one[1] != "harmony"]
# Whose they are, or that the prompt left reasoning open, these outputs do not tell from their beginning; `--family`
# and the template of a real tokenizer do.
UNTOLD = {
    "ernie45/reasoning-text-two-calls",
    "hermes/broken-sibling",
    "hermes/opening-tag-missing",
    "hunyuan_v3/reasoning-text-two-calls",
    "kimi_k2/call-ends-open-reasoning",
    "minimax_m1/reasoning-text-two-calls",
    "qwen3_coder/reasoning-text-two-calls",
    "around_calls: Hermes, a code fence between the tags",
    "around_calls: Kimi, reasoning that is never closed",
    "around_calls: Qwen3-Coder, reasoning open in the prompt",
    "around_calls: Mistral, text before and behind the list",
    "messages: Command R, an action in a fence",
    "tags: Hunyuan, an answer that only closes, behind its calls",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    file = tmp_path_factory.mktemp("plugin") / "prompt_debugger_parser.py"
    file.write_text(write_plugin("all"), encoding="utf-8")
    engine = VllmEngine(plugins=[file], limits=EngineLimits(request_s=600.0, parser_s=120.0))
    yield engine
    engine.close()


async def parse(engine, raw, **more):
    outcomes = await engine.parse_with([PARSER], RawOutput(raw, **more))
    outcome = outcomes[PARSER]
    assert isinstance(outcome, VllmOutcome)
    return outcome


def whole_of(outcome):
    calls = {
        index: WholeCall(call["function"]["name"], call["id"], call["function"]["arguments"])
        for index, call in enumerate(outcome.tool_calls)
    }
    return Whole(outcome.content or "", outcome.reasoning or "", calls)


@pytest.mark.parametrize(("name", "family", "raw", "given"), OUTPUTS, ids=[name for name, *_ in OUTPUTS])
async def test_an_output_gives_what_the_census_says(engine, name, family, raw, given):
    given = replace(given, tools=given.tools or (WEATHER,))  # a server reads no calls where there are no tools
    outcome = await parse(
        engine, raw, tools=given.tools, prompt_text=given.prompt_tail or None, finish_reason=given.finish_reason
    )

    assert (outcome.error, outcome.log) == (None, ())
    assert differences(whole_of(outcome), raw, family, given, exact=name not in UNTOLD) == []
    if name not in STREAMED_OTHERWISE | UNTOLD:
        assert outcome.stream_equal, outcome.first_unequal


async def test_ids_kept_by_vllm_are_those_of_the_family(engine):
    outcome = await parse(engine, kimi_call('{"city": "Paris"}'), tools=(WEATHER,))

    assert [call["id"] for call in outcome.tool_calls] == ["functions.get_weather:0"]
    assert outcome.finish_reason == "tool_calls"


async def test_calls_stay_text_where_the_request_has_no_tools(engine):
    raw = kimi_call('{"city": "Paris"}')

    outcome = await parse(engine, raw, tools=())

    assert (outcome.tool_calls, outcome.error) == ((), None)
    assert outcome.content == raw
