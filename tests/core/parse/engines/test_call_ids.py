"""Whether a tool call's id counts as a difference between streaming and whole: only one that is in the text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine

pytestmark = pytest.mark.vllm

PLUGIN = Path(__file__).parent / "plugins" / "naming.py"
TOOL: JSONObject = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
ONE = "id-one id-two {}."
TWO = ONE + "id-three id-four {}."


@pytest.fixture(scope="module")
def naming_engine() -> Iterator[VllmEngine]:
    engine = VllmEngine(plugins=[PLUGIN])
    yield engine
    engine.close()


async def parse(engine: VllmEngine, parser: str, raw: str) -> VllmOutcome:
    outcome = (await engine.parse_with([parser], RawOutput(raw, tools=(TOOL,)), thorough=True))[parser]
    assert isinstance(outcome, VllmOutcome)
    assert outcome.error is None
    assert outcome.tool_calls
    return outcome


async def test_ids_that_mistral_draws_do_not_count(engine: VllmEngine) -> None:
    outcome = await parse(engine, "vllm:mistral", "[TOOL_CALLS]f[ARGS]{}</s>")

    assert (outcome.stream_equal, outcome.first_unequal) == (True, None)
    assert [trial for trial in outcome.trials if trial.difference is not None] == []


async def test_drawn_ids_of_no_known_shape_do_not_count(naming_engine: VllmEngine) -> None:
    first, again = [await parse(naming_engine, "vllm:drawing", TWO) for _ in range(2)]

    assert first.tool_calls[0]["id"] != again.tool_calls[0]["id"]
    assert (first.stream_equal, first.first_unequal) == (True, None)


async def test_a_drawn_id_hides_no_difference_after_it(naming_engine: VllmEngine) -> None:
    outcome = await parse(naming_engine, "vllm:altering", TWO)

    assert outcome.stream_equal is False
    assert "tool_calls[1] arguments is '[]' but parsing the whole output gives '{}'" in str(outcome.first_unequal)


async def test_an_id_taken_from_the_text_is_the_same_either_way(naming_engine: VllmEngine) -> None:
    outcome = await parse(naming_engine, "vllm:taking", ONE)

    assert outcome.tool_calls[0]["id"] == "id-one"
    assert outcome.stream_equal is True


async def test_another_id_of_the_text_counts(naming_engine: VllmEngine) -> None:
    outcome = await parse(naming_engine, "vllm:shifting", ONE)

    assert (outcome.stream_equal, outcome.usual_stream_equal) == (False, False)
    assert "tool_calls[0] id is 'id-two' but parsing the whole output gives 'id-one'" in str(outcome.first_unequal)


async def test_an_id_of_the_text_for_which_streaming_draws_one_counts(naming_engine: VllmEngine) -> None:
    outcome = await parse(naming_engine, "vllm:losing", ONE)

    assert outcome.stream_equal is False
    assert "tool_calls[0] id is 'chatcmpl-tool-" in str(outcome.first_unequal)
