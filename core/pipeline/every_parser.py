"""All parsers of one or several engines, within a time limit; those that were not asked in time are named."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import ParserOutcome
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import RawOutput, RunsParsers, engine_of_parser
from prompt_debugger.core.parse.engines.process import HelperFailedError

_AT_ONCE = 4  # parsers of an engine between two looks at the clock
ENGINE_S = 180.0
"""Seconds for all parsers of one engine, once the first have answered: an import alone takes minutes where nothing is
idle."""


async def ask_within_time(
    engines: RunsParsers,
    names: Sequence[str],
    output: RawOutput,
    *,
    thorough: bool = False,
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[dict[str, ParserOutcome], tuple[str, ...]]:
    """Ask every one of some parsers, a few at a time, those of an engine together, one after the other.

    Returns:
        The outcomes that came, and which parsers gave none, and why.

    Raises:
        EngineError: None gave one.
    """
    outcomes: dict[str, ParserOutcome] = {}
    notes: list[str] = []
    failures: list[EngineError] = []
    for kind, of_kind in itertools.groupby(names, key=lambda name: name.partition(":")[0]):
        left, until = list(of_kind), None
        while left and (until is None or clock() < until):
            some, left = left[:_AT_ONCE], left[_AT_ONCE:]
            try:
                outcomes |= await engines.parse_with(some, output, thorough=thorough, seed=seed)
            except HelperFailedError as error:  # one of them was too much for its helper
                failures.append(error)
                notes.append(f"No answer of {_listed(some)}: {error}")
            until = until or clock() + ENGINE_S
        if left:
            notes.append(
                f"{len(left)} parsers of {title_of(engine_of_parser(f'{kind}:'))} were not asked, as the "
                f"{ENGINE_S:g} s for one engine were up: {_listed(left)}. A parser that is named is asked by itself."
            )
    if failures and not outcomes:
        raise failures[0]
    return outcomes, tuple(notes)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
