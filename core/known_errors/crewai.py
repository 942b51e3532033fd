"""What CrewAI says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "CrewAI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Invalid response from LLM call - None or empty.",
        Stage.COMPLETE,
        "The answer of the model has no text.",
        "Look at the answer itself: its `finish_reason`, a call or reasoning in place of text; a stop text such as "
        "`Observation:` that is written first ends the answer at once.",
        "https://github.com/crewAIInc/crewAI/issues/4093",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Received None or empty response from LLM call.",
        Stage.COMPLETE,
        "The answer of the model has no text.",
        "Look at the answer itself: its `finish_reason`, a call or reasoning in place of text; a stop text such as "
        "`Observation:` that is written first ends the answer at once.",
        "https://github.com/crewAIInc/crewAI/issues/4093",
        cause=Cause.OUTPUT,
    ),
)
