"""What was found of an error in a text, and how surely the text is one."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.types import Refusal


class FoundError(NamedTuple):
    """An error that was found in a text.

    Attributes:
        refusal: What was said.
        score: How surely the text is one, from 0 to 1.
    """

    refusal: Refusal
    score: float
