"""What pydantic-ai says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "pydantic-ai"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Exceeded maximum retries ({count:int}) for {what:word} validation",
        Stage.CONTRACT,
        "The model's answers did not pass the program's validation before the retries ran out; what was "
        "wrong with them is not part of the error.",
        "Print the messages of the run (`capture_run_messages`) and paste them: they show each answer and "
        "why it was sent back.",
        "https://github.com/pydantic/pydantic-ai/issues/200",
        example="Exceeded maximum retries (1) for result validation",
    ),
    KnownError(
        "All models from FallbackModel failed",
        Stage.CONTRACT,
        "Each of the models that the program may fall back on failed; the reasons are errors within this one, and were "
        "not copied.",
        "Print the errors within it (`error.exceptions`, or the whole traceback, which lists them as numbered parts), "
        "and paste them.",
        "https://github.com/pydantic/logfire/issues/1535",
        cause=Cause.UNCLEAR,
        is_general=True,
    ),
    KnownError(
        "Received empty model response",
        Stage.COMPLETE,
        "The answer has neither text nor a call.",
        "Check the answer itself: its `finish_reason`, and reasoning instead of text.",
        "https://github.com/pydantic/pydantic-ai/issues/437",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Plain text responses are not permitted",
        Stage.PARSE,
        "The program expects a call, and the model answered with text, or no call was read from it.",
        "Check that text: markup of a call in it means that the server's tool parser does not fit the "
        "model; prose means that the model did not call.",
        "https://github.com/pydantic/pydantic-ai/issues/822",
    ),
    KnownError(
        "Please return text or call a tool",
        Stage.COMPLETE,
        "The answer has neither text nor a call, or only reasoning; the program sends this message back to the model.",
        "Look at the answer before it: its `finish_reason`, its reasoning, and the number of output tokens. Gemini "
        "models return such answers after a tool's result now and then: ask again, within the allowed retries.",
        "https://github.com/pydantic/pydantic-ai/pull/3360",
        cause=Cause.OUTPUT,
    ),
)
