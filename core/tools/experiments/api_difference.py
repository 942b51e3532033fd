"""In what two runs of a request differ that different APIs asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from prompt_debugger.core.base.types import Api

Where: TypeAlias = Literal["request", "prompt", "raw", "message", "stream", "status"]


@dataclass(frozen=True, slots=True)
class ApiDifference:
    """One thing in which two runs of a request differ.

    Attributes:
        between: The APIs that they were asked by.
        where: What differs.
        cause: Why, where that shows; `None` if it is not explained.
        detail: What is seen, one sentence.
        field: The field of the request, or of the message, that differs.
        first_token: The first token of the prompts, or of the outputs, that differs, from 0.
    """

    between: tuple[Api, Api]
    where: Where
    cause: str | None
    detail: str
    field: str | None = None
    first_token: int | None = None
