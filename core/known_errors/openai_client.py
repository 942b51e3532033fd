"""What OpenAI's Python client says by itself. Read in release 3.52.0."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "OpenAI's Python client"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Could not parse response content as the length limit was reached",
        Stage.COMPLETE,
        "The token limit cut the answer before its document was complete.",
        "Raise `max_tokens`, or ask for less.",
        "openai/_exceptions.py: LengthFinishReasonError.__init__",
        field="max_tokens",
        cause=Cause.OUTPUT,
        tried="openai 3.52.0",
    ),
    KnownError(
        "Could not parse response content as the request was rejected by the content filter",
        Stage.COMPLETE,
        "The provider's content filter withheld the answer.",
        "Change the text that triggers the filter, or the filter's setting.",
        "openai/_exceptions.py: ContentFilterFinishReasonError.__init__",
        cause=Cause.POLICY,
        tried="openai 3.52.0",
    ),
    KnownError(
        "`{name:word}` is not strict. Only `strict` function tools can be auto-parsed",
        Stage.REQUEST,
        "`parse` reads only the arguments of strict tools.",
        "Set `strict` to true in every tool, or use `create`.",
        "openai/lib/_parsing/_completions.py: validate_input_tools",
        example="`get_weather` is not strict. Only `strict` function tools can be auto-parsed",
        field="tools",
        cause=Cause.CLIENT,
        tried="openai 3.52.0",
    ),
)
