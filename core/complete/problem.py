"""What is wrong with an answer: carried from where it is noticed to `ChatResult.error`."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Unread
from prompt_debugger.core.sandbox.values import admit


@admit
class Problem(NamedTuple):
    """What is wrong with an answer.

    Attributes:
        unread: Why it was not read to its end, where it is we who stopped.
    """

    words: str
    unread: Unread | None = None

    @classmethod
    def of(cls, error: BackendError) -> Problem:
        """Return what an exception says."""
        return cls(error.message, error.unread)
