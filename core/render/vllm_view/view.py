"""A request on its way to the template, and the small steps that causes are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from prompt_debugger.core.render.trace.derive import derived_object, peek
from prompt_debugger.core.render.trace.runs import Field
from prompt_debugger.core.render.trace.values import TracedDict, TracedList


@dataclass(slots=True)
class View:
    """A request as far as the server has changed it.

    Attributes:
        messages: One entry per message.
        tools: The tools, if any.
        changes: What the cause under way changed, as sentences without their subject.
    """

    messages: list[TracedDict]
    tools: TracedList | None
    changes: list[str] = field(default_factory=list)

    def replace(self, index: int, entries: Mapping[str, object]) -> None:
        """Replace a message by one that has these entries."""
        self.messages[index] = derived_object(entries, self.messages[index]._field)

    def put(self, index: int, key: str, value: object) -> None:
        """Replace one entry of a message."""
        self.replace(index, {**entries_of(self.messages[index]), key: value})


Cause: TypeAlias = Callable[[View], None]


def entries_of(value: TracedDict) -> dict[str, object]:
    """Return the entries of an object, wrapped."""
    return {key: peek(value, key) for key in dict.keys(value)}


def keys_of(value: object) -> list[str]:
    """Return the keys of an object in order; none for anything else."""
    return list(dict.keys(value)) if isinstance(value, TracedDict) else []


def role_of(message: TracedDict) -> str:
    """Return the role of a message; "" if it has none."""
    role = peek(message, "role")
    return role if isinstance(role, str) else ""


def path_of(owner: TracedDict, key: str) -> str:
    """Return the path of an entry."""
    return Field(owner._field, key).path


def in_order(entries: Mapping[str, object], order: Sequence[str]) -> dict[str, object]:
    """Return the entries, those named in `order` first."""
    return {key: entries[key] for key in order if key in entries} | dict(entries)
