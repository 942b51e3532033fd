"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "tool call"), counted(2, "tool call")
    ('1 tool call', '2 tool calls')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str], limit: int = 4) -> str:
    """Return names in backticks with commas, the first `limit` of them."""
    return ", ".join(f"`{name}`" for name in names[:limit]) + (", …" if len(names) > limit else "")
