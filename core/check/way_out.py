"""The way out where vLLM's parsers fall short: our own reader as a parser plugin, if it reads more of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompt_debugger.core.check.ideal import Ideal
from prompt_debugger.core.check.judge import Cell
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.json_values import same_json
from prompt_debugger.core.protocols import ReadContext
from prompt_debugger.core.types import CallStatus, JSONObject


def way_out(
    ideals: Sequence[Ideal], tools: tuple[JSONObject, ...], family: str | None, row: Mapping[str, Cell]
) -> str | None:
    """Return the sentence about our plugin; `None` if it reads no more than the recommended parsers.

    Args:
        ideals: What the template makes of each answer.
        tools: What every request offered.
        family: Format that the model writes in.
        row: What the recommended parsers give back; empty if nothing works.
    """
    asked = [ideal for ideal in ideals if ideal.is_whole and ideal.answer.calls]
    if family is None or not asked:
        return None
    ours = sum(_reads(ideal, tools, family) for ideal in asked)
    theirs = sum(ideal.answer.name in row and row[ideal.answer.name].is_passed for ideal in asked)
    if ours <= theirs:
        return None
    return (
        f"This program's own reader finds the calls of {ours} of {len(asked)} answers: "
        f"`prompt-debugger plugin --family {family} --output parser.py` writes it as a parser plugin for vLLM; "
        "check it with `--parser-file parser.py`."
    )


def _reads(ideal: Ideal, tools: tuple[JSONObject, ...], family: str) -> bool:
    """Return whether our reader finds exactly the calls that went in."""
    found = FORMATS[family].read(ideal.raw, ReadContext(tools, ideal.prompt_tail)).calls
    wanted = ideal.answer.calls
    return len(found) == len(wanted) and all(
        got.status is CallStatus.COMPLETE and got.name == want.name and same_json(got.arguments_json, want.arguments)
        for got, want in zip(found, wanted, strict=True)
    )
