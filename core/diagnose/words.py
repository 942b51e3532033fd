"""Numbers, lists and values in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.types import JSON

_NAMES = frozenset({"Ollama"})


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "tool call"), counted(2, "tool call")
    ('1 tool call', '2 tool calls')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def lowered(sentence: str) -> str:
    """Return a sentence as it is written after a colon: a name at its beginning stays as it is.

    >>> lowered("Ask again."), lowered("LM Studio reads it."), lowered("Ollama reads it.")
    ('ask again.', 'LM Studio reads it.', 'Ollama reads it.')
    """
    first = sentence.split(" ", 1)[0]
    is_name = first in _NAMES or any(char.isupper() for char in first[1:])
    return sentence if is_name else sentence[:1].lower() + sentence[1:]


def listed(names: Sequence[str], limit: int = 4) -> str:
    """Return names in backticks with commas, the first `limit` of them."""
    return ", ".join(f"`{name}`" for name in names[:limit]) + (", …" if len(names) > limit else "")


def kind_of_value(value: JSON) -> str:
    """Return of what kind a JSON value is, in words.

    >>> kind_of_value(True), kind_of_value(None), kind_of_value(1.5)
    ('a boolean', 'null', 'a number')
    """
    if value is None:
        return "null"
    kinds = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return kinds.get(type(value), "a number")
