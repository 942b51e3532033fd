"""All parsers of an engine: what is not asked in time, or kills its helper, is named, and the rest is given."""

from collections.abc import Iterator, Sequence
from typing import Unpack

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import ParserOutcome, VllmOutcome
from prompt_debugger.core.parse.engines import ParseOptions, RawOutput
from prompt_debugger.core.parse.engines.process import HelperFailedError
from prompt_debugger.core.pipeline.case_parser import ENGINE_S, ask_within_time

NAMES = [*(f"vllm:p{number}" for number in range(10)), *(f"sglang@0.5.23:p{number}" for number in range(3))]


class Engines:
    """Answers for every parser but one, which is too much for its helper."""

    def __init__(self, hanging: str = "") -> None:
        self.hanging = hanging

    async def parse_with(
        self, parsers: Sequence[str], output: RawOutput, **options: Unpack[ParseOptions]
    ) -> dict[str, ParserOutcome]:
        del output, options
        if self.hanging in parsers:
            raise HelperFailedError("The parser helper gave no answer within 60 s.")
        return {name: VllmOutcome(None, None, ()) for name in parsers}


def ticking(step_s: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step_s


async def ask(engines: Engines, step_s: float = 0.0) -> tuple[list[str], tuple[str, ...]]:
    clock = ticking(step_s)
    outcomes, notes = await ask_within_time(engines, NAMES, RawOutput("x"), clock=lambda: next(clock))
    return list(outcomes), notes


async def test_all_are_asked_where_there_is_time() -> None:
    assert await ask(Engines()) == (NAMES, ())


async def test_what_is_not_asked_in_time_is_named_engine_by_engine() -> None:
    asked, notes = await ask(Engines(), step_s=ENGINE_S)

    assert asked == [*NAMES[:4], *NAMES[10:]]
    (note,) = notes
    assert note.startswith("6 parsers of vLLM were not asked, as the 180 s for one engine were up: `vllm:p4`, ")


async def test_a_parser_that_kills_its_helper_costs_only_those_asked_with_it() -> None:
    asked, notes = await ask(Engines(hanging="vllm:p5"))

    assert asked == [*NAMES[:4], *NAMES[8:]]
    assert notes == (
        "No answer of `vllm:p4`, `vllm:p5`, `vllm:p6`, `vllm:p7`: The parser helper gave no answer within 60 s.",
    )


async def test_where_none_answers_the_reason_is_raised() -> None:
    with pytest.raises(EngineError, match="no answer within 60 s"):
        await ask_within_time(Engines(hanging="vllm:p1"), ["vllm:p1"], RawOutput("x"))
