"""A block: one part of a text that holds several things, and what it looks like from outside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAX_BLOCKS = 2_000  # of one text


class BlockKind(StrEnum):
    """What a block looks like from outside."""

    FENCED = "fenced block"
    JSON = "JSON"
    STREAM = "stream"
    COMMAND = "command"
    PYTHON = "interactive Python"
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a text.

    Attributes:
        text: Without fence and quote marks.
        kind: What it looks like.
        lead: The last line of prose above it; "" if there is none.
    """

    text: str
    kind: BlockKind
    lead: str = ""
