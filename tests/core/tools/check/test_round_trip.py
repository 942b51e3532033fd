"""Who is asked what: at first everyone whole, then those that read are streamed to."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.parse.engines import VllmParsers
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check.answers import ANSWERS
from prompt_debugger.core.tools.check.ideal import Writer
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.round_trip import Question, RoundTrip
from tests.core.tools.check.templates import HERMES

WANTED = {answer.name: answer for answer in ANSWERS}
NAMES = ["vllm:reads", "vllm:reads_no_call"]


class Parsers:
    """Answers as vLLM's helper does: one parser reads every call of our template, the other none."""

    def __init__(self, *, loads=True):
        self.asked = []
        self.loads = loads

    async def parsers(self):
        return VllmParsers("0.32.0", ("reads", "reads_no_call"), ())

    async def parse_with(self, names, output, *, streaming, **_):
        self.asked.append((tuple(names), streaming, output.tokenizer))
        await asyncio.sleep(0)  # others get their turn, as with a helper that works
        return {name: self.outcome(name, output, streaming) for name in names}

    def outcome(self, name, output, streaming):
        if output.tokenizer is not None and not self.loads:
            return VllmOutcome(None, None, (), error="OSError: no config.json")
        text = output.raw.removesuffix("<|im_end|>")
        if "no_call" in name:
            return VllmOutcome(None, text, ())
        content, _, calls = text.partition("\n<tool_call>")
        found = [json.loads(one.split("</tool_call>")[0]) for one in calls.split("<tool_call>") if one]
        shaped = tuple({"function": {"name": one["name"], "arguments": json.dumps(one["arguments"])}} for one in found)
        equal = True if streaming else None
        return VllmOutcome(None, content or None, shaped, stream_equal=equal, usual_stream_equal=equal)


@pytest.fixture
def question():
    writer = Writer(CheckedModel("test", HERMES).renderer(run_job))
    return Question(tuple(writer.write(WANTED[name]) for name in ("one-call", "two-calls", "text")))


async def test_only_parsers_that_read_the_simplest_call_are_streamed_to(question):
    engine = Parsers()
    trip = RoundTrip([engine], question)

    await trip.ask(NAMES, "tool parsers")

    assert {names for names, streaming, _ in engine.asked if streaming} == {("vllm:reads",)}
    assert [cell.is_passed for cell in trip.cells["vllm:reads"].values()] == [True, True, True]
    assert [cell.whole for cell in trip.cells["vllm:reads_no_call"].values()] == [False, False, True]
    assert list(trip.cells["vllm:reads"]) == ["one-call", "two-calls", "text"]


async def test_several_helpers_share_the_answers(question):
    engines = [Parsers(), Parsers()]
    trip = RoundTrip(engines, question)

    await trip.ask(NAMES, "tool parsers")

    asked = [sum(not streaming for _, streaming, _ in engine.asked) for engine in engines]
    assert sum(asked) == 3
    assert all(asked)


async def test_a_vocabulary_that_vllm_cannot_load_gives_way_to_a_stand_in(question):
    engine = Parsers(loads=False)
    trip = RoundTrip([engine], replace(question, tokenizer=Path("folder")))

    await trip.ask(NAMES, "tool parsers")

    assert trip.question.tokenizer is None
    assert trip.cells["vllm:reads"]["one-call"].is_passed
    assert {tokenizer for _, _, tokenizer in engine.asked[2:]} == {None}


async def test_an_answer_that_the_template_does_not_print_is_asked_of_no_one(question):
    lost = replace(question.ideals[1], lost=("calls",))
    trip = RoundTrip([Parsers()], replace(question, ideals=(question.ideals[0], lost)))

    await trip.ask(NAMES, "tool parsers")

    assert list(trip.cells["vllm:reads"]) == ["one-call"]
