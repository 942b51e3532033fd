"""The records against vLLM's own parsers: those of a family read what the family writes, its switch turns thinking."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from prompt_debugger.core.formats import FORMATS, TABLES
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine, VllmOutcome, write_parser_name
from prompt_debugger.core.types import JSONObject
from tests.core.formats.renderers import RENDERERS

pytestmark = pytest.mark.vllm

THOUGHT, ANSWER = "They ask about it.", "It is sunny."
ARGUMENTS = {"city": "Paris", "days": 3}
TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    },
}
# Why a parser of the family cannot be asked this way.
NOT_ASKED = {
    "cohere_command3": "needs a package that vLLM does not bring",
    "cohere_command4": "needs a package that vLLM does not bring",
    "openai": "reads token ids of its own vocabulary",
    "openai_gptoss": "reads token ids of its own vocabulary",
    "minimax_m2_append_think": "leaves reasoning in content on purpose",
    "poolside_v1": "needs the tokens of its own template",
    "mistral": "the stand-in vocabulary makes it a later version's",
    "deepseek_v41": "the renderer writes the wrapper of V3.2",
    "gigachat3": "needs control tokens that the renderer leaves to the server",
    "hy_v4": "the renderer writes the body of version 3",
    "functiongemma": "keeps the first argument alone",
}
SPLITTERS = [
    (name, parser)
    for name, parsers in sorted(TABLES.reasoning_parsers.items())
    for parser in parsers
    if parser not in NOT_ASKED and RENDERERS[name].has_reasoning
]
READERS = [
    (name, parser)
    for name, parsers in sorted(TABLES.tool_parsers.items())
    for parser in parsers
    if parser not in NOT_ASKED and (name, parser) != ("qwen3_coder", "mimo")  # it keeps the line breaks of values
]


@pytest.fixture(scope="module")
def engine() -> Iterator[VllmEngine]:
    warm = VllmEngine()
    yield warm
    warm.close()


async def ask(engine: VllmEngine, name: str, raw: str, request: JSONObject) -> VllmOutcome:
    body: JSONObject = {"messages": [{"role": "user", "content": "x"}], **request}
    outcome = (await engine.parse_with([name], RawOutput(raw, request=body), streaming=False))[name]
    assert isinstance(outcome, VllmOutcome)
    return outcome


def kwargs(name: str, *, on: bool) -> JSONObject:
    values = {switch.name: switch.on if on else switch.off for switch in FORMATS[name].facts.switches[:1]}
    return {"chat_template_kwargs": values}


@pytest.mark.parametrize(("name", "parser"), SPLITTERS, ids=str)
async def test_a_reasoning_parser_of_the_family_splits_what_it_writes(
    engine: VllmEngine, name: str, parser: str
) -> None:
    raw = RENDERERS[name].render(THOUGHT, ANSWER, [])

    outcome = await ask(engine, write_parser_name(None, parser), raw, kwargs(name, on=True))

    assert THOUGHT in (outcome.reasoning or "")
    assert ANSWER in (outcome.content or "")
    assert THOUGHT not in (outcome.content or "")


@pytest.mark.parametrize(("name", "parser"), [pair for pair in SPLITTERS if FORMATS[pair[0]].facts.switches], ids=str)
async def test_the_switch_of_the_family_tells_its_parser_that_nothing_is_thought(
    engine: VllmEngine, name: str, parser: str
) -> None:
    outcome = await ask(engine, write_parser_name(None, parser), ANSWER, kwargs(name, on=False))

    got = (outcome.reasoning or None, (outcome.content or "").strip())
    assert got == ((ANSWER, "") if parser in FORMATS[name].facts.deaf_parsers else (None, ANSWER))


@pytest.mark.parametrize(("name", "parser"), READERS, ids=str)
async def test_a_tool_parser_of_the_family_reads_what_it_writes(engine: VllmEngine, name: str, parser: str) -> None:
    raw = RENDERERS[name].render(None, "", [("get_weather", ARGUMENTS)])

    outcome = await ask(engine, write_parser_name(parser, None), raw, {"tools": [TOOL]})

    functions = [call["function"] for call in outcome.tool_calls]
    got = [(one["name"], json.loads(str(one["arguments"]))) for one in functions if isinstance(one, dict)]
    assert got == [("get_weather", ARGUMENTS)]
