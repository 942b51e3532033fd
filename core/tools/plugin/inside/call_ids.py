"""Ids of calls in the family's own style: what the history shows, the model imitates."""

from __future__ import annotations

import uuid

from prompt_debugger.core.base.types import ToolCallAttempt
from prompt_debugger.core.formats import TextFormat

_NINE = frozenset({"mistral", "mistral_v11"})


def id_of_call(family: TextFormat, call: ToolCallAttempt, number: int) -> str:
    """Return the id to give a call of a family; `number` is how many calls the conversation has before it."""
    problem_of = family.facts.id_problem
    if problem_of is not None:
        return call.id if call.id and problem_of(call.id) is None else f"functions.{call.name}:{number}"
    if call.id:
        return call.id
    made = uuid.uuid4().hex
    return made[:9] if family.name in _NINE else f"call_{made[:24]}"
