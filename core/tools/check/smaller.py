"""Shrinks a random answer that fails, as long as the same parser has the same problem with it.

Parts of the arguments are left out one after the other, always in the same order and within a budget; what remains is
what the problem needs.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, answers
from prompt_debugger.core.tools.check.ideal import Ideal, Writer
from prompt_debugger.core.tools.check.judge import Cell

Again = Callable[[Ideal, bool], Awaitable[Cell]]
_MAX_WHOLE, _MAX_STREAMED = 200, 40  # streaming takes every chunking
_PLACE = re.compile(r"`([A-Za-z_]+)[^`]*`")
_TYPES = re.compile(r"changes its type: (\w+) .*? becomes (\w+) ", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller answer with the same problem."""

    ideal: Ideal
    cell: Cell


async def make_smaller(writer: Writer, ideal: Ideal, cell: Cell, again: Again) -> Smaller | None:
    """Return the smallest answer found with the same problem; `None` if nothing can go."""
    if len(ideal.answer.calls) != 1 or cell.is_passed:
        return None
    call, wanted, is_streamed = ideal.answer.calls[0], kind_of(cell), cell.whole
    best: Smaller | None = None

    async def holds(arguments: JSONObject) -> bool:
        nonlocal best
        answer = replace(ideal.answer, calls=(replace(call, arguments=arguments),))
        made = await asyncio.to_thread(writer.write, answer)
        if not made.is_whole:
            return False
        got = await again(made, is_streamed)
        if got.is_passed or kind_of(got) != wanted:
            return False
        best = Smaller(made, got)
        return True

    await reduce_arguments(call.arguments, holds, _MAX_STREAMED if is_streamed else _MAX_WHOLE)
    return best


async def smaller_answers(
    writer: Writer, ideals: Sequence[Ideal], row: Mapping[str, Cell], again: Again
) -> dict[str, Smaller]:
    """Return by name the random answers that fail, shrunk; those that cannot be shrunk are left out."""
    usual = {one.name: one for one in answers()}
    failing = [one for one in ideals if one.answer.name not in usual and one.answer.name in row]
    failing = [one for one in failing if not row[one.answer.name].is_passed]
    if failing:  # from the simplest call the writer learns how the template takes calls
        await asyncio.to_thread(writer.write, usual[SIMPLEST_CALL])
    found: dict[str, Smaller] = {}
    for ideal in failing:
        name = ideal.answer.name
        if (one := await make_smaller(writer, ideal, row[name], again)) is not None:
            found[name] = one
    return found


def kind_of(cell: Cell) -> str:
    """Return the kind of a problem: its words without the values of one answer, but with the argument's name."""
    if cell.whole:
        return "streamed" if cell.streamed is False else "reasoning"
    text = _PLACE.sub(r"`\1`", cell.problem or "")
    kind = re.split(r"[:;]", re.sub(r"^call \d+: ", "", text))[0]
    types = _TYPES.search(text)
    return kind if types is None else f"{kind} {types[1]} {types[2]}"


async def reduce_arguments(
    arguments: JSONObject, holds: Callable[[JSONObject], Awaitable[bool]], most: int
) -> JSONObject:
    """Return the smallest arguments found for which `holds` is true, after at most `most` questions."""
    asked: set[str] = set()
    while True:
        for smaller in _smaller(arguments):
            key = json.dumps(smaller)
            if not isinstance(smaller, dict) or key in asked:
                continue
            if len(asked) >= most:
                return arguments
            asked.add(key)
            if await holds(smaller):
                arguments = smaller
                break
        else:
            return arguments


def _smaller(value: JSON) -> Iterator[JSON]:
    """Yield versions of a value with one part left out, the largest parts first."""
    if isinstance(value, dict):
        yield from ({key: one for key, one in value.items() if key != left_out} for left_out in value)
        for name in value:
            yield from ({**value, name: one} for one in _smaller(value[name]))
    elif isinstance(value, list):
        yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
        for at, item in enumerate(value):
            yield from ([*value[:at], one, *value[at + 1 :]] for one in _smaller(item))
    elif isinstance(value, str):
        yield from _shorter(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1):
        yield from (0, 1) if isinstance(value, int) else (0.5,) if value != 0.5 else ()


def _shorter(text: str) -> Iterator[str]:
    if text:
        yield ""
    if len(text) > 2:
        half = len(text) // 2
        yield from (text[half:], text[:half])
    if len(text) > 1:
        yield from (text[:at] + text[at + 1 :] for at in range(len(text)))
