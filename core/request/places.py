"""Where a value is: its path in the body, and its line and column in the pasted text.

Positions are looked up only for the few paths that something is to be said
about, so that a request of two megabytes costs no table of positions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from prompt_debugger.core.base.types import JSON, Api, Notice

Path: TypeAlias = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$-]*\Z")


class Place(NamedTuple):
    """A position in the pasted text, both from 1."""

    line: int
    column: int


Locate: TypeAlias = Callable[[Collection[Path]], Mapping[Path, Place]]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a reader made of the pasted text, before anything is checked.

    Attributes:
        value: The JSON value that was pasted.
        source: The form it was pasted in.
        locate: Finds paths of `value` in the pasted text.
        base_url: Server address named in it, up to and including `/v1`.
        notices: Repairs made while reading.
        api: The API that the address or the call names; `None` for chat completions or none.
        model: The model that the address names.
        is_streamed: Whether the address asks for a stream.
    """

    value: JSON
    source: Literal["json", "curl", "python"]
    locate: Locate
    text: str
    base_url: str | None = None
    notices: tuple[Notice, ...] = ()
    api: Api | None = None
    model: str = ""
    is_streamed: bool = False


def show_path(path: Sequence[str | int]) -> str:
    """Return a path as people write it.

    >>> show_path(("messages", 0, "tool_calls", 1, "function", "name"))
    'messages[0].tool_calls[1].function.name'
    >>> show_path(("metadata", "a b"))
    'metadata["a b"]'
    """
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.match(step):
            parts.append(f".{step}" if parts else step)
        else:
            shown = step if len(step) <= 40 else step[:39] + "…"
            parts.append(f'["{shown}"]')
    return "".join(parts)
