"""What Instructor says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Instructor"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "InstructorRetryException",
        Stage.CONTRACT,
        "The model's answers did not match the program's class before the retries ran out.",
        "Check the last answer (`last_completion` of the exception) and paste it: calls in its content, different "
        "keys and truncated text each need a different fix.",
        "https://python.useinstructor.com/concepts/retrying/",
        is_general=True,
    ),
    KnownError(
        "Instructor does not support multiple tool calls, use List[Model] instead",
        Stage.PARSE,
        "The answer has several calls, and the program expects one.",
        "Ask for a list (`List[Model]`), or send `parallel_tool_calls: false` where the server follows it.",
        "https://python.useinstructor.com/concepts/parallel/",
    ),
)
