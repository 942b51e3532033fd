"""What Instructor says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

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
    KnownError(
        "The output is incomplete due to a max_tokens length limit.",
        Stage.COMPLETE,
        "The token limit cut the answer before its document was complete.",
        "Raise `max_tokens`, ask for less, or split the class; thinking counts as output, too.",
        "instructor/core/exceptions.py",
        cause=Cause.OUTPUT,
        look=Look.SMALL_LIMIT,
    ),
    KnownError(
        "Invalid mode '{mode:word}' for provider '{provider:word}'. Valid modes:",
        Stage.REQUEST,
        "This provider does not have the mode of structured output that the client was made with, so nothing was sent.",
        "Make the client with one of the modes that the message lists, or with `from_provider`, which chooses one.",
        "instructor/core/exceptions.py",
        example="Invalid mode 'Mode.TOOLS' for provider 'Fireworks'. Valid modes: Mode.FIREWORKS_TOOLS",
        cause=Cause.CLIENT,
    ),
)
