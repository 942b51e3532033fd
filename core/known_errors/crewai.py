"""What CrewAI says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "CrewAI"

SENTENCES: tuple[KnownError, ...] = (
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
