"""What CrewAI says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "CrewAI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "the Action Input is not a valid key, value dictionary",
        Stage.CONTRACT,
        "CrewAI reads `Action Input` (its log calls it `Tool Input`) as one JSON object, and what the model wrote "
        "there is not one: an object inside a string or a code fence, a list, or one that is not closed.",
        "Look at the input above the error: JSON in quotation marks is encoded once too often, and a fence has to go. "
        "Use a model with tool calls that the server parses, which need no such lines, or show one correct example in "
        "the tool's description.",
        "https://github.com/crewAIInc/crewAI/issues/1649",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Invalid response from LLM call - None or empty.",
        Stage.COMPLETE,
        "The model's answer has no text.",
        "Check the answer itself: its `finish_reason`, a call or reasoning instead of text; a stop string such as "
        "`Observation:` ends the answer at once if the model writes it first.",
        "https://github.com/crewAIInc/crewAI/issues/4093",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Received None or empty response from LLM call.",
        Stage.COMPLETE,
        "The model's answer has no text.",
        "Check the answer itself: its `finish_reason`, a call or reasoning instead of text; a stop string such as "
        "`Observation:` ends the answer at once if the model writes it first.",
        "https://github.com/crewAIInc/crewAI/issues/4093",
        cause=Cause.OUTPUT,
    ),
)
