"""The one error that a wrong document gives: the place, what was found there, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic_core import ErrorDetails, ValidationError

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.types import JSON

_EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "bytes_invalid_encoding": "bytes in hex",
    "bytes_type": "bytes in hex",
    "dataclass_type": "an object",
    "dict_type": "an object",
    "finite_number": "a number",
    "float_type": "a number",
    "frozen_set_type": "a list",
    "greater_than_equal": "a number from 0",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "an object",
    "string_type": "a text",
    "too_long": "a shorter list",
    "tuple_type": "a list",
}
_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")


class DamageError(Exception):
    """A place of a document that holds something else than it should.

    Attributes:
        place: The path, such as `prompt.tokens[3].id`; "" for the whole.
        problem: What is there and what was expected.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"`{place}`: {problem}" if place else problem)
        self.place = place
        self.problem = problem


def damage_of(error: ValidationError, document: JSON) -> DamageError:
    """Return the first thing that is wrong with a document."""
    first = error.errors(include_url=False)[0]
    steps = _steps_in(document, first["loc"])
    return DamageError("".join(map(_step, steps)).removeprefix("."), _problem(first))


def _problem(error: ErrorDetails) -> str:
    kind, last = error["type"], error["loc"][-1] if error["loc"] else ""
    if kind == "missing":
        return f"it lacks `{last}`" if isinstance(last, str) else "it is shorter than expected"
    if kind in _UNKNOWN:
        return "this field is unknown"
    expected = error.get("ctx", {}).get("expected")  # of an enum or a literal: 'a', 'b' or 'c'
    words = _EXPECTED.get(kind, error["msg"]) if expected is None else f"one of {expected}"
    return f"it is {shorten(error['input'])}, expected {words}"


def _steps_in(document: JSON, location: Sequence[int | str]) -> list[int | str]:
    """Return the part of a location that leads into the document: pydantic names the members of unions, too."""
    steps: list[int | str] = []
    place = document
    for step in location:
        inside = _inside(place, step)
        if inside:
            place = inside[0]
            steps.append(step)
    return steps


def _inside(place: JSON, step: int | str) -> tuple[JSON, ...]:
    """Return a tuple of the value at a step inside another; an empty one if there is no such step."""
    if isinstance(place, dict) and isinstance(step, str) and step in place:
        return (place[step],)
    if isinstance(place, list) and isinstance(step, int) and 0 <= step < len(place):
        return (place[step],)
    return ()


def _step(key: int | str) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{key}"
