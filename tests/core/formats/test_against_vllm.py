"""The records against vLLM's own parsers: those of a family read what the family writes, its switch turns thinking."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.formats import FORMATS, TABLES, pick_format
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine, write_parser_name
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
    "minimax_m2_append_think": "leaves reasoning in content on purpose; it has a test of its own",
}


def as_v41(raw: str) -> str:
    """Write DeepSeek V4.1's tags, which have a space and another wrapper."""
    return re.sub(r"｜DSML｜(?=invoke|parameter)", "｜DSML｜ ", raw).replace("｜DSML｜function_calls", "｜DSML｜ calls")


def as_hy_v4(raw: str) -> str:
    """Write a call of Hunyuan V4: that of V3 without its separator and line breaks."""
    return raw.replace("<tool_sep>", "").replace("\n", "")


# What a parser of the family reads that is written a little otherwise than the renderer writes it.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "deepseek_v41": as_v41,
    "hy_v4": as_hy_v4,
    "gigachat3": lambda raw: raw.split("<|message_sep|>")[0],  # the server ends generation before its end token
}
# Those that keep one argument alone.
ONE_ARGUMENT = {"functiongemma"}
SPLITTERS = [
    (name, parser)
    for name, parsers in sorted(TABLES.reasoning_parsers.items())
    for parser in parsers
    if parser not in NOT_ASKED and RENDERERS[name].has_reasoning and name != "mistral"  # its parser knows [THINK] alone
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
    assert got == ((ANSWER, "") if parser in FORMATS[name].facts.parsers_ignoring_switch else (None, ANSWER))


@pytest.mark.parametrize(("name", "parser"), READERS, ids=str)
async def test_a_tool_parser_of_the_family_reads_what_it_writes(engine: VllmEngine, name: str, parser: str) -> None:
    arguments = {"city": "Paris"} if parser in ONE_ARGUMENT else ARGUMENTS
    raw = SPELLINGS.get(parser, str)(RENDERERS[name].render(None, "", [("get_weather", arguments)]))
    context = ReadContext((TOOL,))

    outcome = await ask(engine, write_parser_name(parser, None), raw, {"tools": [TOOL]})
    census = pick_format(raw, context).read(raw, context)

    functions = [call["function"] for call in outcome.tool_calls]
    got = [(one["name"], json.loads(str(one["arguments"]))) for one in functions if isinstance(one, dict)]
    assert got == [("get_weather", arguments)]
    assert got == [(call.name, call.arguments_json) for call in census.calls]


async def test_a_parser_that_leaves_reasoning_in_content_says_so_by_its_opening_tag(engine: VllmEngine) -> None:
    raw = f"{THOUGHT}</think>\n\n{ANSWER}"

    outcome = await ask(engine, write_parser_name(None, "minimax_m2_append_think"), raw, {})

    assert outcome.reasoning is None
    assert outcome.content == f"<think>{raw}"
